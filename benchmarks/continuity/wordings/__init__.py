"""The wordings, in two sets: one to tune rules by, one that no rule was written from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, Literal

from benchmarks.continuity.wordings.age import AGE
from benchmarks.continuity.wordings.date import BIRTHDAY, CALENDAR, COUNT, WEEKDAY, YEAR
from benchmarks.continuity.wordings.death import DEATH
from benchmarks.continuity.wordings.eyes import EYES
from benchmarks.continuity.wordings.form import Form
from benchmarks.continuity.wordings.hair import HAIR
from benchmarks.continuity.wordings.name import NAME
from benchmarks.continuity.wordings.place import BORN, HOME, NIGHT

Split = Literal["dev", "held"]
FORMS: tuple[Form, ...] = (
    EYES, HAIR, AGE, WEEKDAY, BIRTHDAY, COUNT, YEAR, CALENDAR, BORN, HOME, NIGHT, DEATH, NAME,
)  # fmt: skip
KINDS: tuple[str, ...] = tuple(dict.fromkeys(form.kind for form in FORMS))
_HANDS: dict[Split, str] = {"dev": "seen_*.json", "held": "held_*.json"}
"""Each hand is another than the forms' and the rules'. Nobody who writes rules reads a held one; once its failures were
looked at it is a seen one, and a new hand is asked for."""


def forms(split: Split) -> dict[str, tuple[Form, ...]]:
    """Kind → its forms, each with the wordings of this set alone."""
    chosen = tuple(_with_hands(form, split) for form in FORMS)
    return {kind: tuple(form for form in chosen if form.kind == kind) for kind in KINDS}


def seen_hands() -> tuple[str, ...]:
    """The names of those who may be learned from."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob(_HANDS["dev"])))


def forms_of(hands: Collection[str]) -> tuple[Form, ...]:
    """The forms with the wordings of some hands alone."""
    told: dict[str, dict[str, list[Any]]] = {}
    for hand in sorted(hands):
        _take(Path(__file__).parent / f"{hand}.json", told)
    return tuple(
        dataclasses.replace(
            form,
            established=tuple(lists.get("established", ())),
            contradicting=tuple(lists.get("contradicting", ())),
            clean=tuple((why, words) for why, words in lists.get("clean", ())),
        )
        for form in FORMS
        if (lists := told.get(f"{form.kind}/{form.name}", {}))
    )


def _with_hands(form: Form, split: Split) -> Form:
    told, own = _told(split)[f"{form.kind}/{form.name}"], split == "dev"
    if not own:
        # Two hands may come upon the same plain sentence: what a seen one wrote is not unseen.
        seen = _told("dev")[f"{form.kind}/{form.name}"]
        told = {which: [one for one in wordings if one not in seen[which]] for which, wordings in told.items()}
    return dataclasses.replace(
        form,
        established=(*(form.established if own else ()), *told["established"]),
        contradicting=(*(form.contradicting if own else ()), *told["contradicting"]),
        clean=(*(form.clean if own else ()), *((why, words) for why, words in told["clean"])),
    )


@cache
def _told(split: Split) -> dict[str, dict[str, Any]]:
    told: dict[str, dict[str, Any]] = {}
    for hand in sorted(Path(__file__).parent.glob(_HANDS[split])):
        _take(hand, told)
    return told


def _take(hand: Path, told: dict[str, dict[str, Any]]) -> None:
    for name, lists in json.loads(hand.read_text(encoding="utf-8")).items():
        for which, wordings in lists.items():
            told.setdefault(name, {}).setdefault(which, []).extend(wordings)
