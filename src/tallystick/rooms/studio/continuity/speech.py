"""Which parts of a text are somebody's words. What a character says need not be so."""

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_DOUBLE = re.compile(r'["“”«»]')
_SINGLE_OPEN = re.compile(
    r"(?:(?<=[\s(\[—\u2013\"“-])|^)['\u2018](?!(?:tis|twas|em|til|cause|bout|d|s|ll)\b)(?=[\w—\u2013“\"])"
)
_SINGLE_CLOSE = re.compile(r"(?<=[.,!?;:—\u2013…-])['\u2019](?!\w)")
_SINGLE_CLOSE_WORD = re.compile(r"(?<=\w)['\u2019](?!\w)")
_SINGLE_SPEECH = re.compile(r"(?:(?<=[\s(—\u2013-])|^)['\u2018](?=[A-Z])", re.MULTILINE)
_ODD_OPEN = re.compile(
    r"(?:(?<=[\s(—\u2013])|^)['\u2018\u2019](?!(?:[Tt]is|[Tt]was|[Tt]were|[Tt]il|[Ee]m|[Cc]ause|[Bb]out|[Dd]|[Ss]|"
    r"[Ll]l)\b)"
    r"(?=(?P<great>[A-ZÀ-Þ0-9])|[a-z])"
)
"""A single mark in a book of double ones, even one that is turned the wrong way, as machines turn it."""
_DASH = re.compile(r"\s*(?:--|[—\u2013―])\s*(?=\w)")
_ATTRIBUTED = re.compile(
    r"[,.!?]\s+(?=(?:said|asked|cried|replied|answered|whispered|murmured|muttered|shouted|exclaimed|called|added)\b)"
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_THOUGHT = re.compile(r"(?<![\w*_])([*_])(?=[^\s*_])((?:[^*_\n]|\n(?!\n)){20,600}?)(?<=[^\s*_])\1(?![\w*_])")
_FEWEST_WORDS = 5
"""Shorter emphasis is emphasis; longer is a thought or a letter, in the character's own words."""


def spoken_spans(text: str, paragraphs: Sequence[Span]) -> list[Span]:
    """Where somebody speaks, thinks in so many words, or is quoted; in order, none inside another."""
    style = _style(text, paragraphs)
    found: list[Span] = []
    for start, end in paragraphs:
        found.extend(_in_paragraph(text, start, end, style))
    found.extend(
        (match.start(), match.end())
        for match in _THOUGHT.finditer(text)
        if len(match.group(2).split()) >= _FEWEST_WORDS
    )
    return _joined(found)


def _style(text: str, paragraphs: Sequence[Span]) -> str:
    """How this book marks speech: `double`, `single` or `dash`."""
    doubles = sum(text.count(mark) for mark in '"“«')
    singles = len(_SINGLE_SPEECH.findall(text))
    dashes = sum(1 for start, _ in paragraphs if _DASH.match(text, start))
    if singles > 3 * doubles:
        return "dash" if dashes > 2 * singles else "single"
    return "dash" if dashes > 3 * doubles + 2 else "double"


def _in_paragraph(text: str, start: int, end: int, style: str) -> Iterator[Span]:
    if style == "single":
        yield from _single(text, start, end)
        # Even a book with single marks quotes letters and signs in double ones.
        yield from _double(text, start, end)
        return
    if style == "dash" and (opened := _DASH.match(text, start, end)):
        yield from _dashed(text, opened.end(), end)
        return
    yield from _double(text, start, end)
    yield from _odd(text, start, end)


def _odd(text: str, start: int, end: int) -> Iterator[Span]:
    """Speech in single marks where the book has double ones: it begins great or goes on, and ends behind a sign."""
    at, spoken = start, False
    while opened := _ODD_OPEN.search(text, at, end):
        closed = _SINGLE_CLOSE.search(text, opened.end(), end)
        if closed is None:
            return
        at = opened.end()
        if opened.group("great") or spoken:
            yield (opened.start(), closed.end())
            at, spoken = closed.end(), True


def _double(text: str, start: int, end: int) -> Iterator[Span]:
    opened: int | None = None
    for mark in _DOUBLE.finditer(text, start, end):
        at = mark.start()
        role = _role(text, at, start, is_open=opened is not None)
        if role == "open":
            if opened is not None:
                yield (opened, at)
            opened = at
        elif opened is not None:
            yield (opened, at + 1)
            opened = None
        elif at - start > 1:
            # A closing mark that nothing opened: the speech began with the paragraph.
            yield (start, at + 1)
    if opened is not None:
        # Speech that goes on in the next paragraph is not closed here.
        yield (opened, end)


def _role(text: str, at: int, start: int, *, is_open: bool) -> str:
    sign = text[at]
    if sign in "“«":
        return "open"
    if sign in "”»":
        return "close"
    before = text[at - 1] if at > start else " "
    after = text[at + 1] if at + 1 < len(text) else " "
    if before.isspace() or before in "([—\u2013-":
        if after.isspace():
            return "close" if is_open else "open"
        return "open" if not is_open or before.isspace() else "close"
    return "open" if not is_open and after.isalnum() else "close"


def _single(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    while opened := _SINGLE_OPEN.search(text, at, end):
        begin = opened.start()
        closed = _SINGLE_CLOSE.search(text, opened.end(), end) or _SINGLE_CLOSE_WORD.search(text, opened.end(), end)
        stop = closed.end() if closed else end
        yield (begin, stop)
        at = stop


def _dashed(text: str, start: int, end: int) -> Iterator[Span]:
    """After a dash all is speech, but for `said …` up to the end of that sentence."""
    at = start
    while at < end:
        told = _ATTRIBUTED.search(text, at, end)
        if told is None:
            yield (at, end)
            return
        yield (at, told.start() + 1)
        closed = _SENTENCE_END.search(text, told.end(), end)
        at = closed.end() if closed else end


def _joined(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
