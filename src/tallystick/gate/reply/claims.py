"""Turn the items of an Evidence line into claims that can be checked.

The type of a claim comes from the tag in the label of the line, as in `Evidence (absence):`, or is inferred: a quote
with a path is a content claim, a path with lines or a heading a structural claim, a scope with a term an absence claim.
An incomplete item becomes a claim with a fault, so that the author is told what is missing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tallystick.gate.reply.evidence import Part, RawItem
from tallystick.gate.reply.findings import Kind
from tallystick.gate.reply.references import REQUEST, PathRef, References, references_in

_CHECKED = re.compile(r"\bchecked\b[\s:]{0,3}", re.IGNORECASE)
_NOT_THERE = re.compile(
    r"\b(?:not|absent|missing|never)(?: (?:found|present|occurs?|mentioned))? (?:in|from)\b", re.IGNORECASE
)
_TERM_AFTER = re.compile(r"(?:^|[ ,:])(?:for|term|no|without|mentions? of)(?=$|[ :=])[ :=]{0,3}", re.IGNORECASE)
_TAKES_NAME = re.compile(r"(?:§|outline(?: entry)?\s{0,2}:?)$", re.IGNORECASE)
_SHOWN = 200

MISSING: dict[str, str] = {
    "content": "A content claim needs a quote and the path of its file.",
    "structural": "A structural claim needs a path with a line range or § Heading, or an outline entry.",
    "absence": 'An absence claim needs the files that were checked and the term: checked Story/Scenes/*.md for "term".',
    "tool_result": "A tool result needs its receipt: receipt rcpt_….",
    "record": "A record needs its id and a quote from it, or a figure and the query that computes it.",
    "request": "An ACCESS_REQUEST needs the path or glob that is asked for.",
}
"""What to add, by claim type."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One thing to check."""

    kind: Kind
    source: str
    """The source as written in the reply, for display."""
    quote: str | None = None
    path: PathRef | None = None
    heading: str | None = None
    entry: str | None = None
    receipt: str | None = None
    record: str | None = None
    figure: tuple[str, str] | None = None
    scope: str | None = None
    """Files of an absence claim or an access request."""
    term: str | None = None
    fault: str | None = None
    """Fixed code of what is missing; such a claim fails without a lookup."""


def read_claims(items: Iterable[RawItem], tag: Kind | None = None) -> list[Claim]:
    """Turn the items of a line into claims."""
    claims = [claim for item in items for claim in _read_item(_names_joined(item), tag)]
    claims = _scopes_with_terms(claims)
    if tag is not None and not any(claim.kind == tag for claim in claims):
        claims.insert(0, Claim(kind=tag, source=f"Evidence ({tag})", fault="claim_type_mismatch"))
    return claims


def _read_item(item: RawItem, tag: Kind | None) -> list[Claim]:
    quotes = [part.text for part in item if part.is_quote]
    text = " ".join(part.text for part in item if not part.is_quote)
    shown = " ".join([text, *(f'"{quote}"' for quote in quotes)]).strip()[:_SHOWN]
    if REQUEST in text:
        return [_request(text, shown)]
    refs = references_in(text)
    only_receipts = bool(refs.receipts) and not quotes and not refs.paths
    if not only_receipts and (tag == "absence" or _CHECKED.search(text) or _NOT_THERE.search(text)):
        return _absences(quotes, text, shown)
    if not refs:
        return [_without_reference(quotes, text, shown, tag)]
    return [*_of_paths(refs, quotes, tag), *_of_records(refs, quotes), *_of_receipts(refs, quotes)]


def _request(text: str, shown: str) -> Claim:
    scope = text.partition(REQUEST)[2].strip(" :-")
    paths = references_in(scope).paths
    named = paths[0].path if paths else scope.strip("`'\" ()[].,")
    return Claim(kind="request", source=shown, scope=named or None, fault=None if named else "claim_incomplete")


def _absences(quotes: list[str], text: str, shown: str) -> list[Claim]:
    after = text[found.end() :] if (found := _CHECKED.search(text)) else text
    if not quotes and (term := _TERM_AFTER.search(after)):
        quotes = [after[term.end() :].strip(" .,`*_")]
        after = after[: term.start()]
    scope = _TERM_AFTER.sub(" ", after) if found else ", ".join(ref.path for ref in references_in(after).paths)
    named = scope.strip(" :,;") or None
    terms: list[str | None] = [quote for quote in quotes if quote]
    return [
        Claim(
            kind="absence", source=shown, scope=named, term=term, fault=None if named and term else "claim_incomplete"
        )
        for term in terms or [None]
    ]


def _scopes_with_terms(claims: list[Claim]) -> list[Claim]:
    """Join a scope and its terms when they are separate items: `checked Story/*.md; "silver key"`."""
    open_scopes = [claim for claim in claims if claim.kind == "absence" and claim.scope and not claim.term]
    bare = [claim for claim in claims if claim.fault == "quote_without_source"]
    if len(open_scopes) != 1 or not bare:
        return claims
    rest = [claim for claim in claims if claim not in open_scopes and claim not in bare]
    return [*rest, *(replace(open_scopes[0], term=claim.quote, fault=None) for claim in bare)]


def _without_reference(quotes: list[str], text: str, shown: str, tag: Kind | None) -> Claim:
    if quotes:
        return Claim(kind="content", source=shown, quote=quotes[0], fault="quote_without_source")
    if re.search(r"\b(?:section|chapter|scene|outline|lines?)\b", text, re.IGNORECASE):
        return Claim(kind="structural", source=shown, fault="claim_incomplete")
    return Claim(kind=tag or "content", source=shown, fault="claim_unreadable")


def _of_paths(refs: References, quotes: list[str], tag: Kind | None) -> list[Claim]:
    if refs.entry is not None:
        return [Claim(kind="structural", source=f"outline: {refs.entry}"[:_SHOWN], entry=refs.entry)]
    claims: list[Claim] = []
    for ref in refs.paths:
        shown = ref.path if ref.lines is None else f"{ref.path}:L{ref.lines[0]}-L{ref.lines[1]}"
        claims += [
            Claim(kind="content", source=shown[:_SHOWN], quote=quote, path=ref, heading=refs.heading)
            for quote in quotes
        ]
        if not quotes and not _is_only_named(ref, refs):
            claims.append(_structural(ref, refs, shown[:_SHOWN], tag))
    if refs.heading and not refs.paths:
        claims.append(Claim(kind="structural", source=f"§ {refs.heading}"[:_SHOWN], fault="claim_incomplete"))
    return claims


def _is_only_named(ref: PathRef, refs: References) -> bool:
    """Whether a path only says which file a tool read; the receipt in the same item is then the evidence."""
    return bool(refs.receipts) and ref.lines is None and refs.heading is None


def _structural(ref: PathRef, refs: References, shown: str, tag: Kind | None) -> Claim:
    place = Claim(kind="structural", source=shown, path=ref, heading=refs.heading, entry=refs.note or None)
    if ref.lines or refs.heading:
        return place
    if "outline" in ref.path.lower() and refs.note:
        return place
    return replace(place, kind=tag or "structural", fault="claim_incomplete")


def _of_records(refs: References, quotes: Sequence[str | None]) -> list[Claim]:
    claims = [
        Claim(kind="record", source=record, record=record, quote=quote)
        for record in refs.records
        for quote in quotes or [None]
    ]
    if refs.figure is not None:
        shown = f"{refs.figure[0]} = {refs.figure[1]}"[:_SHOWN]
        claims.append(Claim(kind="record", source=shown, figure=refs.figure))
    return claims


def _of_receipts(refs: References, quotes: Sequence[str | None]) -> list[Claim]:
    # If the item also names a file or record, the quote is checked against that.
    mine = quotes if not refs.paths and not refs.records else ()
    return [
        Claim(kind="tool_result", source=receipt, receipt=receipt, quote=quote)
        for receipt in refs.receipts
        for quote in mine or [None]
    ]


def _names_joined(item: RawItem) -> RawItem:
    """Treat quoted names after `§` or `outline:` (`§ "Heading"`, `outline: "Scene"`) as text, not as quotes."""
    joined: list[Part] = []
    for part in item:
        if part.is_quote and joined and not joined[-1].is_quote and _TAKES_NAME.search(joined[-1].text):
            joined[-1] = Part(text=f"{joined[-1].text} {part.text}", is_quote=False)
        else:
            joined.append(part)
    return tuple(joined)
