"""LoCoMo (snap-research/locomo): long conversations, questions, and the turns in which the answers stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

NO_ANSWER = 5
"""The category of questions that swap the speakers, so that nothing said answers them."""
_ID = re.compile(r"D\d+:\d+")
_DATE = re.compile(r"(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d{4})")


@dataclass(frozen=True)
class Turn:
    id: str
    speaker: str
    text: str
    """With the caption of the image that was sent along, if there was one: it is what the other one saw."""
    session: str
    at: int


@dataclass(frozen=True)
class Asked:
    text: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True)
class Conversation:
    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Asked, ...]
    """Those whose evidence names turns that are there."""


def conversations(data: Path) -> Iterator[Conversation]:
    """Every conversation of the files in `locomo/dev`."""
    for path in sorted((data / "locomo" / "dev").glob("*.json")):
        for raw in json.loads(path.read_text(encoding="utf-8")):
            yield _conversation(raw)


def _conversation(raw: dict) -> Conversation:
    said, turns = raw["conversation"], []
    numbers = sorted(int(key.split("_")[1]) for key in said if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        at = _seconds(said[f"session_{number}_date_time"])
        for place, turn in enumerate(said[f"session_{number}"]):
            caption = turn.get("blip_caption")
            text = f"{turn['text']} [{caption}]" if caption else turn["text"]
            turns.append(Turn(turn["dia_id"], turn["speaker"], text, f"{raw['sample_id']}/{number}", at + place))
    there = {turn.id for turn in turns}
    questions = []
    for asked in raw["qa"]:
        evidence = frozenset(found for each in asked["evidence"] for found in _ID.findall(each)) & there
        if evidence:
            questions.append(Asked(asked["question"], evidence, asked["category"]))
    return Conversation(raw["sample_id"], tuple(turns), tuple(questions))


def _seconds(text: str) -> int:
    found = _DATE.search(text)
    if found is None:
        message = f"no date: {text!r}"
        raise ValueError(message)
    hour, minute, half, day, month, year = found.groups()
    clock = int(hour) % 12 + (12 if half == "pm" else 0)
    moment = datetime.strptime(f"{day} {month} {year}", "%d %B %Y").replace(tzinfo=UTC)
    return int(moment.timestamp()) + clock * 3600 + int(minute) * 60
