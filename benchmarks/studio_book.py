"""A book of 200,000 words through the gate: a deep scan of it, and a check of the whole for contradictions.

The words are those of public-domain novels where they are at hand (`TALLY_DATA`), and else of the sample novel, over
and over. Reading every file once and finding one word in it stands beside the scan.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from benchmarks.continuity import checked
from tallystick import Gate
from tallystick.rooms.studio.sample_project import copy_sample
from tallystick.settings import Settings

DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[2] / "shared" / "data"))
PROMISES = ("studio.scan-speed", "studio.check-speed")
WORDS = 200_000
SCENE_WORDS = 2_500
GOAL = "DEEP_SCAN under 150 ms, the whole book's consistency under 60 s of one core"
LOOK_FOR = "letter window Holmes carriage"


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    root = folder / "project"
    scenes, made_of = _write_book(root, folder)
    settings = Settings.model_validate({"ledger": {"durability": "os"}})
    with Gate.open(root, settings=settings, rooms=["studio"]) as gate:
        rows = _rows(gate, root, scenes, rounds=15 if full else 5)
    lines = [
        f"{made_of}, {len(scenes)} scenes.",
        "",
        "| case | first, ms | median ms | worst ms |",
        "|---|---:|---:|---:|",
    ]
    lines += [f"| {row['case']} | {row['first']:,.0f} | {row['ms']:,.0f} | {row['worst']:,.0f} |" for row in rows]
    return {"markdown": "\n".join(lines), "rows": rows, "goal": GOAL}


def _rows(gate: Gate, root: Path, scenes: list[str], *, rounds: int) -> list[dict[str, Any]]:
    def call(name: str, args: dict[str, Any]) -> None:
        asyncio.run(gate.call(name, args)).unwrap()

    cases: dict[str, Callable[[], Any]] = {
        "every file read, one word looked for": lambda: [
            (root / path).read_text(encoding="utf-8").count("window") for path in scenes
        ],
        "file_locator, FAST_SCAN": lambda: call("file_locator", {"search_criteria": LOOK_FOR}),
        "file_locator, DEEP_SCAN": lambda: call(
            "file_locator", {"search_criteria": LOOK_FOR, "scan_mode": "DEEP_SCAN"}
        ),
        "consistency_checker, ten files of it": lambda: call("consistency_checker", {"file_paths": scenes[-10:]}),
        "the whole book checked (`tally studio check`)": lambda: checked(root),
    }
    return [{"case": name, **_timed(work, rounds)} for name, work in cases.items()]


def _timed(work: Callable[[], Any], rounds: int) -> dict[str, float]:
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1e3)
    return {"first": times[0], "ms": statistics.median(times[1:]), "worst": max(times[1:])}


def _write_book(root: Path, folder: Path) -> tuple[list[str], str]:
    books = sorted((DATA / "gutenberg-novels" / "dev").glob("*.txt"))
    stretches = (path.read_text(encoding="utf-8-sig") for path in books) if books else _sample(folder / "sample")
    (root / "Story" / "Scenes").mkdir(parents=True)
    scenes: list[str] = []
    waiting, written = list[str](), 0
    for text in stretches:
        for paragraph in text.split("\n\n"):
            waiting.append(paragraph)
            written += len(paragraph.split())
            if written >= (len(scenes) + 1) * SCENE_WORDS:
                scenes.append(f"Story/Scenes/SCN-{len(scenes) + 1:03d}-scene.md")
                heading = f"# Scene {len(scenes)}\n\n"
                (root / scenes[-1]).write_text(heading + "\n\n".join(waiting) + "\n", encoding="utf-8")
                waiting = []
            if written >= WORDS:
                return (
                    scenes,
                    f"{written:,} words of {'public-domain novels' if books else 'the sample novel, repeated'}",
                )
    raise RuntimeError("too few words")


def _sample(folder: Path) -> Iterator[str]:
    copy_sample(folder)
    yield from cycle(path.read_text(encoding="utf-8") for path in sorted((folder / "Story" / "Scenes").glob("*.md")))
