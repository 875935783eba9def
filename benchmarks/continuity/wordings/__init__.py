"""The wordings, in two halves: one to tune rules by, one that no rule was written from."""

from __future__ import annotations

import dataclasses
import random
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
HALVES_SEED = 20_260
"""Which wording falls into which half never depends on the seed of a run."""


def forms(split: Split) -> dict[str, tuple[Form, ...]]:
    """Kind → its forms, each with the wordings of this half alone."""
    halves = [_half(form, split) for form in FORMS]
    return {kind: tuple(form for form in halves if form.kind == kind) for kind in KINDS}


def _half(form: Form, split: Split) -> Form:
    return dataclasses.replace(
        form,
        established=_part(form, form.established, split),
        contradicting=_part(form, form.contradicting, split),
        clean=_part(form, form.clean, split),
    )


def _part(form: Form, wordings: tuple[Any, ...], split: Split) -> tuple[Any, ...]:
    order = list(wordings)
    random.Random(f"{HALVES_SEED} {form.kind} {form.name} {len(wordings)}").shuffle(order)
    half = len(order) // 2
    return tuple(order[:half] if split == "dev" else order[half:])
