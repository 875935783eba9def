"""Consistency proofs: the current log is an append-only extension of the log at an earlier signed head.

A head is a checkpoint (origin, size and root of a log) in a signed note. Its origin is the name of the key that signed
it, so the origin changes when the keys are rotated.

A third party that kept a head needs only the later head and a few hashes to verify that no record was removed or
changed; no secret and no record is needed.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallystick.errors import LedgerError
from tallystick.gate.record.checkpoint import Checkpoint, NoteVerifier, open_note, parse_checkpoint, split_note
from tallystick.gate.record.tree import Node, consistency_holds, consistency_proof, root_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Consistency:
    """Two sizes of one log, their roots, and the consistency path between them."""

    sizes: tuple[int, int]
    roots: tuple[bytes, bytes]
    path: tuple[bytes, ...]
    checkpoint: bytes
    """The signed note over the whole log; its size is the later size or larger."""
    on: tuple[bytes, ...] = ()
    """The path from the later size to the note's size, if the note's is larger."""

    def as_dict(self) -> dict[str, Any]:
        """Return the proof as a JSON object, with hashes in base64."""
        return {
            "old_size": self.sizes[0],
            "new_size": self.sizes[1],
            "old_root": _encoded(self.roots[0]),
            "new_root": _encoded(self.roots[1]),
            "path": list(map(_encoded, self.path)),
        }

    def between(self, old: bytes) -> dict[str, Any]:
        """Return the proof as a self-contained JSON object: both notes and the path."""
        return {"old": old.decode(), "checkpoint": self.checkpoint.decode(), "path": list(map(_encoded, self.path))}


def make_consistency(old_size: int, new_size: int | None, note: bytes, node: Node) -> Consistency:
    """Prove consistency between two sizes of the log that this signed checkpoint covers.

    Raises:
        LedgerError: The log never had these sizes.
    """
    checkpoint = _read(note)
    if checkpoint is None:
        raise ValueError("not a checkpoint")
    new = checkpoint.size if new_size is None else new_size
    if not 1 <= old_size <= new <= checkpoint.size:
        message = (
            f"The log holds {checkpoint.size} records. Give two sizes between 1 and that number, the smaller first."
        )
        raise LedgerError(message, code="size_unknown")
    whole = new == checkpoint.size
    return Consistency(
        sizes=(old_size, new),
        roots=(root_at(old_size, node), checkpoint.root if whole else root_at(new, node)),
        path=tuple(consistency_proof(old_size, new, node)),
        checkpoint=note,
        on=() if whole else tuple(consistency_proof(new, checkpoint.size, node)),
    )


def consistency_fault(proof: Consistency) -> str | None:
    """Say why the proof is invalid; None if it is valid and leads to the checkpoint's root."""
    checkpoint = _read(proof.checkpoint)
    if checkpoint is None:
        return "the checkpoint is not a signed note of a log"
    if not consistency_holds(proof.sizes, proof.roots, proof.path):
        return "the later log does not extend the earlier one"
    rest = (proof.sizes[1], checkpoint.size), (proof.roots[1], checkpoint.root)
    return None if consistency_holds(*rest, proof.on) else "the checkpoint belongs to another log"


def check_heads(data: Mapping[str, Any], verifier: NoteVerifier | None) -> str | None:
    """Say why a file with two heads and a path is invalid; None if it is valid.

    Args:
        data: The result of `between`.
        verifier: The log's current public key, if known from a separate source; the later head must be signed with it.
            The earlier head must be too if it has the same origin. If it has another, it was signed with an earlier
            key, and its signature is not checked: whoever kept the head compares it with their copy. None: no
            signature is checked, only the proof.
    """
    try:
        old, new = (_read(data[name].encode()) for name in ("old", "checkpoint"))
        path = [base64.b64decode(item, validate=True) for item in data["path"]]
        exact = [_encoded(item) for item in path] == data["path"]
    except (KeyError, TypeError, AttributeError, ValueError):
        return "it is not a consistency proof"
    if old is None or new is None or not exact or old.size < 1:
        return "it is not a consistency proof"
    opened = None if verifier is None else open_note(data["checkpoint"].encode(), [verifier])
    if verifier is not None and (opened is None or new.origin != verifier.name):
        return "the later head was not signed with that key"
    if verifier is not None and old.origin == verifier.name and open_note(data["old"].encode(), [verifier]) is None:
        return "the earlier head was not signed with that key"
    if not consistency_holds((old.size, new.size), (old.root, new.root), path):
        return "the later log does not extend the earlier one"
    return None


def _read(note: bytes) -> Checkpoint | None:
    split = split_note(note)
    return None if split is None else parse_checkpoint(split[0])


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
