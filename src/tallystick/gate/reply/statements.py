"""Split the body of a reply into sentences and classify each.

Every sentence is one of: a claim about content, structure, absence or an action; a block quote; a question; a courtesy;
a statement that something is unknown (`I do not know`); or a pointer to the evidence, which claims nothing itself. Only
the four kinds of claim need evidence.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Literal

import orjson

from tallystick.gate.quotes import split_lines
from tallystick.gate.reply.courtesy import is_courtesy, is_signature
from tallystick.gate.reply.evidence import fenced_lines
from tallystick.gate.reply.support.actions import verbs_done
from tallystick.gate.reply.support.readings import Reading, form_stems, read
from tallystick.records import record
from tallystick.text.sentences import sentences
from tallystick.text.stems import stem
from tallystick.text.words import REQUEST_WORDS

StatementKind = Literal[
    "content", "structural", "absence", "action", "quoted", "question", "courtesy", "unknown", "pointer"
]
CLAIMS = frozenset({"content", "structural", "absence", "action"})
MAX_STATEMENTS = 2_000
"""A reply with this many statements is refused: text after them would not be classified."""

_PLACE = re.compile(
    r"[\w./-]{1,200}/[\w.-]{1,100}|\b[\w-]{1,100}\.(?:md|txt|json|csv)\b|\blines? \d{1,7}(?: ?[-–] ?\d{1,7})?",  # noqa: RUF001
    re.IGNORECASE,
)
"""A path or a line number."""
_SPEAKER = re.compile(r"^As [\w -]{1,40}: ")
"""The role in which an agent speaks."""
_LIST_MARK = re.compile(r"^\s{0,12}(?:[-*+•>#]{1,6}\s+|\d{1,3}[.)]\s+)")
_UNKNOWN = re.compile(
    r"\b(?:I|we)(?:['’]m| am|['’]re| are)? (?:not (?:sure|certain|aware)|unsure"  # noqa: RUF001
    r"|(?:do not|don['’]t|did not|didn['’]t) (?:know|say|tell|find|see|confirm|determine|have)\b"  # noqa: RUF001
    r"|(?:can ?not|can['’]t|could not|couldn['’]t) \w+|have no\b)"  # noqa: RUF001
    r"|\b(?:the|your) (?:message|request|question) (?:names?|does not|doesn['’]t|gives?)\b"  # noqa: RUF001
    r"|(?:\bnot|n['’]t) (?:\w+ )?(?:stated|specified|given|clear|known|recorded|say|tell|state|specify)\b"  # noqa: RUF001
    r"|\b(?:I|we) (?:have |['’]ve )?found nothing\b"  # noqa: RUF001
    r"|\bwhat I (?:quote|found|see|have|can see) (?:does|do) not\b"
    r"|\b(?:no|without) (?:information|record|indication|way to (?:tell|know))\b",
    re.IGNORECASE,
)
_ABSENCE = re.compile(
    r"(?:\b(?:no|never|nowhere|not|neither|none)|n['’]t)\b.{0,60}?"  # noqa: RUF001
    r"\b(?:mention(?:s|ed)?|occurs?|appears?|contains?|holds?|named|references?|comes? up|turns? up|found|said|in any"
    r"|anywhere|says? anything)\b"
    r"|\b(?:there (?:is|are)|there['’]s) no\b.{0,60}\b(?:in (?:any|all|the)|anywhere)\b"  # noqa: RUF001
    r"|\bnowhere\b|(?:\b(?:never|not)|n['’]t) (?:once )?(?:occurs?|appears?|comes? up|named|mentioned|mention)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_STRUCTURE = frozenset(
    stem(word)
    for word in [
        "section",
        "heading",
        "headed",
        "chapter",
        "act",
        "paragraph",
        "bullet",
        "beat",
        "titled",
        "subsection",
        "outline",
    ]
)
_ORDER = re.compile(
    r"\b(?:comes?|stands?|is|are) (?:right |directly )?(?:before|after|first|last|between)\b", re.IGNORECASE
)
_NAMED = re.compile(r"[\"“']")
_ACKNOWLEDGED = frozenset(map(stem, ["ok", "okay", "right", "sure", "well", "so", "and", "here"]))
_POINTER = frozenset(
    [
        "see",
        "below",
        "above",
        "evidence",
        "quote",
        "passage",
        "cited",
        "follows",
        "here",
        "so",
        "says",
        "shows",
        "look",
        "receipt",
    ]
)


@record
class Statement:
    """One sentence of the body."""

    text: str
    kind: StatementKind
    reading: Reading
    line: int = 0
    """Line of the reply on which it begins, from 1."""
    is_entry: bool = False
    """Whether it is an entry of a list."""

    @property
    def claims(self) -> bool:
        """Whether it needs evidence."""
        return self.kind in CLAIMS


def read_statements(lines: list[str], skip: set[int]) -> list[Statement]:
    """Return the statements of a body.

    Args:
        lines: The lines of the reply.
        skip: Indexes of lines outside the body: the Evidence line and code blocks.
    """
    found: list[Statement] = []
    before = ""
    for number, text in _sentences(lines, skip):
        quoted = lines[number - 1].lstrip().startswith(">")
        kind: StatementKind = "quoted" if quoted else kind_of(text, before)
        entry = _LIST_MARK.match(lines[number - 1]) is not None
        found.append(Statement(text=text, kind=kind, reading=read(text), line=number, is_entry=entry))
        before = text
        if len(found) >= MAX_STATEMENTS:
            break
    return found


def too_many_statements(text: str) -> bool:
    """Whether a reply reaches the limit of statements, after which `read_statements` stops."""
    if len(text) < MAX_STATEMENTS:
        return False
    lines = split_lines(text)
    return any(True for _ in islice(_sentences(lines, fenced_lines(lines)), MAX_STATEMENTS - 1, None))


def _sentences(lines: list[str], skip: set[int]) -> Iterable[tuple[int, str]]:
    for number, line in enumerate(lines):
        bare = _SPEAKER.sub("", _LIST_MARK.sub("", line).strip()) if number not in skip else ""
        if any(map(str.isalnum, bare)):
            for sentence in sentences(bare) if len(bare) > 1 else [bare]:
                if any(map(str.isalnum, sentence)):
                    yield number + 1, sentence


def kind_of(text: str, before: str = "") -> StatementKind:
    """Classify a sentence; it is a courtesy or `unknown` only if none of its clauses makes a claim."""
    if text.rstrip('*_ "”)').endswith("?") and not text.lower().startswith("did you know"):
        return "question"
    if is_courtesy(text) or is_signature(text, before) or _is_polite(text):
        return "courtesy"
    if _UNKNOWN.search(text):
        return _kind_of_rest(text)
    return claim_kind(text)


def claim_kind(text: str) -> StatementKind:
    """Return the kind of a claim."""
    reading = read(text)
    if verbs_done(text):
        return "action"
    if _ABSENCE.search(text):
        return "absence"
    if (
        not _STRUCTURE.isdisjoint(reading.words)
        or " numbered " in text
        or (_ORDER.search(text) and _NAMED.search(text))
    ):
        return "structural"
    return "pointer" if _points(text, reading) else "content"


def _points(text: str, reading: Reading) -> bool:
    """Whether a sentence only introduces or points to what is quoted or listed (`No.`, `As follows:`)."""
    if reading.negations and reading.stems - form_stems("negation"):
        return False
    plain = read(_PLACE.sub(" ", text))
    if text.rstrip("*_ ").endswith(":") and not plain.amounts:
        return True
    return not plain.amounts and not plain.stems - _pointer_stems() - form_stems("negation")


def _pointer_stems() -> frozenset[str]:
    return frozenset(map(stem, _POINTER))


def _kind_of_rest(text: str) -> StatementKind:
    """Return `unknown`, or the kind of the first other clause that makes a claim."""
    for part in re.split(r"[,;]\s+(?:but|and|though|although|however)\s+|;\s+|\.\s+", text):
        if not _UNKNOWN.search(part) and not _is_polite(part):
            kind = claim_kind(part)
            if kind in CLAIMS:
                return kind
    return "unknown"


@cache
def _courtesies() -> frozenset[str]:
    """Return the stems of polite words that are not in `REQUEST_WORDS` (words typical of requests and greetings)."""
    data = files("tallystick.gate.reply.support").joinpath("data/courtesies.json").read_bytes()
    return frozenset(map(stem, orjson.loads(data)))


def _is_polite(text: str) -> bool:
    """Whether a sentence contains only function words and polite words."""
    reading = read(text)
    if any(each.kind != "weekday" for each in reading.amounts):
        return False
    if any(term.is_code or term.is_name or term.stem in form_stems("negation") for term in reading.terms):
        return False
    if not reading.terms:
        # Without a content word a sentence may still answer: `No.`, `She does.`
        return not reading.words.isdisjoint(_courtesies()) or reading.words <= _ACKNOWLEDGED
    return all(term.stem in _courtesies() or term.folded in REQUEST_WORDS for term in reading.terms)
