"""Check each claim against its source."""

from collections.abc import Callable

from tallystick.errors import PathRefused
from tallystick.gate.quotes import word_count
from tallystick.gate.reply.absence import check_absence
from tallystick.gate.reply.claims import MISSING, Claim
from tallystick.gate.reply.findings import Item, Kind, Matched
from tallystick.gate.reply.records import check_record
from tallystick.gate.reply.sources import Source
from tallystick.gate.reply.structure import find_entry, find_heading, section_end
from tallystick.gate.reply.support.grounds import Ground, ground_in_file, ground_of_lines
from tallystick.gate.reply.surroundings import (
    Checked,
    Surroundings,
    check_quote,
    cited,
    failed,
    matched_in,
    read_source,
)
from tallystick.gate.reply.tool_results import check_tool_result

MIN_WORDS = 6
"""A random three-word quote occurs in an unrelated novel one time in eleven; six words do not match by chance."""
MIN_WORDS_WITH_LINES = 3

_FAULTS = {
    "quote_without_source": "The quote names no source; add the path of its file.",
    "claim_unreadable": "This is not valid evidence; cite a quote with its path, lines, a receipt or a record.",
}


def check_claim(claim: Claim, around: Surroundings, *, bare_records: bool = False) -> Checked:
    """Check one claim.

    Args:
        claim: The claim as parsed from the line.
        around: The context of the check: sources, receipts, session.
        bare_records: Whether a record id without a quote is enough, as in the per-sentence form.
    """
    if claim.fault is not None:
        return failed(claim, claim.fault, _FAULTS.get(claim.fault, MISSING[claim.kind]))
    if claim.kind == "record":
        return check_record(claim, around, bare=bare_records)
    return _CHECKS[claim.kind](claim, around)


def _check_content(claim: Claim, around: Surroundings) -> Checked:
    if claim.path is None or claim.quote is None:
        return failed(claim, "claim_incomplete", MISSING["content"])
    least = MIN_WORDS if claim.path.lines is None else MIN_WORDS_WITH_LINES
    if word_count(claim.quote) < least:
        reason = f"Quote at least {MIN_WORDS} words, or {MIN_WORDS_WITH_LINES} together with their line number."
        return failed(claim, "quote_too_short", reason)
    source = read_source(claim, claim.path.path, around)
    if isinstance(source, Checked):
        return source
    if claim.heading is not None and find_heading(claim.heading, source) is None:
        return failed(claim, "no_such_heading", "The file has no such heading; copy one exactly.", cited(source))
    passage = check_quote(claim, claim.quote, cited(source), around, claim.path.lines)
    if isinstance(passage, Checked):
        return passage
    placed = claim.path.lines is not None or claim.heading is not None
    ground = ground_in_file(passage.quote, source, passage.match, placed=placed)
    return _held(claim, matched_in(source, passage), source, ground)


def _check_structural(claim: Claim, around: Surroundings) -> Checked:
    if claim.path is None:
        return _check_entry(claim, claim.entry or "", around.sources.outline())
    source = read_source(claim, claim.path.path, around)
    if isinstance(source, Checked):
        return source
    first, last = claim.path.lines or (1, len(source.lines))
    if claim.path.lines is not None and not 1 <= first <= last <= len(source.lines):
        reason = f"The file has lines 1 to {len(source.lines)}; name lines that exist."
        return failed(claim, "no_such_lines", reason, cited(source))
    if claim.path.lines is not None and claim.heading is None:
        return _held(claim, _place(source, first, last), source)
    return _check_name(claim, claim.heading or claim.entry or "", source, around)


def _check_name(claim: Claim, name: str, source: Source, around: Surroundings) -> Checked:
    # Finding the outline may scan the whole workspace, so do it only if the path suggests one.
    outline = around.sources.outline() if "outline" in source.path.casefold() else None
    if outline is not None and outline.path == source.path:
        return _check_entry(claim, name, source)
    line = find_heading(name, source)
    if line is None:
        return failed(claim, "no_such_heading", "The file has no such heading; copy one exactly.", cited(source))
    return _held(claim, _place(source, line, line), source)


def _check_entry(claim: Claim, entry: str, outline: Source | None) -> Checked:
    if outline is None:
        return failed(claim, "no_outline", "The workspace has no outline; cite lines or a heading.")
    line = find_entry(entry, outline)
    if line is None:
        return failed(claim, "no_such_entry", "The outline has no such entry; copy one exactly.", cited(outline))
    return _held(claim, _place(outline, line, line), outline)


def _check_request(claim: Claim, around: Surroundings) -> Checked:
    try:
        # The requested path need not exist, but it must be inside the workspace.
        around.sources.expand(claim.scope or "")
    except PathRefused as refused:
        return failed(claim, refused.code, str(refused))
    return Checked(item=Item(kind="request", source=claim.source, ok=True))


def _held(claim: Claim, matched: Matched, source: Source, ground: Ground | None = None) -> Checked:
    item = Item(kind=claim.kind, source=claim.source, ok=True, matched=matched)
    if ground is None:
        first, last = matched.first_line or 1, matched.last_line or 1
        ground = ground_of_lines(
            source, first, last if last > first or claim.heading is None else section_end(source, first)
        )
    return Checked(item=item, texts=(cited(source),), paths=(source.path,), grounds=(ground,))


def _place(source: Source, first: int, last: int) -> Matched:
    return Matched(path=source.path, sha256=source.sha256, first_line=first, last_line=last)


_CHECKS: dict[Kind, Callable[[Claim, Surroundings], Checked]] = {
    "content": _check_content,
    "structural": _check_structural,
    "absence": check_absence,
    "tool_result": check_tool_result,
    "request": _check_request,
}
