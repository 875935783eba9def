"""Claims that an audit compares with the log: a signed statement that it had a given root at a given size."""

from collections.abc import Sequence
from dataclasses import dataclass

from tallystick.gate.record.checkpoint import NoteVerifier, open_note, parse_checkpoint


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """The content of a signed checkpoint: the log had this root at this size."""

    source: str
    size: int
    root: bytes
    vkey: str
    """Verifier line (vkey) of the signing key."""


def claim_of(source: str, note: bytes, known: Sequence[NoteVerifier]) -> Claim | None:
    """Read the claim of a note; None if none of these keys signed it, or it is not a checkpoint."""
    opened = open_note(note, known)
    checkpoint = None if opened is None else parse_checkpoint(opened[0])
    if opened is None or checkpoint is None or checkpoint.origin != opened[1].name:
        return None
    return Claim(source=source, size=checkpoint.size, root=checkpoint.root, vkey=opened[1].vkey())
