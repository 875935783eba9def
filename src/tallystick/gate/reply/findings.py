"""The result of reply: Findings, one Item for each thing the reply cites or quotes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tallystick.gate.codes import Bucket
from tallystick.gate.reply.sources import sha256_text

Kind = Literal["content", "structural", "absence", "tool_result", "record", "request", "quotation", "sentence"]
"""The six claims of the Evidence line; `quotation` is a quote in the body, `sentence` one without a reference."""
Form = Literal["line", "per-sentence"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Matched:
    """Where a claim was found to hold."""

    path: str
    sha256: str
    """Of the whole file, as it was at the check."""
    first_line: int | None = None
    last_line: int | None = None
    quote: str | None = None
    excerpt: str | None = None
    """The lines as they stand in the file; only for quotes."""
    normalised: bool = False
    """Quote marks, dashes, white space or emphasis differ from the file; the words do not."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        wire: dict[str, Any] = {"path": self.path, "sha256": self.sha256}
        if self.first_line is not None:
            wire["lines"] = [self.first_line, self.last_line]
        if self.normalised:
            wire["normalised"] = True
        return wire


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One thing the reply cites or quotes, and whether it holds."""

    kind: Kind
    source: str
    """As the reply names it, cut to a readable length."""
    ok: bool
    matched: Matched | None = None
    also: tuple[Matched, ...] = ()
    """Further files: an absence is shown by every file in its scope."""
    code: str | None = None
    """A fixed word for what is wrong."""
    reason: str | None = None
    """What is wrong and what to do."""
    bucket: Bucket | None = None
    quote: str | None = None
    """What is quoted from a tool's result, as it stands there."""
    receipt: str | None = None
    """The receipt of that result."""
    closest: Mapping[str, Any] | None = None
    """For a misquotation: {line, text, similarity}."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        wire: dict[str, Any] = {"kind": self.kind, "source": self.source, "ok": self.ok}
        if self.matched is not None:
            wire["matched"] = self.matched.as_dict()
        if self.code is not None:
            wire |= {"code": self.code, "reason": self.reason}
        if self.closest is not None:
            wire["closest"] = dict(self.closest)
        return wire


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What the check of one reply found."""

    ok: bool
    bucket: Bucket | None = None
    """Where telemetry counts a refused reply."""
    reason: str | None = None
    """What to do, for the author."""
    fault: str | None = None
    """A fixed word, finer than the code: the first thing that is wrong."""
    items: tuple[Item, ...] = ()
    abstained: bool = False
    request: str | None = None
    """The scope of an ACCESS_REQUEST: valid, but proves nothing and earns nothing."""
    receipts: tuple[str, ...] = ()
    """Ids of the receipts the reply cites, all of them good if `ok`."""
    line: str | None = None
    """The Evidence line, as written."""
    form: Form = "line"
    reply_sha256: str = ""
    receipt_id: str = ""
    """The `reply_check` receipt, once there is one."""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a room adds to the record; strings only."""

    @property
    def code(self) -> str | None:
        """The code an agent turn is told: the name of the bucket."""
        return None if self.bucket is None else str(self.bucket)

    def as_dict(self) -> dict[str, Any]:
        """The wire form: {ok, bucket?, code?, reason?, items, …}."""
        wire: dict[str, Any] = {"ok": self.ok, "items": [item.as_dict() for item in self.items]}
        if self.bucket is not None:
            wire |= {"bucket": str(self.bucket), "code": self.code, "fault": self.fault, "reason": self.reason}
        if self.abstained:
            wire["abstained"] = True
        if self.request is not None:
            wire["request"] = self.request
        if self.receipts:
            wire["receipts"] = list(self.receipts)
        if self.receipt_id:
            wire["receipt_id"] = self.receipt_id
        return wire

    def evidence_record(self) -> dict[str, Any]:
        """What a `reply_check` receipt keeps: reply, quotes, excerpts, lines, hashes. No floats, no reply text."""
        return {
            "reply_sha256": self.reply_sha256,
            "form": self.form,
            "ok": self.ok,
            "code": self.code,
            "fault": self.fault,
            "abstained": self.abstained,
            "request": self.request,
            "line": self.line,
            "receipts": list(self.receipts),
            "items": [_item_record(item) for item in self.items],
            **self.extra,
        }

    def file_refs(self) -> tuple[dict[str, Any], ...]:
        """What the header of that receipt names: path, hash, lines and the hash of each excerpt."""
        found = (matched for item in self.items for matched in _all_matched(item))
        return tuple({_key(ref): ref for ref in map(_file_ref, found)}.values())


def _all_matched(item: Item) -> tuple[Matched, ...]:
    return item.also if item.matched is None else (item.matched, *item.also)


def _item_record(item: Item) -> dict[str, Any]:
    record: dict[str, Any] = {"kind": item.kind, "source": item.source, "ok": item.ok}
    if item.code is not None:
        record["code"] = item.code
    if item.matched is not None:
        record |= _file_ref(item.matched)
        if item.matched.quote is not None:
            record |= {"quote": item.matched.quote, "excerpt": item.matched.excerpt}
    if item.quote is not None:
        record |= {"quote": item.quote, "receipt": item.receipt}
    if item.also:
        record["files"] = [_file_ref(matched) for matched in item.also]
    return record


def _file_ref(matched: Matched) -> dict[str, Any]:
    ref: dict[str, Any] = {"path": matched.path, "sha256": matched.sha256}
    if matched.first_line is not None:
        ref["lines"] = [matched.first_line, matched.last_line]
    if matched.excerpt is not None:
        ref["excerpt_sha256"] = sha256_text(matched.excerpt)
    return ref


def _key(ref: Mapping[str, Any]) -> tuple[str, str, str]:
    return ref["path"], str(ref.get("lines")), ref.get("excerpt_sha256", "")
