"""The tree of a project of 200,000 words: first look, and looks after it.

200 scenes of 1,000 words, 120 cards, an outline. The first look reads and hashes every file; later ones only those
that have changed. A plain recursive listing of names (`os.walk`) stands beside it.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tallystick.rooms.studio.workspace.files import FileTree
from tallystick.storage.tree import TreeFiles

PROMISES = ("studio.tree-speed",)
SCENES, WORDS, CARDS = 200, 1_000, 120
GOAL_MS = 50


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    root = folder / "project"
    write_project(root)
    # Files that changed a moment ago are read again on purpose; these are as old as an author's.
    for path in root.rglob("*.md"):
        os.utime(path, (time.time() - 3600, time.time() - 3600))
    time.sleep(0.2)
    rounds = 60 if full else 20
    kept = FileTree(TreeFiles(root))
    kept.look()

    def shown() -> dict[str, Any]:
        root_node, _ = kept.look()
        return root_node.as_dict()

    cases: dict[str, Callable[[], Any]] = {
        "os.walk, names only": lambda: list(os.walk(root)),
        "first look: every file read and hashed": lambda: FileTree(TreeFiles(root)).look(),
        "later look": kept.look,
        "later look, as JSON": shown,
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, look in cases.items():
            began = time.perf_counter()
            look()
            times[name].append((time.perf_counter() - began) * 1e3)
    rows = [
        {"case": name, "ms": round(statistics.median(taken), 2), "worst": round(max(taken), 2)}
        for name, taken in times.items()
    ]
    lines = ["| case | median ms | worst ms |", "|---|---:|---:|"]
    lines += [f"| {row['case']} | {row['ms']} | {row['worst']} |" for row in rows]
    return {"markdown": "\n".join(lines), "rows": rows, "goal": f"under {GOAL_MS} ms"}


def write_project(root: Path) -> None:
    dice = random.Random(7)
    words = [
        f"{start}{end}"
        for start in ("ha", "be", "lo", "mi", "ren", "sal")
        for end in ("rbour", "ll", "ng", "st", "ter")
    ]

    def prose(number: int) -> str:
        return "\n\n".join(" ".join(dice.choices(words, k=50)).capitalize() + "." for _ in range(number // 50))

    for scene in range(SCENES):
        _write(
            root / f"Story/Scenes/SCN-{scene:03d}-scene.md",
            f"---\norder: {scene}\n---\n\n# Scene {scene}\n\n{prose(WORDS)}\n",
        )
    for card in range(CARDS):
        kind = ("Characters", "Locations", "Lore", "Events")[card % 4]
        _write(root / f"Compendium/{kind}/card-{card}.md", f"---\nname: Card {card}\n---\n\n{prose(100)}\n")
    _write(root / "Story/SCN-outline.md", "# Outline\n\n" + "\n".join(f"{n}. Scene {n}" for n in range(SCENES)) + "\n")
    _write(root / ".control-room/canon/canon-index.md", "# Canon\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
