"""A process whose clock is wrong by some hours: a worker on durable runs, or an appender to a journal.

    python -m tests.faults.skewed SECONDS worker URL WORKER_ID PRINTS_TO
    python -m tests.faults.skewed SECONDS append …      (as tests.faults.appender)

The clock is set before anything else is loaded, so that nobody keeps the true one.
"""

import sys
import time
from pathlib import Path


def main() -> None:
    ahead = float(sys.argv[1])
    true, true_ns = time.time, time.time_ns
    time.time = lambda: true() + ahead
    time.time_ns = lambda: true_ns() + int(ahead * 1e9)
    what, words = sys.argv[2], sys.argv[3:]
    if what == "append":
        from tests.faults import appender  # noqa: PLC0415

        sys.argv = ["appender", *words]
        appender.main()
        return
    from tallystick.storage.durable.flow_registry import Intervals  # noqa: PLC0415
    from tests.durable.worker_process import Orders, work  # noqa: PLC0415

    timing = Intervals(heartbeat_s=0.2, stale_after_s=1.5, poll_s=0.05, grace_s=5.0)
    work(Orders(url=words[0], worker_id=words[1], timing=timing, prints_to=Path(words[2])))


if __name__ == "__main__":
    main()
