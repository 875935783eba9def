"""A node that records until it is told to stop or is killed; run as `python -m tests.faults.node`."""

import os
import sys
import time
from pathlib import Path
from threading import Thread

import orjson

from tallystick.errors import LedgerUnwritable
from tallystick.gate.record.ledger import Ledger
from tests.faults.appender import one, tell
from tests.ledgers import Workspace

CALLERS = 4


def main() -> None:
    root, ledger, database, acks, session, number = sys.argv[1:7]
    node = Workspace(Path(root), database=database, **orjson.loads(ledger))
    told = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    opened = _open(node)
    callers = [Thread(target=append, args=(opened, told, session, int(number))) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    opened.close()


def _open(node: Workspace) -> Ledger:
    while True:
        try:
            return node.open()
        except LedgerUnwritable:
            time.sleep(0.1)


def append(opened: Ledger, told: int, session: str, number: int) -> None:
    for at in range(number):
        began = time.monotonic_ns()
        try:
            receipt = opened.record_sync(one(at, session, "node"))
        except LedgerUnwritable as error:
            if error.code not in {"ledger_database_away", "ledger_in_doubt", "ledger_locked"}:
                raise
            time.sleep(0.05)
            continue
        tell(told, receipt.receipt_id, began)


if __name__ == "__main__":
    main()
