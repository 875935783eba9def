"""What is measured, through its public doors: the command on a whole book, and the two tools through the gate."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.continuity.cases import Case
from benchmarks.continuity.findings import Finding, findings_in
from benchmarks.continuity.novels import Novel
from benchmarks.continuity.planting import Book
from tallystick import Gate

MOST_FILES = 10
"""Of one call of `consistency_checker`."""


class NotThere(Exception):  # noqa: N818 - it is no error of the benchmark
    """The checker is no part of this installation."""


def whole_book(book: Book, folder: Path) -> tuple[list[Finding], float]:
    """`tally studio check FOLDER --json`, and the seconds it took, the start of the program with them."""
    book.write(folder)
    command = [sys.executable, "-m", "tallystick", "studio", "check", str(folder), "--json"]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    if "No such command" in done.stderr:
        raise NotThere("tally studio check")
    try:
        return findings_in(json.loads(done.stdout)), seconds
    except ValueError:
        raise RuntimeError(f"studio check gave no JSON: {done.stderr[-500:]}") from None


class Tools:
    """An open workspace with a book in it."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._names = {card.name for card in gate.tools()}

    def consistency(self, paths: Iterable[str]) -> list[Finding]:
        return self._call("consistency_checker", {"file_paths": list(paths), "focus": "general"})

    def canon(self, scene: str, cards: Iterable[str]) -> list[Finding]:
        return self._call("canon_checker", {"scene_path": scene, "canon_paths": list(cards), "mode": "strict"})

    def _call(self, name: str, args: dict[str, Any]) -> list[Finding]:
        if name not in self._names:
            raise NotThere(name)
        outcome = self._gate.call_sync(name, args, session="continuity")
        if not outcome.ok:
            raise RuntimeError(f"{name}: {outcome.as_dict()}")
        return findings_in(outcome.result)


@contextmanager
def tools_on(book: Book, folder: Path) -> Iterator[Tools]:
    book.write(folder)
    with Gate.open(folder) as gate:
        yield Tools(gate)


def ten_scenes(novel: Novel, case: Case) -> list[str]:
    """Both scenes of a case, and others that know the person: as many as one call takes."""
    wanted = {case.first.scene, case.second.scene}
    others = [number for number in sorted(case.person.scenes or range(len(novel.scenes))) if number not in wanted]
    step = max(1, len(others) // (MOST_FILES - len(wanted)))
    chosen = sorted(wanted | set(others[::step][: MOST_FILES - len(wanted)]))
    return [novel.scenes[number].path for number in chosen]
