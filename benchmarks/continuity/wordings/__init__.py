"""The wordings, in two sets: one to tune rules by, one that no rule was written from."""

from __future__ import annotations

import dataclasses
import json
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
HELD = tuple(sorted(Path(__file__).parent.glob("held_*.json")))
"""Each by another hand than the forms and the rules: nobody who writes rules reads them."""


def forms(split: Split) -> dict[str, tuple[Form, ...]]:
    """Kind → its forms, each with the wordings of this set alone."""
    chosen = FORMS if split == "dev" else tuple(map(_held, FORMS))
    return {kind: tuple(form for form in chosen if form.kind == kind) for kind in KINDS}


def _held(form: Form) -> Form:
    told = _told()[f"{form.kind}/{form.name}"]
    return dataclasses.replace(
        form,
        established=tuple(told["established"]),
        contradicting=tuple(told["contradicting"]),
        clean=tuple((why, words) for why, words in told["clean"]),
    )


@cache
def _told() -> dict[str, dict[str, Any]]:
    told: dict[str, dict[str, Any]] = {}
    for hand in HELD:
        for name, lists in json.loads(hand.read_text(encoding="utf-8")).items():
            for which, wordings in lists.items():
                told.setdefault(name, {}).setdefault(which, []).extend(wordings)
    return told
