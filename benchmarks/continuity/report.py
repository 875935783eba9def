"""The figures as tables, and the cases behind them for whoever tunes rules on the dev set."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.continuity.measuring import CHECKERS, GREP, WHOLE, Measured, Untouched
from benchmarks.continuity.scoring import Score
from benchmarks.continuity.wordings import KINDS

GOAL = "precision ≥ 0.95, recall ≥ 0.80 on wordings no rule was written from; ≤ 3 findings on an untouched novel"
WORDS = 200_000


def markdown(all_measured: Sequence[Measured]) -> str:
    lines = [
        f"| wordings | checker | planted | recall | precision | {' | '.join(KINDS)} | false: twins | false: elsewhere |",
        f"|---|---|---:|---:|---:|{'---:|' * len(KINDS)}---:|---:|",
    ]
    for measured in all_measured:
        scores = measured.scores
        lines += [f"| {measured.split} | {name} | {_row(scores[name])} |" for name in CHECKERS if name in scores]
    lines += ["", *(_left_out(measured) for measured in all_measured if measured.left_out)]
    lines += ["", *_untouched(all_measured), "", *_alarms(all_measured)]
    return "\n".join(lines)


def figures(all_measured: Sequence[Measured]) -> dict[str, object]:
    return {
        measured.split: {
            **{name: score.as_dict() for name, score in measured.scores.items()},
            "untouched": [vars(row) for row in measured.untouched],
        }
        for measured in all_measured
    }


def show(measured: Measured, path: Path) -> None:
    """Missed and false, with their text, one JSON object a line. Only for the set that rules may be tuned on.

    Raises:
        ValueError: The held set, whose wordings nobody who writes rules may read.
    """
    if measured.split != "dev":
        raise ValueError("The held set is not shown: rules must not be written from it.")
    with path.open("w", encoding="utf-8") as out:
        for name, score in measured.scores.items():
            for case in _shown(score):
                out.write(json.dumps({"checker": name, **case}, ensure_ascii=False) + "\n")


def _shown(score: Score) -> Iterator[dict[str, object]]:
    for plant in score.missed:
        yield {
            "what": "missed", "kind": plant.case.kind, "person": plant.case.person.name,
            "established": vars(plant.established), "contradicting": vars(plant.second),
        }  # fmt: skip
    for finding, twin in score.false:
        quotes = [vars(quote) for quote in finding.quotes]
        yield {"what": "false", "rule": finding.rule, "why": twin.case.why if twin else "elsewhere", "quotes": quotes}


def _left_out(measured: Measured) -> str:
    return f"Left out on {measured.split}, not in this installation: {', '.join(sorted(measured.left_out))}."


def _row(score: Score) -> str:
    by_kind = (f"{score.found[kind] / score.planted[kind]:.2f}" if score.planted[kind] else "–" for kind in KINDS)
    elsewhere = score.alarms["elsewhere"]
    cells = (
        str(score.planted.total()), _share(score.recall), _share(score.precision), *by_kind, str(score.wrong - elsewhere), str(elsewhere)
    )  # fmt: skip
    return " | ".join(cells)


def _share(value: float | None) -> str:
    return "–" if value is None else f"**{value:.3f}**"


def _untouched(all_measured: Sequence[Measured]) -> Iterator[str]:
    rows: dict[str, Untouched] = {}
    for measured in all_measured:
        rows |= {row.novel: row for row in measured.untouched}
    yield f"| novel as it is | words | {WHOLE}: findings | {GREP}: findings | seconds for {WORDS:,} words |"
    yield "|---|---:|---:|---:|---:|"
    for row in rows.values():
        pace = "–" if row.seconds is None else f"{row.seconds * WORDS / row.words:.1f}"
        yield f"| {row.novel} | {row.words:,} | {row.findings.get(WHOLE, '–')} | {row.findings.get(GREP, '–')} | {pace} |"


def _alarms(all_measured: Sequence[Measured]) -> Iterator[str]:
    for measured in all_measured:
        for name, score in measured.scores.items():
            if score.alarms and name != GREP:
                reasons = ", ".join(f"{why} {times}" for why, times in score.alarms.most_common())
                yield f"False alarms of {name} on {measured.split}, by why they are clean: {reasons}."
