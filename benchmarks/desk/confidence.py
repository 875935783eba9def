"""Learns the desk's confidence from messages of several companies, and says how far it holds on one it has not seen.

Reads folders with `kb/`, `questions.jsonl` and perhaps `rewordings.jsonl`. A message counts as answered when the passages
that the draft would quote hold every required fact. Cross-fits leave out one company after the other. With `--write` the
weights of this way of retrieval are written to `confidence.json`.

    python -m benchmarks.desk.confidence FOLDER… [--embedder minilm-int8|wordllama-256|lexical] [--write]
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.desk.outside import THRESHOLDS, holds, messages_of, open_desk
from tallystick.rooms.desk.kb.confidence import LEXICAL, WEIGHTS
from tallystick.rooms.desk.kb.knowledge import KnowledgeBase
from tallystick.rooms.desk.reply.draft import NEAR, PASSAGES, WITH_SEVERAL_QUESTIONS
from tallystick.rooms.desk.room import Desk
from tallystick.rooms.desk.triage.message import essence

LEARNT = ("answerable", "uncovered", "needs_person")
"""Categories to learn from; what contradicts itself or gives orders is found by other rules."""
STRENGTH = 0.05
"""Inverse of the regularisation: little, since what is learnt must hold elsewhere."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--embedder", default="minilm-int8")
    parser.add_argument("--part", action="append", default=[], help="FOLDER_NAME=N,N/M: only these parts of a folder")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    parts = dict(one.split("=") for one in given.part)
    rows = [row for folder in given.folders for row in rows_of(folder, given.embedder, parts.get(folder.name))]
    names = sorted({name for row in rows for name in row["features"]})
    table = np.array([[row["features"].get(name, 0.0) for name in names] for row in rows])
    truth = np.array([row["right"] for row in rows])
    company = np.array([row["company"] for row in rows])
    for held in sorted(set(company)):
        if len(set(company)) > 1:
            mine = company == held
            bias, weights = fitted(table[~mine], truth[~mine])
            report(
                held, probabilities(table[mine], bias, weights), truth[mine], [r for r in rows if r["company"] == held]
            )
    bias, weights = fitted(table, truth)
    learnt = {"bias": round(bias, 4), "weights": {n: round(float(w), 4) for n, w in zip(names, weights, strict=True)}}
    print(json.dumps(learnt))
    if given.write:
        kept = json.loads(WEIGHTS.read_text(encoding="utf-8"))
        WEIGHTS.write_text(json.dumps({**kept, given.embedder: learnt}, indent=1) + "\n", encoding="utf-8")


def rows_of(folder: Path, embedder: str, part: str | None) -> Iterator[dict[str, Any]]:
    messages = [
        one
        for chosen in (part.split("/")[0].split(",") if part else [""])
        for one in messages_of(folder / "questions.jsonl", f"{chosen}/{part.split('/')[1]}" if part else None)
    ]
    reworded = folder / "rewordings.jsonl"
    if reworded.exists():
        messages += messages_of(reworded)
    with (
        tempfile.TemporaryDirectory() as made,
        open_desk(Path(made), folder / "kb", kb_meaning=embedder != LEXICAL) as gate,
    ):
        room = gate.room("desk")
        assert isinstance(room, Desk)
        for one in messages:
            if one["category"] in LEARNT:
                yield {**row_of(room.library.kb, one), "company": folder.name}


def row_of(kb: KnowledgeBase, one: Mapping[str, Any]) -> dict[str, Any]:
    asked = essence(one["text"])
    found = kb.search(asked, k=WITH_SEVERAL_QUESTIONS)
    several = asked.count("?") > 1
    best = found.hits[0].score if found.hits else 0.0
    quoted = [hit.text for at, hit in enumerate(found.hits) if hit.score >= best * NEAR or (several and at == 1)]
    draft = "\n".join(quoted[: WITH_SEVERAL_QUESTIONS if several else PASSAGES])
    right = one["category"] == "answerable" and all(holds(draft, fact) for fact in one["must_contain"])
    wrong = any(holds(draft, fact) for fact in one.get("must_not_contain") or [])
    return {"features": found.features, "right": int(right and not wrong), "category": one["category"]}


def fitted(table: NDArray[Any], truth: NDArray[Any]) -> tuple[float, NDArray[Any]]:
    """Fit on standardised features, and give the weights for the raw ones."""
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    model = LogisticRegression(C=STRENGTH, max_iter=5_000).fit((table - mean) / spread, truth)
    weights = np.where(spread > 1e-6, model.coef_[0] / spread, 0.0)
    return float(model.intercept_[0] - (weights * mean).sum()), weights


def probabilities(table: NDArray[Any], bias: float, weights: NDArray[Any]) -> NDArray[Any]:
    found: NDArray[Any] = 1 / (1 + np.exp(-(bias + table @ weights)))
    return found


def report(held: str, found: NDArray[Any], truth: NDArray[Any], rows: Sequence[Mapping[str, Any]]) -> None:
    asked = np.array([row["category"] == "answerable" for row in rows])
    pairs = found[truth == 1][:, None] - found[truth == 0][None, :]
    area = float(((pairs > 0) + (pairs == 0) / 2).mean()) if pairs.size else math.nan
    print(f"{held}: not learnt from; area {area:.2f}; {asked.sum()} answerable, {truth.sum()} with all facts")
    for least in THRESHOLDS:
        sent = found >= least
        right, wrong = (sent & (truth == 1)).sum(), (sent & asked & (truth == 0)).sum()
        print(
            f"  {least:.2f}: {right} right, {wrong} wrong, {(sent & ~asked).sum()} of {(~asked).sum()} not to be sent"
        )


if __name__ == "__main__":
    main()
