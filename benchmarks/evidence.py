"""Checking a reply against a 200,000-word project, after the first look at its files."""

from __future__ import annotations

import random
import statistics
import time
from pathlib import Path
from typing import Any

from tallystick import Gate
from tallystick.settings import Settings

PROMISES = ("speed.evidence",)
WORDS = 200_000
FILES = 80
LEXICON = [f"{first}{last}" for first in ("bar", "len", "tor", "mi", "sal", "ven", "hu", "ka", "pol", "rin")
           for last in ("dan", "est", "ow", "ing", "ra", "el", "umb", "ish", "ot", "ard")]  # fmt: skip


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    workspace = folder / "ws"
    chance = random.Random(7)
    quotes = _write_story(workspace / "Story" / "Scenes", chance)
    settings = Settings.model_validate({"ledger": {"durability": "os"}})
    with Gate.open(workspace, settings=settings, plugins=False) as gate:
        times = []
        for path, quote in quotes:
            gate.check_reply(_reply(path, quote), session="bench", agent="critic", tools_ran=False)
        for path, quote in quotes * (10 if full else 4):
            began = time.perf_counter()
            findings = gate.check_reply(_reply(path, quote), session="bench", agent="critic", tools_ran=False)
            times.append((time.perf_counter() - began) * 1e3)
            if not findings.ok:
                raise RuntimeError(findings.as_dict())
    times.sort()
    p99 = times[int(len(times) * 0.99)]
    line = f"{len(times)} replies on {WORDS:,} words in {FILES} files: median {statistics.median(times):.3f} ms, **p99 {p99:.3f} ms**, receipt of the check included."
    return {
        "markdown": line,
        "median_ms": round(statistics.median(times), 3),
        "p99_ms": round(p99, 3),
        "goal": "p99 < 1 ms a reply",
    }


def _write_story(folder: Path, chance: random.Random) -> list[tuple[str, str]]:
    folder.mkdir(parents=True)
    quotes = []
    for number in range(FILES):
        words = [chance.choice(LEXICON) for _ in range(WORDS // FILES)]
        lines = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]
        (folder / f"SCN-{number:02}.md").write_text("\n".join(lines) + "\n")
        start = chance.randrange(len(words) - 20)
        quotes.append((f"Story/Scenes/SCN-{number:02}.md", " ".join(words[start : start + 12])))
    return quotes


def _reply(path: str, quote: str) -> str:
    return f'The scene says so.\nEvidence: "{quote}" {path}'
