"""Inclusion proofs: what a third party needs to see that a receipt stands in the log, and nothing secret."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tallystick.errors import LedgerDamaged
from tallystick.gate.record.checkpoint import NoteVerifier, open_note, parse_checkpoint, split_note
from tallystick.gate.record.tree import Node, inclusion_holds, inclusion_proof, leaf_hash

P = TypeVar("P")


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """A header, its place, the path to the root, and the signed note with that root."""

    seq: int
    header: bytes
    """RFC 8785 bytes as stored: the leaf is SHA-256(0x00 ‖ these)."""
    path: tuple[bytes, ...]
    checkpoint: bytes

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON, hashes in base64."""
        return {
            "seq": self.seq,
            "header": self.header.decode(),
            "path": [base64.b64encode(item).decode() for item in self.path],
            "checkpoint": self.checkpoint.decode(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Proof":
        """Read what `as_dict` wrote.

        Raises:
            ValueError: It is not such a thing.
        """
        try:
            path = tuple(base64.b64decode(item, validate=True) for item in data["path"])
            seq, header, note = data["seq"], data["header"].encode(), data["checkpoint"].encode()
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a proof") from error
        if type(seq) is not int:
            raise ValueError("not a proof")
        return cls(seq=seq, header=header, path=path, checkpoint=note)


def make_proof(seq: int, header: bytes, note: bytes, node: Node) -> Proof:
    """Prove that a record stands in the tree that a note was signed for."""
    split = split_note(note)
    checkpoint = None if split is None else parse_checkpoint(split[0])
    if checkpoint is None:
        raise ValueError("not a checkpoint")
    return Proof(seq=seq, header=header, path=tuple(inclusion_proof(seq, checkpoint.size, node)), checkpoint=note)


def proof_fault(proof: Proof, verifier: NoteVerifier | None) -> str | None:
    """Why a proof does not hold; None if it does. Without a verifier the signature is not looked at."""
    split = split_note(proof.checkpoint)
    checkpoint = None if split is None else parse_checkpoint(split[0])
    if checkpoint is None:
        return "the checkpoint is not a signed note of a log"
    if verifier is not None and (open_note(proof.checkpoint, [verifier]) is None or checkpoint.origin != verifier.name):
        return "the checkpoint was not signed with that key"
    if not inclusion_holds(leaf_hash(proof.header), proof.seq, checkpoint.size, proof.path, checkpoint.root):
        return "the path does not lead from the record to the checkpoint's root"
    return None


def sound(make: Callable[[], P], fault: Callable[[P], str | None], *, rebuild: Callable[[], bool]) -> P:
    """A proof that holds: the hashes on disk are derived, and are built again if they lead elsewhere.

    Raises:
        LedgerDamaged: It is the log itself that does not fit.
    """
    proof = make()
    if fault(proof) is not None and rebuild():
        proof = make()
    if fault(proof) is not None:
        raise LedgerDamaged("The tree does not fit the log. Run `tally audit verify`.", code="tree_differs")
    return proof
