"""Planted contradictions in public-domain novels, and their clean twins: precision and recall of the checkers beside grep."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

PROMISES = ("studio.continuity-measured",)
DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[3] / "shared" / "data"))
SEED = 4


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    # Loaded here so that `benchmarks.continuity.novels` and its like can be had without the gate.
    from benchmarks.continuity.measuring import Size, measure, split_of  # noqa: PLC0415
    from benchmarks.continuity.novels import novels  # noqa: PLC0415
    from benchmarks.continuity.report import GOAL, figures, markdown  # noqa: PLC0415

    found = novels(DATA)
    if not found:
        return {"goal": GOAL, "markdown": "Left out: gutenberg-novels is not there (TALLY_DATA)."}
    held = found if full else [novel for novel in found if split_of(novel) == "held"]
    size = Size(books=3, per_kind=4) if full else Size(books=1, per_kind=2)
    measured = [measure(held, DATA, folder, split="held", seed=SEED, size=size)]
    if full:
        dev = [novel for novel in found if split_of(novel) == "dev"]
        measured.append(measure(dev, DATA, folder, split="dev", seed=SEED, size=size))
    return {"goal": GOAL, "markdown": markdown(measured), **figures(measured)}
