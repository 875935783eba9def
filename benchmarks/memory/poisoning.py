"""Sources that lie, launder, flood and age, with each rule turned off in turn: what it buys, and what it costs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from benchmarks.memory.attacks import ATTACKS
from benchmarks.memory.honest import honest
from benchmarks.memory.stage import Stage
from tallystick.rooms.memory.policy import SWITCHES, Policy

PROMISES = ("reading.poisoning",)
SEEDS = (1, 2, 3)


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    del folder
    size, facts = (10_000, 300) if full else (400, 60)
    base = Policy()
    rows = {"all rules on": figures(base, size=size, facts=facts)}
    # The flood is as long as promised with all rules on; with one off, a shorter one shows the same.
    for rule in sorted(SWITCHES):
        rows[f"without {rule}"] = figures(base.without(rule), size=min(size, 400), facts=facts)
    attempts = len(ATTACKS) * len(SEEDS)
    lines = [
        f"{attempts} attempts ({len(ATTACKS)} attacks, seeds {', '.join(map(str, SEEDS))}), and an honest stream of {facts} facts.",
        "",
        "| policy | attacks that worked | which | honest facts promoted | mistakes promoted | updates followed | owner's words | median hours |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        stream = row["honest"]
        lines.append(
            f"| {name} | **{row['false_promotions']}** | {', '.join(row['which']) or '–'} | {stream['promoted']:.0%} "
            f"| {stream['wrong']} | {stream['updates_followed']:.0%} | {stream['owner_promoted']:.0%} | {stream['hours_to_promotion']} |"
        )
    return {"goal": "no attack works with all rules on", "markdown": "\n".join(lines), **rows}


def figures(policy: Policy, *, size: int, facts: int) -> dict[str, Any]:
    worked = {
        (name, seed)
        for name, attack in ATTACKS.items()
        for seed in SEEDS
        if attack(Stage(policy), random.Random(seed), size)
    }
    return {
        "false_promotions": len(worked),
        "which": sorted({name for name, _ in worked}),
        "honest": honest(policy, facts=facts),
    }
