"""The narrative voice of a scene: person, adverbs, filter words, and the readability formulas of the field.

Only narration is analysed, not dialogue. Syllables are counted by hyphenation patterns.

    Flesch reading ease      206.835 - 1.015 W/S - 84.6 Y/W
    Flesch-Kincaid grade     0.39 W/S + 11.8 Y/W - 15.59
    Gunning fog              0.4 (W/S + 100 C/W)
    SMOG                     1.0430 sqrt(30 C/S) + 3.1291
    Coleman-Liau             0.0588 L - 0.296 N - 15.8     (letters and sentences per 100 words)
    Automated readability    4.71 letters/W + 0.5 W/S - 21.43

W words, S sentences, Y syllables, C words of three or more syllables.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from tallystick.records import record
from tallystick.rooms.studio.prose.findings import Finding, around, places_of
from tallystick.rooms.studio.prose.paragraphs import WORD_LISTS, Paragraph, Prose, words_of

_COMPLEX = 3


def readability(words: Sequence[str], sentences: int) -> dict[str, float]:
    """All measures of a text; empty without words."""
    count = len(words)
    if not count or not sentences:
        return {}
    syllables = [syllable_count(word.lower()) for word in words]
    letters = sum(sum(map(str.isalpha, word)) for word in words)
    hard = sum(one >= _COMPLEX for one in syllables)
    length, weight = count / sentences, sum(syllables) / count
    return {
        "flesch_reading_ease": 206.835 - 1.015 * length - 84.6 * weight,
        "flesch_kincaid_grade": 0.39 * length + 11.8 * weight - 15.59,
        "gunning_fog": 0.4 * (length + 100 * hard / count),
        "smog": 1.0430 * math.sqrt(30 * hard / sentences) + 3.1291,
        "coleman_liau": 0.0588 * 100 * letters / count - 0.296 * 100 * sentences / count - 15.8,
        "automated_readability": 4.71 * letters / count + 0.5 * length - 21.43,
    }


@lru_cache(maxsize=65_536)
def syllable_count(word: str) -> int:
    """Syllables of a word: the places where it may be divided, and one."""
    return sum(len(_patterns().positions(part)) + 1 for part in word.replace("’", "'").split("-") if part)  # noqa: RUF001


@cache
def _patterns() -> Any:
    import pyphen  # type: ignore[import-untyped] # noqa: PLC0415 - loads a dictionary

    # Typesetters leave two letters before a break and three after it; syllables know no such rule.
    return pyphen.Pyphen(lang="en_US", left=1, right=1)


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
_NO_ADVERBS = frozenset(WORD_LISTS["not_adverbs"].split())
_SENSED = (
    r"saw|heard|felt|noticed|watched|reali[sz]ed|wondered|knew|decided|sensed|observed|"
    r"could[ \n]+(?:see|hear|feel|smell|taste)"
)
_INNER = (
    r"thought|wondered|knew|felt|reali[sz]ed|hoped|feared|wished|remembered|regretted|longed|guessed|suspected|believed"
)


@record
class Narrator:
    """The narrator, as far as counting shows."""

    person: str
    """`first`, `second`, `third` or `unclear`."""
    declared: str | None
    """The declared point of view."""
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


def narrator_of(prose: Prose, declared: str | None) -> Narrator:
    """The narrator of a scene."""
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
    return Narrator(person=person, declared=declared, named=named)


def voice_findings(prose: Prose, declared: str | None, others: Sequence[str]) -> Iterator[Finding]:
    """Adverbs, filter words, slips of the person, and thoughts of somebody else.

    Args:
        prose: The scene.
        declared: Whose point of view it is.
        others: Names of the other characters of the book.
    """
    patterns = [("adverbs", "Adverbs in -ly in narration.", _ADVERB), ("filter_words", _FILTERED, _filters(declared))]
    if declared and others and narrator_of(prose, declared).person == "third":
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


_FILTERED = "Filter words: they report a perception instead of the thing itself."


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
