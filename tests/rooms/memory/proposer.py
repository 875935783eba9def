"""A process that proposes to a workspace's memory; run as `python -m tests.rooms.memory.proposer`.

Every proposal is written at once, so that processes which share a workspace get into each other's way as often as can
be. A hasty one goes on until it is told to stop; a slow one takes its time each time it has read the log, in which the
hasty ones write.
"""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tallystick.rooms.memory.project import projection
from tallystick.rooms.memory.project.projection import Projection
from tests.rooms.memory.remembering import Remembering

SLOW_S = 0.25


def slow_down(seconds: float) -> None:
    follow = Projection._follow

    def slowly(self: Projection, state: Any) -> None:
        follow(self, state)
        time.sleep(seconds)

    Projection._follow = slowly  # type: ignore[method-assign]


def main() -> None:
    workspace, database, who, number, stop = sys.argv[1:6]
    projection.BATCH = 1
    memory = Remembering(Path(workspace), storage={"database_url": database})
    if who == "slow":
        slow_down(SLOW_S)
    told: Counter[str] = Counter()
    for at in range(int(number)):
        if who != "slow" and Path(stop).exists():
            break
        source = {"id": who, "class": "document"}
        done = memory.call(
            "record_observation", timed=False, text=f"{who} says {at}.", source=source, observed_at="2024-01-01"
        )
        told["ok" if done.rejection is None else f"{done.rejection.code}: {done.rejection.reason}"] += 1
        memory.projection.ask(lambda state: None, written=True)
    memory.close()
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
