"""Whose voice a scene is told in: person, adverbs, words that put the senses between reader and world.

Only narration is looked at; people in the scene may talk as they like.
"""

import re
from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.prose.findings import Finding, around, places_of
from tallystick.rooms.studio.prose.readability import readability
from tallystick.rooms.studio.prose.reading import Paragraph, Prose, words_of

FIRST_PERSON = 0.015
"""Share of `I` and its forms from which narration is in the first person; novels have 4 to 8 %, or next to none."""
SLIPS = 0.004
"""Share below which a first person in other narration is a slip."""
WINDOW = 100
"""Words over which variety is measured, so that long scenes do not look poorer than short ones."""

_FIRST = re.compile(r"\b(?:I|I'm|I’m|I'd|I’d|I've|I’ve|I'll|I’ll|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b")  # noqa: RUF001
_SECOND = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_THIRD = re.compile(r"\b(?:he|she|they|him|her|his|hers|them|their|theirs|himself|herself|themselves)\b", re.IGNORECASE)
_ITALIC = re.compile(r"[*_][^*_\n]{1,400}[*_]")
_ADVERB = re.compile(r"\b[a-z]{2,20}ly\b")
_NO_ADVERBS = frozenset({
    "only", "early", "family", "belly", "bully", "fly", "july", "ally", "reply", "apply", "supply", "rely",
    "ugly", "holy", "lonely", "lovely", "friendly", "silly", "jelly", "folly", "bodily", "daily", "weekly",
    "monthly", "yearly", "ghastly", "ghostly", "deadly", "lively", "likely", "unlikely", "elderly", "homely",
    "costly", "curly", "wooly", "woolly", "hilly", "chilly", "burly", "surly", "steely", "wily", "oily", "doily",
    "rally", "tally", "sally", "assembly", "anomaly", "butterfly", "dragonfly", "melancholy", "monopoly",
    "worldly", "orderly", "cowardly", "heavenly", "earthly", "fatherly", "motherly", "brotherly", "sisterly",
    "scholarly", "leisurely", "sickly", "pebbly", "wobbly", "bubbly", "crumbly", "prickly", "stubbly", "wrinkly",
    "comply", "imply", "multiply",
})  # fmt: skip
_SENSED = (
    r"saw|heard|felt|noticed|watched|reali[sz]ed|wondered|knew|decided|sensed|observed|"
    r"could[ \n]+(?:see|hear|feel|smell|taste)"
)
_INNER = (
    r"thought|wondered|knew|felt|reali[sz]ed|hoped|feared|wished|remembered|regretted|longed|guessed|suspected|believed"
)


@record
class Teller:
    """Who tells, as far as it can be counted."""

    person: str
    """`first`, `second`, `third` or `unclear`."""
    declared: str | None
    """Whose point of view the author says it is."""
    named: int
    """How often that name stands in narration."""


def voice_figures(prose: Prose) -> dict[str, float]:
    """The measures of voice; empty without words."""
    words = [word for sentence in prose.sentences for word in sentence.words]
    if not words:
        return {}
    narration = _narration(prose)
    told = max(1, len(words_of(narration)))
    return readability(words, len(prose.sentences)) | {
        "vocabulary": _variety(words),
        "adverbs_per_1000": 1000 * sum(1 for _ in _adverbs(narration)) / told,
        "filter_words_per_1000": 1000 * len(_filters(None).findall(narration)) / told,
        "first_person": len(_FIRST.findall(narration)) / told,
        "third_person": len(_THIRD.findall(narration)) / told,
    }


def teller(prose: Prose, declared: str | None) -> Teller:
    """Who tells the scene."""
    narration = _narration(prose)
    told = max(1, len(words_of(narration)))
    first, second, third = (len(form.findall(narration)) / told for form in (_FIRST, _SECOND, _THIRD))
    if first >= FIRST_PERSON:
        person = "first"
    elif second >= 2 * FIRST_PERSON and second > third:
        person = "second"
    else:
        person = "third" if third else "unclear"
    named = len(re.findall(rf"\b{re.escape(declared.split()[0])}\b", narration)) if declared else 0
    return Teller(person=person, declared=declared, named=named)


def voice_findings(prose: Prose, declared: str | None, others: Sequence[str]) -> Iterator[Finding]:
    """Adverbs, filter words, slips of the person, and thoughts of somebody else.

    Args:
        prose: The scene.
        declared: Whose point of view it is.
        others: Names of the other characters of the book.
    """
    patterns = [("adverbs", "Adverbs in -ly in narration.", _ADVERB), ("filter_words", _FILTERED, _filters(declared))]
    if declared and others and teller(prose, declared).person == "third":
        names = "|".join(re.escape(name) for name in sorted(others, key=len, reverse=True))
        patterns.append(
            (
                "head_hop",
                f"Thoughts of somebody other than {declared}, whose point of view it is.",
                re.compile(rf"\b(?:{names})[ \n]+(?:{_INNER})\b"),
            )
        )
    if _slips(prose):
        patterns.append(("person_slip", "The first person in narration that is otherwise in the third.", _FIRST))
    for kind, message, pattern in patterns:
        marks = list(_marks(prose, pattern, adverbs=kind == "adverbs"))
        if marks:
            places = places_of(prose.source, marks)
            yield Finding(kind=kind, focus="voice", message=message, count=len(marks), places=places)


_FILTERED = "Words that tell that something is perceived, where the thing itself could be told."


def _slips(prose: Prose) -> bool:
    narration = _narration(prose)
    found = len(_FIRST.findall(narration))
    return 0 < found < SLIPS * max(1, len(words_of(narration)))


def _narration(prose: Prose) -> str:
    return "\n".join(_told(paragraph) for paragraph in prose.paragraphs)


def _told(paragraph: Paragraph) -> str:
    """Narration without words in italics, which are thoughts, letters or titles."""
    return _ITALIC.sub(lambda found: " " * len(found.group()), paragraph.narration)


def _marks(prose: Prose, pattern: re.Pattern[str], *, adverbs: bool) -> Iterator[tuple[int, str]]:
    for paragraph in prose.paragraphs:
        for found in pattern.finditer(_told(paragraph)):
            if adverbs and found.group() in _NO_ADVERBS:
                continue
            first, text = around(paragraph.text, *found.span())
            yield paragraph.line_at(first), text


def _adverbs(narration: str) -> Iterator[str]:
    return (found for found in _ADVERB.findall(narration) if found not in _NO_ADVERBS)


def _filters(declared: str | None) -> re.Pattern[str]:
    name = rf"|{re.escape(declared.split()[0])}" if declared else ""
    return re.compile(rf"\b(?:I|[Hh]e|[Ss]he|[Tt]hey{name})[ \n]+(?:{_SENSED})\b")


def _variety(words: Sequence[str]) -> float:
    """Different words in a hundred, on average over every hundred words in a row."""
    lowered = [word.lower() for word in words]
    if len(lowered) <= WINDOW:
        return len(set(lowered)) / len(lowered)
    shares = [
        len(set(lowered[start : start + WINDOW])) / WINDOW for start in range(0, len(lowered) - WINDOW + 1, WINDOW // 4)
    ]
    return sum(shares) / len(shares)
