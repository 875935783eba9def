"""The result of the record step: a Receipt, and the Draft it is made from.

A receipt has a header (signed, chained, without floats, never deleted) and a payload (bound to the header by salted
digests, erasable). `docs/protocol.md` specifies both byte by byte.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from tallystick.gate.session import Session
from tallystick.records import record


@record
class Draft:
    """The pipeline's data for a record; the ledger adds id, sequence number, time and signature."""

    kind: str
    """outcome, started, held, approval, reply_check, erasure, recovery, report, note, …"""
    session: Session
    tool_id: str | None = None
    tool_version: str | None = None
    outcome: Mapping[str, Any] | None = None
    """{status, fault?, code?, call_code?, category?, reason?, pointer?, shadow?}: strings only."""
    approval: Mapping[str, str] | None = None
    file_refs: tuple[Mapping[str, Any], ...] = ()
    context: Mapping[str, Any] | None = None
    audit: Mapping[str, Any] | None = None
    policy_digest: str | None = None
    duration_us: int = 0
    links: Mapping[str, str] = field(default_factory=dict)
    """Ids of related receipts by relation: started, held, approval, erased, …"""
    inputs: bytes | None = None
    """JSON bytes to store, already redacted."""
    outputs: bytes | None = None
    """JSON bytes of the whole output."""
    excerpt_bytes: int | None = None
    """Number of leading bytes shown to the model; None if it saw all."""


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One record of the journal, read back or just written."""

    header: Mapping[str, Any]
    """Includes `signature`."""
    inputs: Any = None
    """Parsed payload; None if there is none or it was erased."""
    outputs: Any = None
    excerpt: str | None = None
    sha256: str | None = None
    full_size: int | None = None
    erased: bool = False
    line: bytes | None = None
    """The flat form as bytes, as in the session view; if set, `flat` returns exactly this, parsed."""

    @classmethod
    def just_written(cls, header: Mapping[str, Any], line: bytes) -> "Receipt":
        """Make a receipt with only header and line, at a quarter of the cost of setting every field."""
        receipt = object.__new__(cls)
        receipt.__dict__.update(header=header, line=line)
        return receipt

    @classmethod
    def with_arguments(cls, header: Mapping[str, Any], inputs: Any) -> "Receipt":
        """Make a receipt with only header and inputs, at the same low cost."""
        receipt = object.__new__(cls)
        receipt.__dict__.update(header=header, inputs=inputs)
        return receipt

    @property
    def receipt_id(self) -> str:
        """The server-made, sortable id: `rcpt_…`."""
        receipt_id: str = self.header["receipt_id"]
        return receipt_id

    @property
    def seq(self) -> int:
        """Sequence number in the journal, from 0."""
        seq: int = self.header["seq"]
        return seq

    def flat(self) -> dict[str, Any]:
        """Return all fields in one object, as the API, the web page and the session files show it."""
        if self.line is not None:
            written: dict[str, Any] = orjson.loads(self.line)
            return written
        flat = dict(self.header)
        if self.erased:
            return {**flat, "erased": True}
        if self.inputs is not None:
            flat["inputs"] = self.inputs
        if self.excerpt is not None:
            flat |= {"excerpt": self.excerpt, "sha256": self.sha256, "full_size": self.full_size}
        elif self.outputs is not None:
            flat["outputs"] = self.outputs
        return flat

    def flat_bytes(self) -> bytes:
        """Return `flat()` as one line of JSON."""
        return orjson.dumps(self.flat()) if self.line is None else self.line.removesuffix(b"\n")
