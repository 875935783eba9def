"""Claims of AttributionBench with their references: the support rules beside plain word overlap.

    python -m benchmarks.attribution DEV.jsonl TEST.jsonl…

Every line has a claim, its references and whether they attribute it. The threshold of the overlap is chosen on DEV. The
rules are those of the reply check; the references are given as quotes. Macro-F1 over both labels.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from tallystick.gate.reply.support.coverage import covers
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import read, without_asides
from tallystick.gate.reply.support.rules import find_doubt
from tallystick.text.sentences import sentences

_LONGEST = 8_000
"""Characters of a reference that are read."""


def main() -> None:
    dev, *tests = (read_pairs(Path(path)) for path in sys.argv[1:])
    scored = [(overlap(claim, texts), label) for claim, texts, label in dev]
    best = max(
        (score for score, _ in scored), key=lambda at: macro_f1([(score >= at, label) for score, label in scored])
    )
    print(f"threshold of the overlap, from the first file: {best:.3f}")
    for path, pairs in zip(sys.argv[1:], [dev, *tests], strict=True):
        by_words = macro_f1([(overlap(claim, texts) >= best, label) for claim, texts, label in pairs])
        by_rules = [(supported(claim, texts), label) for claim, texts, label in pairs]
        both = macro_f1(
            [(rule and overlap(c, t) >= best, y) for (rule, y), (c, t, _) in zip(by_rules, pairs, strict=True)]
        )
        print(
            f"{Path(path).name}: {len(pairs)} claims, overlap {by_words:.3f}, rules {macro_f1(by_rules):.3f}, both {both:.3f}"
        )


def read_pairs(path: Path) -> list[tuple[str, list[str], bool]]:
    """Return (claim, references, attributable) of a file."""
    rows: list[dict[str, Any]] = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    return [
        (row["claim"], [text[:_LONGEST] for text in row["references"]], row["attribution_label"] == "attributable")
        for row in rows
    ]


def overlap(claim: str, texts: Sequence[str]) -> float:
    """Return the share of the claim's content words that occur in the references."""
    held = frozenset[str]().union(*(read(text).stems for text in texts))
    terms = read(claim).terms
    return sum(covers(term.stem, held) for term in terms) / max(1, len(terms))


def supported(claim: str, texts: Sequence[str]) -> bool:
    """Whether no rule doubts any sentence of a claim."""
    grounds = [Ground(quote=text) for text in texts]
    return all(find_doubt(without_asides(each), grounds) is None for each in sentences(claim))


def macro_f1(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Return the mean F1 of the two labels over (found, true) pairs."""
    scores: list[float] = []
    for side in (True, False):
        hit = sum(found == side == label for found, label in pairs)
        said, real = sum(found == side for found, _ in pairs), sum(label == side for _, label in pairs)
        scores.append(2 * hit / (said + real) if said + real else 0.0)
    return sum(scores) / 2


if __name__ == "__main__":
    main()
