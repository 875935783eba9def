"""Check the quotations in the body of a reply.

A valid quote on the Evidence line does not cover an invented one in the body: all text that the body puts in quote
marks or in a Markdown block quote must occur in a source named on the line. Code blocks are skipped because they are
not quotations.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from typing import Literal

from tallystick.gate.codes import Bucket
from tallystick.gate.quotes import fold, word_count
from tallystick.gate.reply.diagnosis import Diagnosis, diagnose
from tallystick.gate.reply.findings import Item
from tallystick.gate.reply.surroundings import OWN_TEXT, CitedText, Passage, passages

MIN_WORDS = 3
"""Shorter quotations are names, titles and mentioned words, and are not checked."""
MAX_FAILURES = 20
"""Maximum number of failures reported; one is enough to refuse the reply."""
_SHOWN = 200
_DIAGNOSED = 3
"""Maximum number of sources searched for the passage that the author probably misquoted."""
_MAX_PLACES = 100
"""Maximum number of occurrences of one quotation that are examined per text."""
_MAX_ENDS = 8
"""Maximum number of closing single marks tried, because apostrophes look the same."""
_OPENS_AFTER = frozenset(" \n\t([{—–-:*_/")  # noqa: RUF001
_ELIDED = ("tis", "twas", "twere", "twill", "em", "til", "till", "cause", "bout", "n", "round", "cos", "ere", "im")
"""English words that begin with an apostrophe."""

Quotation = tuple[str, ...]
"""The possible texts of one quotation, most likely first; more than one only for single quote marks."""
IsOwn = Callable[[Passage, CitedText], bool]
"""Whether the agent itself wrote a passage of a text."""


def check_quotations(
    lines: list[str], skip: set[int], texts: Iterable[CitedText], is_own: IsOwn, absent: Iterable[str] = ()
) -> list[Item]:
    """Return a failed item for each quotation that no named source supports.

    Args:
        lines: The lines of the reply.
        skip: Indexes of lines outside the body: the Evidence line and code blocks.
        texts: The sources that the reply names.
        is_own: Tells whether the agent itself wrote a passage.
        absent: Terms verified as absent; the body may put them in quote marks.
    """
    named = [each.cited for each in dict.fromkeys(map(_ByIdentity, texts))]
    allowed = {fold(term).casefold() for term in absent}
    failures: list[Item] = []
    for quotation in quotations(lines, skip):
        if fold(quotation[0]).casefold() in allowed:
            continue
        stands = _standing(quotation, named, is_own)
        if stands != "good":
            failures.append(_own(quotation[0]) if stands == "own" else _failure(quotation[0], named))
            if len(failures) == MAX_FAILURES:
                break
    return failures


def quotations(lines: list[str], skip: set[int]) -> Iterator[Quotation]:
    """Yield every quotation in the body that has at least three words."""
    for paragraph, is_block in _paragraphs(lines, skip):
        found = [(paragraph,)] if is_block else _marked(paragraph)
        for quotation in found:
            if _is_long_enough(quotation[0]):
                yield quotation


def _is_long_enough(quote: str) -> bool:
    # Counting words is expensive; text with fewer than two separators cannot have three words.
    gaps = sum(not sign.isalnum() for sign in quote[:_SHOWN])
    return (gaps >= MIN_WORDS - 1 or max(quote, default="") > "\u0dff") and word_count(quote) >= MIN_WORDS


class _ByIdentity:
    """A text compared by identity, so that the same file is searched only once."""

    def __init__(self, cited: CitedText) -> None:
        self.cited = cited

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.cited.text is self.cited.text

    def __hash__(self) -> int:
        return id(self.cited.text)


def _standing(quotation: Quotation, texts: list[CitedText], is_own: IsOwn) -> Literal["absent", "own", "good"]:
    """Return whether a quotation occurs in a text, and whether the agent itself wrote it there."""
    own: set[int] = set()
    for quote, cited in product(quotation, texts):
        # For a tool result, `texts` contains each string first and then the whole result as JSON. Skip the JSON if a
        # string was the agent's own text: the context differs there, so the same words might not be recognised as own.
        if id(cited.origin) in own:
            continue
        for passage in islice(passages(quote, cited.text), _MAX_PLACES):
            if not is_own(passage, cited):
                return "good"
            own.add(id(cited.origin))
    return "own" if own else "absent"


def _own(quote: str) -> Item:
    return Item(
        kind="quotation",
        source=quote[:_SHOWN],
        ok=False,
        code="own_text",
        reason=OWN_TEXT,
        bucket=Bucket.EVIDENCE_INVALID,
    )


def _failure(quote: str, texts: list[CitedText]) -> Item:
    code, advice = "quote_not_found", "The reply names no source for this quotation; name it on the Evidence line."
    why: Diagnosis | None = None
    for text in texts[:_DIAGNOSED]:
        now = diagnose(quote, text.text)
        if why is None or (now.similarity or 0) > (why.similarity or 0):
            why = now
    closest = None
    if why is not None:
        code, advice = why.code, why.advice
        closest = {"line": why.line, "text": why.text, "similarity": why.similarity} if why.line else None
    return Item(
        kind="quotation",
        source=quote[:_SHOWN],
        ok=False,
        code=code,
        reason=advice,
        bucket=Bucket.QUOTE_NOT_FOUND,
        closest=closest,
    )


def _paragraphs(lines: list[str], skip: set[int]) -> Iterator[tuple[str, bool]]:
    """Yield paragraphs and whether each is a block quote; block quotes lose their marks and attribution."""
    run: list[str] = []
    quoted = False
    for number, line in enumerate([*lines, ""]):
        bare = "" if number in skip else line.strip()
        is_quoted = bare.startswith(">")
        if run and (not bare or is_quoted != quoted):
            yield _as_paragraph(run, quoted=quoted), quoted
            run = []
        if bare:
            quoted = is_quoted
            run.append(bare.lstrip("> ") if quoted else bare)


def _as_paragraph(run: list[str], *, quoted: bool) -> str:
    if quoted and len(run) > 1 and run[-1].startswith(("—", "–", "--")):  # noqa: RUF001
        run = run[:-1]
    text = "\n".join(run)
    return text.strip("\"“”'‘’ ") if quoted else text  # noqa: RUF001


def _marked(text: str) -> Iterator[Quotation]:
    singles = [at for at, sign in enumerate(text) if sign in "'’" and _closes(text, at)]  # noqa: RUF001
    at = 0
    while at < len(text):
        sign = text[at]
        ends: list[int] = []
        if sign in {"“", "„"}:
            ends = [_closing_curly(text, at)]
        elif sign == "«":
            ends = [_next_of(text, "»", at)]
        elif sign == '"' and _opens(text, at):
            ends = [_next_of(text, '"', at)]
        elif sign in {"'", "‘"} and _opens(text, at) and not _is_elision(text, at):  # noqa: RUF001
            ends = _closing_singles(text, at, singles)
        if ends:
            yield tuple(text[at + 1 : end] for end in ends)
            at = ends[0]
        at += 1


def _opens(text: str, at: int) -> bool:
    before = text[at - 1] if at else " "
    after = text[at + 1 : at + 2]
    return before in _OPENS_AFTER and bool(after) and not after.isspace()


def _closing_curly(text: str, at: int) -> int:
    depth = 0
    low = text[at] == "„"
    for place in range(at, len(text)):
        # „Such“ quotations end with the mark that opens “such” ones.
        ends = text[place] == "”" or (low and text[place] == "“" and _closes(text, place))
        if not ends and text[place] in "“„":
            depth += 1
        elif ends:
            depth -= 1
            if depth == 0:
                return place
    # An unclosed quotation still counts and runs to the end of the paragraph.
    return len(text)


def _next_of(text: str, mark: str, at: int) -> int:
    found = text.find(mark, at + 1)
    return len(text) if found < 0 else found


def _closes(text: str, at: int) -> bool:
    return at > 0 and not text[at - 1].isspace() and not text[at + 1 : at + 2].isalnum()


def _is_elision(text: str, at: int) -> bool:
    word = text[at + 1 : at + 12].lower()
    letters = word[: next((place for place, sign in enumerate(word) if not sign.isalpha()), len(word))]
    return letters in _ELIDED or not word[:1].isalpha()


def _closing_singles(text: str, at: int, singles: list[int]) -> list[int]:
    """Return the end of a single-quoted text, then its other possible ends; empty if the mark is an apostrophe."""
    unsure: list[int] = []
    first = bisect_right(singles, at + 1)
    for end in singles[first : first + _MAX_ENDS]:
        # A mark between `s` and a space may be a possessive, as in `the boys' dogs`.
        if text[end - 1] != "s" or text[end + 1 : end + 2] != " ":
            return [end, *unsure]
        unsure.append(end)
    return []
