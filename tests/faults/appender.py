"""A process that appends until it is told to stop or is killed; run as `python -m tests.faults.appender`."""

import asyncio
import os
import sys
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
            asyncio.run(append_early(opened, told, session, int(number)))
            return
        for at in range(int(number)):
            receipt = opened.record_sync(one(at, session))
            # Only now does anybody know of it: what is in this file must never be lost.
            os.write(told, receipt.receipt_id.encode() + b"\n")


async def append_early(ledger: Ledger, told: int, session: str, number: int) -> None:
    ledger.ack_after_fsync()
    for at in range(number):
        receipt = await ledger.record(one(at, session))
        os.write(told, receipt.receipt_id.encode() + b"\n")
        if at % 3:
            await asyncio.sleep(0)  # else the next record finds the one before still unsettled


def one(at: int, session: str) -> Draft:
    return draft(at, session=session, outputs=orjson.dumps("x" * 3000) if at % 10 == 3 else b'{"ok":true}')


if __name__ == "__main__":
    main()
