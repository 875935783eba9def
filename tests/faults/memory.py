"""A process that appends while the n-th allocation of memory fails, for one n after the other.

Run as `python -m tests.faults.memory`. CPython's own test hook makes the allocation fail, in its code as in ours; a
process that this ends is started again behind that n.
"""

import _testcapi
import os
import sys
from contextlib import suppress
from pathlib import Path

import orjson

from tests.ledgers import Workspace, draft


def main() -> None:
    root, ledger, acks, first, last, step = sys.argv[1:7]
    workspace = Workspace(Path(root), **orjson.loads(ledger))
    told = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with workspace.opened() as opened:
        opened.record_sync(draft(0, session="before"))
        for nth in range(int(first), int(last), int(step)):
            os.write(told, f"try {nth}\n".encode())
            wanted = draft(nth, session=f"s{nth % 3}")
            receipt = None
            # Whatever the fault becomes on its way up, the caller has no receipt.
            with suppress(Exception):
                _testcapi.set_nomemory(nth, nth + 1)
                try:
                    receipt = opened.record_sync(wanted)
                finally:
                    _testcapi.remove_mem_hooks()
            if receipt is not None:
                os.write(told, f"told {receipt.receipt_id}\n".encode())
            opened.record_sync(draft(nth, session="between"))


if __name__ == "__main__":
    main()
