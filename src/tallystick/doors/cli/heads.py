"""Heads that were kept elsewhere, and what shows that the log goes on from one."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.doors.cli.exits import Refused
from tallystick.doors.cli.outside import read_file

if TYPE_CHECKING:
    from tallystick.gate.record.ledger import Ledger

MAX_HEAD_BYTES = 1024 * 1024


def read_head(path: Path) -> bytes:
    """A signed note: as `tally audit head` gives it, or as the HTTP API, `--json` and `--since` wrap it.

    Raises:
        Refused: `head_unreadable`.
    """
    data = read_file(path, MAX_HEAD_BYTES)
    if data.lstrip().startswith(b"{"):
        try:
            wrapped = json.loads(data)
        except ValueError:
            raise Refused(f"{path} holds neither a signed note nor JSON with one.", code="head_unreadable") from None
        data = str(wrapped.get("checkpoint") or wrapped.get("head") or "").encode()
    return data


def since_head(ledger: "Ledger", old: bytes) -> bytes:
    """The proof that the log begins with what an earlier head was signed for, as it is written to a file.

    Raises:
        Refused: `head_unreadable`, `outside_invalid`, `rolled_back` or `checkpoint_differs`: it does not.
    """
    from tallystick.gate.record.canonical import canonical
    from tallystick.gate.record.checkpoint import open_note, parse_checkpoint

    opened = open_note(old, ledger.keys.log_verifiers())
    earlier = None if opened is None else parse_checkpoint(opened[0])
    if earlier is None:
        raise Refused("--since: this is no head that a key of this log signed.", code="outside_invalid")
    if earlier.size == 0:
        raise Refused("--since: the log was empty then, and begins every log.", code="head_unreadable")
    if earlier.size > ledger.size():
        message = f"The log holds {ledger.size()} records, the head names {earlier.size}: it was cut or rolled back."
        raise Refused(message, code="rolled_back")
    proof = ledger.prove_consistency(earlier.size)
    if proof.roots[0] != earlier.root:
        raise Refused("The head was signed for another log than this one.", code="checkpoint_differs")
    return canonical(proof.between(old)) + b"\n"
