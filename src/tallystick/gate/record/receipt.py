"""The result of record: a Receipt, and the Draft it is made from.

A receipt has a header (signed, chained, float-free, kept for ever) and a payload (bound to the header by salted
digests, erasable). `docs/protocol.md` describes both byte by byte.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from tallystick.gate.session import Session
from tallystick.records import record


@record
class Draft:
    """What the pipeline knows; the ledger adds id, place, time and signature."""

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
    """Names of other receipts: started, held, approval, erased, …"""
    inputs: bytes | None = None
    """JSON bytes as they are to be stored (already redacted)."""
    outputs: bytes | None = None
    """JSON bytes of the whole output."""
    excerpt_bytes: int | None = None
    """Set when the model saw only the first so many bytes."""


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One record of the journal, as read back or as just written."""

    header: Mapping[str, Any]
    """With `signature`."""
    inputs: Any = None
    """Parsed payload; None when there is none or it was erased."""
    outputs: Any = None
    excerpt: str | None = None
    sha256: str | None = None
    full_size: int | None = None
    erased: bool = False
    line: bytes | None = None
    """The flat form as bytes, as it stands in the session's view; `flat` then shows exactly that."""

    @classmethod
    def just_written(cls, header: Mapping[str, Any], line: bytes) -> "Receipt":
        """A receipt that only knows its header and its line: a quarter of the cost of filling in every field."""
        receipt = object.__new__(cls)
        receipt.__dict__.update(header=header, line=line)
        return receipt

    @classmethod
    def with_arguments(cls, header: Mapping[str, Any], inputs: Any) -> "Receipt":
        """One that knows no more than its header and what was asked, as cheaply."""
        receipt = object.__new__(cls)
        receipt.__dict__.update(header=header, inputs=inputs)
        return receipt

    @property
    def receipt_id(self) -> str:
        """`rcpt_` + server-made, sortable."""
        receipt_id: str = self.header["receipt_id"]
        return receipt_id

    @property
    def seq(self) -> int:
        """Place in the journal, from 0."""
        seq: int = self.header["seq"]
        return seq

    def flat(self) -> dict[str, Any]:
        """All fields in one object: what the API, the page and the session files show."""
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
        """`flat()` as one line of JSON."""
        return orjson.dumps(self.flat()) if self.line is None else self.line.removesuffix(b"\n")
