"""A process that appends until it is told to stop or is killed; run as `python -m tests.faults.appender`."""

import asyncio
import os
import sys
import time
from pathlib import Path

import orjson

from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.receipt import Draft
from tests.ledgers import Workspace, draft


def main() -> None:
    root, ledger, acks, session, number, early = sys.argv[1:7]
    workspace = Workspace(Path(root), **orjson.loads(ledger))
    told = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with workspace.opened() as opened:
        if early == "early":
            asyncio.run(append_early(opened, told, session, Path(acks).name, int(number)))
            return
        for at in range(int(number)):
            began = time.monotonic_ns()
            tell(told, opened.record_sync(one(at, session, Path(acks).name)).receipt_id, began)


async def append_early(ledger: Ledger, told: int, session: str, by: str, number: int) -> None:
    ledger.ack_after_fsync()
    for at in range(number):
        began = time.monotonic_ns()
        tell(told, (await ledger.record(one(at, session, by))).receipt_id, began)
        if at % 3:
            await asyncio.sleep(0)  # else the next record finds the one before still unsettled


def tell(told: int, receipt_id: str, began: int) -> None:
    """Only now does anybody know of it: what is in this file must never be lost."""
    os.write(told, f"{receipt_id} {began} {time.monotonic_ns()}\n".encode())


def one(at: int, session: str, by: str) -> Draft:
    outputs = orjson.dumps("x" * 3000) if at % 10 == 3 else b'{"ok":true}'
    return draft(at, session=session, outputs=outputs, inputs=orjson.dumps({"by": by, "n": at}))


if __name__ == "__main__":
    main()
