"""The reply: quotes that answer, or a full report of what a tool returned. Nothing is worded that was not read."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tallystick.gate.quotes import fold_text
from tallystick.providers.offline.cited import Cited, cited_in, quotes_of
from tallystick.providers.offline.citing import Quote, evidence, quote_from, would_pass
from tallystick.providers.offline.kinds import spaced
from tallystick.providers.offline.passages import OfflinePassage
from tallystick.providers.offline.prompt import PromptReading
from tallystick.providers.offline.results import Excerpt, OfflineResult, read_results, scalars
from tallystick.reading.agent.library import Library
from tallystick.reading.agent.plan import Plan
from tallystick.reading.answers import Candidate, statement_spans
from tallystick.records import record
from tallystick.text.headings import read_outline
from tallystick.text.stems import stem_all, stems
from tallystick.text.words import content_words, words

NOT_STATED = "Not stated in these files."
NOTHING_ASKED = "I answer from the files of this workspace. Ask about a file, a person, a place or a word."
ABSTAIN = "ABSTAIN"
_QUOTE_MARK = re.compile("^> ?", re.MULTILINE)
YOURS = "These are the figures; the judgement is yours."
_YES_OR_NO = re.compile(r"\W*(?:is|are|was|were|do|does|did|has|have|can|should)\b", re.IGNORECASE)
MAX_ITEMS = 10
"""Items of a list that are shown in full; the rest are named."""
MAX_NAMED = 30
MAX_LINES = 60
"""Lines shown of a file that is asked for."""
SUMMARY = 6
"""Sentences of a summary."""
_BOOKKEEPING = frozenset({"sha256", "dry_run", "truncated", "score", "why", "matched_by", "end_line", "waiver_reason"})


_FEW = 3
"""Words of a text that is quoted; what is shorter is a name or a state."""
_LOOKED_FOR = ("findings", "problems", "results", "issues")
_EMPTY: tuple[Any, ...] = (None, False, "", [], {})


@record
class ReplyPart:
    """A piece of a reply and what it rests on."""

    text: str
    quotes: tuple[Quote, ...] = ()
    items: tuple[str, ...] = ()
    receipts: tuple[str, ...] = ()


def reply_to(reading: PromptReading, plan: Plan, library: Library) -> str:
    """Return the reply to a request, with its evidence."""
    results = read_results(reading.seen)
    parts = [part for part in _parts(reading, plan, results, library) if _may_stand(part, reading)]
    if parts:
        return _joined(parts)
    if reading.may_abstain and reading.at_table:
        return ABSTAIN
    if plan.kind == "none":
        return NOTHING_ASKED
    return f"{NOT_STATED}\n\nEvidence: ACCESS_REQUEST **"


def _parts(
    reading: PromptReading, plan: Plan, results: Sequence[OfflineResult], library: Library
) -> Iterator[ReplyPart]:
    if plan.kind == "presence":
        yield from _presence(plan, library, results)
    elif plan.kind == "summary" and plan.files:
        yield from _summary(plan.files[0].path, library, results)
    elif plan.kind == "tool":
        for result in results:
            yield from report(result)
        if results and _YES_OR_NO.match(reading.request) and not any(map(cited_in, results)):
            yield ReplyPart(text=YOURS)
    else:
        for at, each in enumerate(plan.answers):
            yield from _quoted(each, results, first=at == 0)


def _quoted(each: Candidate, results: Sequence[OfflineResult], *, first: bool) -> Iterator[ReplyPart]:
    receipt = _receipt_for(each, results)
    quote = _quote(each.passage.name, each.line, each.text, receipt or "")
    # Too few words to be quoted are shown by their line.
    items = () if quote else (f"{each.passage.name}:L{each.line}",)
    text = "\n".join(f"> {line}" for line in each.around.split("\n"))
    lead = f"{each.passage.name}, line {each.line}{' says' if first else ''}:"
    receipts = (receipt,) if receipt else ()
    yield ReplyPart(text=f"{lead}\n\n{text}", quotes=(quote,) if quote else (), items=items, receipts=receipts)


def _receipt_for(each: Candidate, results: Sequence[OfflineResult]) -> str | None:
    """Return the receipt of the call that read the line."""
    for result in results:
        excerpt = result.excerpt
        if excerpt is None or excerpt.path != each.passage.name:
            continue
        if excerpt.first_line <= each.line <= excerpt.first_line + excerpt.text.count("\n"):
            return excerpt.receipt_id
    return None


def _quote(path: str, line: int, text: str, receipt: str, wanted: frozenset[str] = frozenset()) -> Quote | None:
    excerpt = Excerpt(path=path, first_line=line, text=text, receipt_id=receipt, sha256="")
    return quote_from(OfflinePassage(excerpt=excerpt, text=text, line=line, score=1.0, covered=frozenset()), wanted)


def _presence(plan: Plan, library: Library, results: Sequence[OfflineResult]) -> Iterator[ReplyPart]:
    """Say whether something stands in the files, from all their lines."""
    wanted = set(stem_all(words(plan.term)))
    paths = [each.path for each in plan.files] or [each.path for each in library.named_files()]
    held: list[tuple[str, int, str]] = []
    for path in paths:
        source = library.read(path)
        held += [
            (path, number, line)
            for number, line in enumerate(source.lines if source else (), 1)
            if wanted and wanted <= set(stems(line))
        ]
    receipts = tuple(result.seen.receipt_id for result in results)
    if held:
        for path, number, line in held[:MAX_ITEMS]:
            quote = _quote(path, number, line, "")
            if quote is not None:
                yield ReplyPart(text=f"{path}, line {number}:\n\n> {line.strip()}", quotes=(quote,), receipts=receipts)
        if len(held) > MAX_ITEMS:
            rest = ", ".join(f"{path} line {number}" for path, number, _ in held[MAX_ITEMS:][:MAX_NAMED])
            yield ReplyPart(text=f"And, besides: {rest}", receipts=receipts)
    elif wanted:
        scope = paths[0] if plan.files else "**"
        where = paths[0] if plan.files else "the files"
        item = f'checked {scope} for "{plan.term}"'
        yield ReplyPart(text=f"No: {plan.term} does not appear in {where}.", items=(item,), receipts=receipts)


def _summary(path: str, library: Library, results: Sequence[OfflineResult]) -> Iterator[ReplyPart]:
    """Show the sentences of a scene that hold most of its telling words, in their order."""
    source = library.read(path)
    if source is None:
        return
    first = max((heading.line + heading.takes for heading in read_outline(source.text).headings), default=1)
    starts = [0]
    for each in source.text.split("\n"):
        starts.append(starts[-1] + len(each) + 1)
    body = source.text[starts[min(first, len(starts)) - 1] :]
    offset = len(source.text) - len(body)
    found = [span for span in statement_spans(body) if len(span.of(body).split()) > 4]  # noqa: PLR2004
    held = [set(stem_all(content_words(span.of(body)))) for span in found]
    best = sorted(_telling([span.of(body) for span in found], held, library))
    receipts = tuple(result.seen.receipt_id for result in results if not result.failed)
    for at in best:
        text = found[at].of(body)
        line = 1 + source.text.count("\n", 0, offset + found[at].start)
        quote = _quote(path, line, text, "")
        if quote is not None:
            yield ReplyPart(
                text=f"> {' '.join(text.split())}\n\n({path}, line {line})", quotes=(quote,), receipts=receipts
            )


def _telling(said: Sequence[str], held: Sequence[set[str]], library: Library) -> set[int]:
    """Return the places of a text's telling sentences: its first, who comes in, and what is said again and again."""
    chosen = {0} if said else set()
    for file in library.named_files():
        if file.kind != "person":
            continue
        parts = {stem for name in file.names for stem in stem_all(name.split())} - set(stem_all(["the"]))
        chosen.update([at for at, each in enumerate(held) if each & parts][:1])
    count = Counter(word for each in held for word in each)
    score = [sum(count[word] > 1 for word in each) / (4 + len(each)) ** 0.5 for each in held]
    ranked = sorted(range(len(said)), key=lambda at: -score[at])
    return chosen.union(ranked[: max(0, SUMMARY - len(chosen))])


def report(result: OfflineResult) -> Iterator[ReplyPart]:
    """Report everything that a tool returned: figures, every finding, every row, or how many more there are."""
    receipt = (result.seen.receipt_id,)
    if result.failed:
        message = next((str(value) for key, value in scalars(result.value) if key == "message"), "it gave no reason")
        yield ReplyPart(text=f"{result.seen.tool} could not do this: {message[:300]}", receipts=receipt)
    elif result.excerpt is not None:
        yield from _file(result.excerpt)
    elif isinstance(result.value, dict):
        findings = cited_in(result)
        fields = _fields(result.value, skip=bool(findings))
        said = tuple(f'"{text}" receipt {receipt[0]}' for text in _sentences_in(result.value))
        yield ReplyPart(text="\n".join([f"{result.seen.tool}:", *fields]), items=said, receipts=receipt)
        for each in findings[:MAX_ITEMS]:
            yield _finding(each, receipt)
        if len(findings) > MAX_ITEMS:
            rest = "; ".join(each.message for each in findings[MAX_ITEMS:][:MAX_NAMED])
            yield ReplyPart(text=f"And, besides: {rest}", receipts=receipt)
    else:
        yield ReplyPart(text=f"{result.seen.tool} returned:\n{result.seen.text[:2000]}", receipts=receipt)


def _sentences_in(value: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of the rows of a result, which a reply that shows them must quote."""
    for inner in value.values():
        for row in inner[:MAX_NAMED] if isinstance(inner, list) else ():
            yield from (_plain(text).removesuffix("…") for text in _texts_in(row))


def _texts_in(row: Any) -> Iterator[str]:
    """Yield the values of a row that are sentences or titles."""
    for text in row.values() if isinstance(row, dict) else ():
        if isinstance(text, str) and len(text.split()) >= _FEW and '"' not in text:
            yield text


def _finding(each: Cited, receipt: tuple[str, ...]) -> ReplyPart:
    quotes, lines = quotes_of(each, frozenset())
    places = "\n\n".join(
        f"> {' '.join(place.text.split())}\n\n({place.path}, line {place.first_line})" for place in each.places
    )
    return ReplyPart(text=f"{each.message}\n\n{places}", quotes=quotes, items=lines, receipts=receipt)


def _file(excerpt: Excerpt) -> Iterator[ReplyPart]:
    lines = excerpt.text.split("\n")
    shown = "\n".join(f"> {line}" for line in lines[:MAX_LINES])
    said = max(lines, key=lambda line: len(line.split()))
    quote = _quote(excerpt.path, excerpt.first_line + lines.index(said), said, excerpt.receipt_id)
    more = f"\n\nAnd {len(lines) - MAX_LINES} more lines." if len(lines) > MAX_LINES else ""
    text = f"{excerpt.path}, from line {excerpt.first_line}:\n\n{shown}{more}"
    yield ReplyPart(text=text, quotes=(quote,) if quote else (), receipts=(excerpt.receipt_id,))


def _fields(value: dict[str, Any], *, skip: bool) -> Iterator[str]:
    yield from (f"- {spaced(key)}: none" for key in _LOOKED_FOR if value.get(key) == [])
    told = {key: inner for key, inner in value.items() if key not in _BOOKKEEPING and inner not in _EMPTY}
    for key, inner in told.items():
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            if skip and "message" in inner[0]:
                continue
            yield f"- {spaced(key)}:"
            for each in inner[:MAX_NAMED]:
                texts = list(_texts_in(each))
                yield from (f"\n> {_plain(text)}\n" for text in texts)
                yield from (
                    f"- {spaced(name)}: {_inner(value)}"
                    for name, value in each.items()
                    if value not in _EMPTY and value not in texts and not name.endswith(("_id", "_at"))
                )
            if len(inner) > MAX_NAMED:
                yield "  - and more; the receipt has them all"
        elif isinstance(inner, list):
            yield f"- {spaced(key)}: {', '.join(map(_plain, inner[:MAX_NAMED]))}"
        elif isinstance(inner, dict):
            yield f"- {spaced(key)}: {_row(inner)}"
        else:
            yield f"- {spaced(key)}: {_plain(inner)}"


def _row(item: Any) -> str:
    if not isinstance(item, dict):
        return _plain(item)
    told = [(key, each) for key, each in item.items() if key not in _BOOKKEEPING and each not in _EMPTY]
    return "; ".join(f"{spaced(key)} {_inner(each)}" for key, each in told)


def _inner(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_row(each) for each in value[:MAX_ITEMS])
    return _row(value)


def _plain(value: Any) -> str:
    text = " ".join(str(value).replace('"', "").split())
    return text if len(text) <= 200 else f"{text[:200].rpartition(' ')[0]}…"  # noqa: PLR2004


def _joined(parts: Sequence[ReplyPart]) -> str:
    body = "\n\n".join(dict.fromkeys(part.text for part in parts))
    line = evidence(
        [quote for part in parts for quote in part.quotes],
        [receipt for part in parts for receipt in part.receipts],
        [item for part in parts for item in part.items],
    )
    return f"{body}\n\n{line}" if line.strip() != "Evidence:" else body


def _may_stand(part: ReplyPart, reading: PromptReading) -> bool:
    """Return whether a part has the form that the reply check takes."""
    names = [tool.name for tool in reading.tools]
    receipts = part.receipts or (() if part.quotes or part.items else ("rcpt_0",))
    seen = [fold_text(quote.text) for quote in part.quotes] + [fold_text(_QUOTE_MARK.sub("", part.text))]
    line = evidence(part.quotes, receipts, part.items)
    return would_pass(f"{part.text}\n\n{line}", seen, names)
