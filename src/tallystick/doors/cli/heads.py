"""Signed heads that were stored elsewhere, and proofs that the log extends them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.doors.cli.exits import Refused
from tallystick.doors.cli.outside import read_file

if TYPE_CHECKING:
    from tallystick.gate.record.ledger import Ledger

MAX_HEAD_BYTES = 64 * 1024 * 1024
"""A witness keeps every head it was sent: about two hundred bytes per 256 records."""


def read_head(path: Path) -> bytes:
    """Read a signed note as `tally audit head` writes it, or as the HTTP API, `--json` and `--since` wrap it.

    The file may contain several notes, one after another, as a witness keeps them.

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
    """Return the file content that proves that the log extends an earlier head.

    Of several heads the one with the largest size is used; `tally audit verify --head` checks all of them.

    Raises:
        Refused: `head_unreadable`, `outside_invalid`, `rolled_back` or `checkpoint_differs`: there is no such proof.
    """
    from tallystick.gate.record.canonical import canonical
    from tallystick.gate.record.checkpoint import notes_in, open_note, parse_checkpoint

    verifiers = ledger.keys.log_verifiers()
    opened = [(note, open_note(note, verifiers)) for note in notes_in(old.splitlines(keepends=True))]
    signed = [(note, parse_checkpoint(found[0])) for note, found in opened if found is not None]
    heads = [(checkpoint, note) for note, checkpoint in signed if checkpoint is not None]
    if not heads:
        raise Refused("--since: no key of this log signed this head.", code="outside_invalid")
    earlier, old = max(heads, key=lambda head: head[0].size)
    if earlier.size == 0:
        raise Refused("--since: the log was empty at this head; an empty log proves nothing.", code="head_unreadable")
    if earlier.size > ledger.size():
        message = f"The log holds {ledger.size()} records, the head names {earlier.size}: it was cut or rolled back."
        raise Refused(message, code="rolled_back")
    proof = ledger.prove_consistency(earlier.size)
    if proof.roots[0] != earlier.root:
        raise Refused("The head belongs to another log.", code="checkpoint_differs")
    return canonical(proof.between(old)) + b"\n"
