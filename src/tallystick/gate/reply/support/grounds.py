"""The content of a verified quote: its words, the whole sentence it was taken from, and its context.

The sentence shows whether the quote omits a condition or is part of reported speech. The context (file name, headings,
preceding sentences; for a call its tool and arguments) shows whom `she` or `the captain` refers to.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from tallystick.gate.quotes import Folded, Match
from tallystick.gate.record.quotable import strings_in
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.reply.sources import Source
from tallystick.gate.reply.support.readings import read
from tallystick.records import record
from tallystick.text.sentences import sentence_spans
from tallystick.text.words import identifier_words

_AROUND = 400
"""Characters on each side of a quote that are searched for its sentence and the preceding ones."""
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.+)")
_MAX_ABOVE = 400
"""Maximum lines above a quote that are searched for a heading."""
_MAX_CONTEXT = 2_000
_MAX_RESULT = 20_000
"""Maximum characters of a result that are read."""
_SHORT_RESULT = 80
"""Results of up to this many characters (a count, a status) support claims without being quoted."""
_SHORT = 8
"""Maximum words of an argument that is treated as a name or topic; longer ones are content."""
_NEAR = 40
"""Lines before and after a quote that belong to its vicinity."""
_MAX_LINES = 500
"""Maximum lines read from a cited range."""


@record
class Ground:
    """The content of one item of the Evidence line, against which claims are checked."""

    quote: str
    """The quoted words, or the cited lines; empty if the item quotes nothing."""
    sentence: str = ""
    """The whole sentence or sentences around the quote."""
    context: str = ""
    """Text that identifies the subject of the quote: titles and preceding sentences, or tool and arguments."""
    titles: str = ""
    """Path and headings."""
    antecedent: str = ""
    """The last sentence before the quote that names somebody."""
    kind: str = "content"
    placed: bool = False
    """Whether the item gives line numbers or a heading."""
    receipt: Receipt | None = None
    source: Source | None = None
    line: int = 0
    """The file of the quote and its first line there."""

    def vicinity(self) -> str:
        """Return the text some way around the quote, or the whole result: who is named there may be meant."""
        if self.source is not None:
            return "\n".join(self.source.lines[max(0, self.line - _NEAR) : self.line + _NEAR])[:_MAX_RESULT]
        return ground_of_result(self.receipt).quote if self.receipt is not None else ""

    @property
    def failed(self) -> bool:
        """Whether the quoted call failed or was refused."""
        return self.receipt is not None and not ran(self.receipt)


def ran(receipt: Receipt) -> bool:
    """Whether the receipt belongs to a call that completed without being refused or failing."""
    outcome = receipt.header.get("outcome") or {}
    return outcome.get("status") != "rejected" and "fault" not in outcome and "category" not in outcome


def ground_in_file(quote: str, source: Source, match: Match, *, placed: bool = False) -> Ground:
    """Build the ground for a quote from a file."""
    sentence, before = _sentence(_block(source, match), quote, source.folded, match)
    titles = " . ".join(_titles(source, match.first_line))
    context = f"{titles} . {before}"[:_MAX_CONTEXT]
    return Ground(
        quote=quote,
        sentence=sentence,
        context=context,
        titles=titles,
        antecedent=_antecedent(before),
        placed=placed,
        source=source,
        line=match.first_line,
    )


def ground_in_text(
    quote: str, text: Folded, match: Match, *, context: str = "", receipt: Receipt | None = None
) -> Ground:
    """Build the ground for a quote from a record or a tool's result."""
    sentence, before = _sentence(None, quote, text, match)
    return Ground(
        quote=quote,
        sentence=sentence,
        context=f"{context} . {before}"[:_MAX_CONTEXT],
        titles=context,
        antecedent=before,
        kind="tool_result" if receipt else "content",
        receipt=receipt,
    )


def ground_of_lines(source: Source, first: int, last: int) -> Ground:
    """Build the ground for cited lines, which support claims about structure but not about content."""
    lines = source.lines[first - 1 : min(last, first + _MAX_LINES)]
    return Ground(quote="\n".join(lines), context=" . ".join(_titles(source, first)), kind="structural")


def call_context(receipt: Receipt) -> str:
    """Return the tool and the arguments of a call as text."""
    inputs = receipt.inputs if isinstance(receipt.inputs, Mapping) else {}
    args = inputs.get("args", inputs)
    name = str(receipt.header.get("tool_id", ""))
    tool = f"{name} {' '.join(identifier_words(name))}"
    # Long texts are content that was written or sent; short ones identify the subject of the call.
    return " . ".join([tool, *_bounded(text for text in _leaves(args) if len(text.split()) <= _SHORT)])


def ground_of_result(receipt: Receipt) -> Ground:
    """Return the whole recorded result of a call, one `key: value` per line, for claims that only repeat it."""
    outcome = receipt.header.get("outcome") or {}
    lines = _bounded(_facts(receipt.outputs, ""), _MAX_RESULT) if ran(receipt) else [str(outcome.get("reason", ""))]
    return Ground(quote="\n".join(lines), context=call_context(receipt), kind="tool_result", receipt=receipt)


def ground_of_call(receipt: Receipt) -> Ground:
    """Build the ground for a receipt cited without a quote: the call, and its result if that is short."""
    context = call_context(receipt)
    result = ground_of_result(receipt).quote if ran(receipt) else ""
    if len(result) <= _SHORT_RESULT:
        context = f"{context} . {result}"
    return Ground(quote="", context=context, kind="tool_result", receipt=receipt)


def _facts(value: Any, name: str) -> Iterator[str]:
    waiting: list[tuple[str, Any]] = [(name, value)]
    while waiting:
        key, now = waiting.pop()
        spoken = " ".join(identifier_words(key))
        if isinstance(now, Mapping | list) and not now:
            yield f"{spoken}: none"
        elif isinstance(now, Mapping):
            waiting.extend(reversed([(f"{key} {inner}".strip(), each) for inner, each in now.items()]))
        elif isinstance(now, list):
            waiting.extend((key, each) for each in reversed(now))
        else:
            yield f"{spoken}: {now}" if spoken else str(now)


def _leaves(value: Any) -> Iterable[str]:
    yield from strings_in(value)
    if isinstance(value, Mapping):
        yield from (str(each) for each in value.values() if isinstance(each, int | float))


def _antecedent(before: str) -> str:
    """Return the last sentence with a name, to which a pronoun in the quote may refer."""
    for start, end in reversed(_spans(before)):
        if any(term.is_name or term.opens for term in read(before[start:end]).terms if term.written[:1].isupper()):
            return before[start:end]
    return ""


def _bounded(texts: Iterable[str], most: int = _MAX_CONTEXT) -> list[str]:
    kept: list[str] = []
    size = 0
    for text in texts:
        kept.append(text[: most - size])
        size += len(text)
        if size >= most:
            break
    return kept


def _block(source: Source, match: Match) -> tuple[int, int]:
    """Return the range, in the folded text, of the paragraph that contains a quote, as far as `_sentence` reads it."""
    lines, folded = source.lines, source.folded
    first, last = match.first_line, match.last_line
    top, bottom = folded.line_at(match.start - _AROUND), folded.line_at(match.end + _AROUND)
    while first > top and _goes_on(lines, first - 1):
        first -= 1
    while last < bottom and _goes_on(lines, last):
        last += 1
    low, high = bisect_left(folded.numbers, first), bisect_right(folded.numbers, last)
    return folded.starts[low], folded.starts[high] if high < len(folded.starts) else len(folded.text)


def _goes_on(lines: list[str], number: int) -> bool:
    """Whether line `number` and the next belong to one paragraph."""
    above, below = lines[number - 1].strip(), lines[number].strip()
    return bool(above and below) and not above.startswith("#") and not below.startswith(("#", "-", "*", "|", ">"))


def _sentence(block: tuple[int, int] | None, quote: str, text: Folded, match: Match) -> tuple[str, str]:
    low, high = block or (0, len(text.text))
    low, high = max(low, match.start - _AROUND), min(high, match.end + _AROUND)
    window = text.text[low:high]
    start, end = match.start - low, match.end - low
    found = [span for span in _spans(window) if span[0] < end and span[1] > start]
    if not found:
        return quote, ""
    return window[found[0][0] : found[-1][1]], window[: found[0][0]].strip()


@lru_cache(maxsize=4_096)
def _spans(window: str) -> tuple[tuple[int, int], ...]:
    return tuple((span.start, span.end) for span in sentence_spans(window))


@lru_cache(maxsize=4_096)
def _path_words(path: str) -> str:
    return " ".join(identifier_words(path.replace("-", " ")))


def _titles(source: Source, line: int) -> list[str]:
    """Return the words of the path, the nearest heading at or above a line, and a heading in the first five lines."""
    titles = [_path_words(source.path)]
    above = source.lines[max(0, line - _MAX_ABOVE) : line]
    marked = (text for text in reversed(above) if "#" in text)
    heading = next((found for text in marked if (found := _HEADING.fullmatch(text))), None)
    if heading is not None:
        titles.append(heading.group(1))
    first = next((found for text in source.lines[:5] if (found := _HEADING.fullmatch(text))), None)
    if first is not None and first.group(1) not in titles:
        titles.append(first.group(1))
    return titles
