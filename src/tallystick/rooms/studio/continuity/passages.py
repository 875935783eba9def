"""The paragraphs of a scene as the check reads them: one line each, with speech, narrator and story date marked."""

import re
from collections.abc import Iterator
from functools import cached_property

from tallystick.rooms.studio.book.model import Scene
from tallystick.rooms.studio.continuity.speech import spoken_spans
from tallystick.rooms.studio.continuity.story_time import dates_in, heading_date
from tallystick.text.spans import Span

_GAP = re.compile(r"\n[^\S\n]*\n\s*")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|(?:[-*_=~]\s*){3,}$)")
_PAPER = re.compile(r"\b(?:letter|telegram|diary|journal|memorandum|note|log|report)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|me|my)\b")
_ENOUGH_I = 0.01
"""The share of `I` among the narration's words from which somebody of the story tells it."""
_EMPHASIS = re.compile(r"(?<!\w)([_*]{1,3})(?=\S)((?:[^\s_*]+\s){0,3}[^\s_*]+)\1(?!\w)")
"""Of a few words; longer emphasis is somebody's thought or a letter."""
_SHORT = 120
_LICENCE_START = re.compile(r"\*{3}\s*START OF (?:THE|THIS)", re.IGNORECASE)
_LICENCE_END = re.compile(r"\*{3}\s*END OF (?:THE|THIS)", re.IGNORECASE)
_PREFACE = 400
"""Lines within which the licence of an e-text ends."""


class Passage:
    """One paragraph."""

    def __init__(self, scene: Scene, number: int, text: str, lines: list[tuple[int, int]]) -> None:
        self.scene, self.number, self.text = scene, number, text
        self._lines = lines
        self.spoken: list[Span] = []
        self.teller: str | None = None
        """Who says `I`, by name as the scene gives it."""
        self.day: int | None = None
        """The day it plays on, as an ordinal."""
        self.date_at = 0
        """Where it names that day."""
        self.told_day: int | None = None
        """The day it names itself."""
        self.dated = False
        """Whether it opens with a date."""

    def line_at(self, offset: int) -> int:
        """The line of the file that a character stands on."""
        return next((line for start, line in reversed(self._lines) if start <= offset), self._lines[0][1])

    def is_spoken(self, offset: int) -> bool:
        """Whether a character stands in somebody's speech."""
        return any(span.start <= offset < span.end for span in self.spoken)

    @cached_property
    def narration(self) -> str:
        """The text with speech blanked out."""
        kept = list(self.text)
        for span in self.spoken:
            kept[span.start : span.end] = " " * (span.end - span.start)
        return "".join(kept)


def passages_of(scene: Scene) -> list[Passage]:
    """The paragraphs of a scene, in order."""
    year = _year(scene)
    passages = list(_paragraphs(scene))
    text = "\n\n".join(passage.text for passage in passages)
    starts, at = [], 0
    for passage in passages:
        starts.append((at, at + len(passage.text)))
        at += len(passage.text) + 2
    spans = spoken_spans(text, starts)
    for passage, (start, end) in zip(passages, starts, strict=True):
        passage.spoken = [Span(max(a, start) - start, min(b, end) - start) for a, b in spans if a < end and b > start]
    _tell(scene, passages, year)
    return passages


def _paragraphs(scene: Scene) -> Iterator[Passage]:
    held: list[tuple[int, str]] = []
    number = 0
    lines = scene.source.lines
    start = next((at + 1 for at, raw in enumerate(lines[:_PREFACE]) if _LICENCE_START.match(raw)), scene.body_line - 1)
    end = next((at for at in range(len(lines) - 1, start, -1) if _LICENCE_END.match(lines[at])), len(lines))
    for line, raw in enumerate([*lines[start:end], ""], start + 1):
        if raw.strip() and not _HEADING.match(raw):
            held.append((line, raw))
            continue
        if held:
            yield _joined(scene, number, held)
            number, held = number + 1, []


def _joined(scene: Scene, number: int, held: list[tuple[int, str]]) -> Passage:
    text, lines = "", []
    for line, raw in held:
        written = " ".join(_EMPHASIS.sub(r"\2", raw.lstrip("> ").replace("``", "“").replace("''", "”")).split())
        text += " " if text else ""
        lines.append((len(text), line))
        text += written
    return Passage(scene, number, text, lines)


def _tell(scene: Scene, passages: list[Passage], year: int | None) -> None:
    """Say who tells each passage, and on which day it plays."""
    front = next((text for key in ("date", "when", "day") if (text := str(scene.front.get(key) or ""))), "")
    begun = next(dates_in(front, year), None)
    day = begun.day if begun else None
    teller, letter = scene.pov if _first_person(passages) else None, False
    for passage in passages:
        if len(passage.text) < _SHORT and _PAPER.search(passage.text) and not passage.text.rstrip('"”').endswith("?"):
            teller, letter = passage.text, "letter" in passage.text.lower()
        dated = heading_date(passage.text, year)
        if dated is not None:
            day, passage.dated = dated.day, True
        day = _named_day(passage, day, year)
        passage.day, passage.teller = day, teller
        if letter and passage.text.startswith(('"', "“")):
            passage.spoken = [span for span in passage.spoken if span.start > 0]


_ON = re.compile(r"\b(?:it\s+was|on)\s+(?:the\s+)?(?:\w+day,?\s+(?:the\s+)?)?\Z", re.IGNORECASE)


def _named_day(passage: Passage, day: int | None, year: int | None) -> int | None:
    """The day a paragraph's narration sets: `It was Monday the 3rd of April`."""
    for found in dates_in(passage.narration, year):
        if _ON.search(passage.narration[: found.start]) or (
            found.weekday and _ON.search(passage.narration[: found.start] + "")
        ):
            passage.date_at, passage.told_day = found.start, found.day
            return found.day if day is None else day
    passage.told_day = passage.told_day or (day if passage.dated else None)
    return day


def _first_person(passages: list[Passage]) -> bool:
    text = " ".join(passage.narration for passage in passages)
    letters = sum(passage.text.startswith('"') for passage in passages) > len(passages) // 2
    text = " ".join(passage.text for passage in passages) if letters else text
    return len(_FIRST_PERSON.findall(text)) > _ENOUGH_I * max(1, len(text.split()))


def _year(scene: Scene) -> int | None:
    for key in ("date", "when", "year", "day"):
        found = re.search(r"\b(1[0-9]\d\d|20\d\d)\b", str(scene.front.get(key) or ""))
        if found:
            return int(found[1])
    return None
