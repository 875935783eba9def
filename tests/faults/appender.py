"""A process that appends until it is told to stop or is killed; run as `python -m tests.faults.appender`."""

import os
import sys
from pathlib import Path

import orjson

from tests.ledgers import Workspace, draft


def main() -> None:
    root, ledger, acks, session, number = sys.argv[1:6]
    workspace = Workspace(Path(root), **orjson.loads(ledger))
    told = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with workspace.opened() as opened:
        for at in range(int(number)):
            large = orjson.dumps("x" * 3000) if at % 10 == 3 else b'{"ok":true}'
            receipt = opened.record_sync(draft(at, session=session, outputs=large))
            # Only now does anybody know of it: what is in this file must never be lost.
            os.write(told, receipt.receipt_id.encode() + b"\n")


if __name__ == "__main__":
    main()
