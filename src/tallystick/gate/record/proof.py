"""Inclusion proofs: show a third party that a receipt is in the log; checking one needs no secret key."""

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
    """A header, its sequence number, the path to the root, and the signed note with that root."""

    seq: int
    header: bytes
    """RFC 8785 bytes as stored; the leaf is SHA-256(0x00 ‖ header)."""
    path: tuple[bytes, ...]
    checkpoint: bytes

    def as_dict(self) -> dict[str, Any]:
        """Return the proof as a JSON object, with hashes in base64."""
        return {
            "seq": self.seq,
            "header": self.header.decode(),
            "path": [base64.b64encode(item).decode() for item in self.path],
            "checkpoint": self.checkpoint.decode(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Proof":
        """Parse the result of `as_dict`.

        Raises:
            ValueError: The data is not a proof.
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
    """Prove that a record is in the tree of a signed note."""
    split = split_note(note)
    checkpoint = None if split is None else parse_checkpoint(split[0])
    if checkpoint is None:
        raise ValueError("not a checkpoint")
    return Proof(seq=seq, header=header, path=tuple(inclusion_proof(seq, checkpoint.size, node)), checkpoint=note)


def proof_fault(proof: Proof, verifier: NoteVerifier | None) -> str | None:
    """Say why a proof is invalid; None if it is valid. Without a verifier the signature is not checked."""
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
    """Make a proof and check it; if it is invalid, rebuild the stored tree hashes (derived data) and try once more.

    Raises:
        LedgerDamaged: The proof is still invalid, so the records do not match the signed root.
    """
    proof = make()
    if fault(proof) is not None and rebuild():
        proof = make()
    if fault(proof) is not None:
        raise LedgerDamaged("The Merkle tree does not match the log. Run `tally audit verify`.", code="tree_differs")
    return proof
