"""The result of the reply check: Findings, with one Item for each citation or quotation in the reply."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tallystick.gate.codes import Bucket
from tallystick.gate.reply.sources import sha256_text
from tallystick.gate.reply.support.scorer import Judged

Kind = Literal["content", "structural", "absence", "tool_result", "record", "request", "quotation", "sentence", "claim"]
"""The first six are claim types of the Evidence line. `quotation`: a quotation in the body; `sentence`: a sentence
without a reference; `claim`: a claim in the body that the evidence does not support, or whose support is undecided."""
Form = Literal["line", "per-sentence"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Matched:
    """The place in a file that verifies a claim."""

    path: str
    sha256: str
    """Hash of the whole file at the time of the check."""
    first_line: int | None = None
    last_line: int | None = None
    quote: str | None = None
    excerpt: str | None = None
    """The matching lines exactly as in the file; only for quotes."""
    normalised: bool = False
    """Quote marks, dashes, white space or emphasis differ from the file; the words do not."""

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form."""
        wire: dict[str, Any] = {"path": self.path, "sha256": self.sha256}
        if self.first_line is not None:
            wire["lines"] = [self.first_line, self.last_line]
        if self.normalised:
            wire["normalised"] = True
        return wire


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One citation or quotation in the reply, and whether it was verified."""

    kind: Kind
    source: str
    """The source as the reply names it, truncated for display."""
    ok: bool
    matched: Matched | None = None
    also: tuple[Matched, ...] = ()
    """Further files: an absence claim matches every file in its scope."""
    code: str | None = None
    """Fixed code of the failure."""
    reason: str | None = None
    """What is wrong and what to do."""
    bucket: Bucket | None = None
    quote: str | None = None
    """Text quoted from a tool result, as it occurs there."""
    receipt: str | None = None
    """The id of the receipt of that result."""
    closest: Mapping[str, Any] | None = None
    """For a misquotation: {line, text, similarity}."""

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form."""
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
    """The result of checking one reply."""

    ok: bool
    bucket: Bucket | None = None
    """The category under which telemetry counts a refused reply."""
    reason: str | None = None
    """What the author should do."""
    fault: str | None = None
    """Fixed code of the first failure, more specific than `code`."""
    items: tuple[Item, ...] = ()
    abstained: bool = False
    unsure: tuple[Item, ...] = ()
    """Claims whose support could not be decided: neither refused nor proved."""
    judged: tuple[Judged, ...] = ()
    """What a model said of claims that every rule accepted."""
    request: str | None = None
    """The scope of an ACCESS_REQUEST; such a reply is valid without evidence, but proves nothing. None: no request."""
    receipts: tuple[str, ...] = ()
    """Ids of the valid receipts that the reply cites."""
    line: str | None = None
    """The Evidence line, as written."""
    form: Form = "line"
    reply_sha256: str = ""
    receipt_id: str = ""
    """Id of the `reply_check` receipt; empty until it is recorded."""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    """Fields added to the record by the plugin (room) that the reply belongs to; strings only."""

    @property
    def code(self) -> str | None:
        """The code returned to the caller: the name of the bucket."""
        return None if self.bucket is None else str(self.bucket)

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form: {ok, bucket?, code?, reason?, items, …}."""
        wire: dict[str, Any] = {"ok": self.ok, "items": [item.as_dict() for item in self.items]}
        if self.bucket is not None:
            wire |= {"bucket": str(self.bucket), "code": self.code, "fault": self.fault, "reason": self.reason}
        if self.abstained:
            wire["abstained"] = True
        if self.request is not None:
            wire["request"] = self.request
        if self.receipts:
            wire["receipts"] = list(self.receipts)
        if self.unsure:
            wire["unsure"] = [{"claim": item.source, "reason": item.reason} for item in self.unsure]
        if self.receipt_id:
            wire["receipt_id"] = self.receipt_id
        return wire

    def evidence_record(self) -> dict[str, Any]:
        """Return the content of a `reply_check` receipt: hashes, quotes, excerpts, lines; no floats, no reply text."""
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
            **({"unsure": [item.source for item in self.unsure]} if self.unsure else {}),
            **({"judged": [each.as_dict() for each in self.judged]} if self.judged else {}),
            **self.extra,
        }

    def file_refs(self) -> tuple[dict[str, Any], ...]:
        """Return the file references for that receipt's header: path, hash, lines and the hash of each excerpt."""
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
