"""Taking files of tickets: rows a second and peak memory, personal data replaced on the way."""

from __future__ import annotations

import csv
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from openpyxl import Workbook  # type: ignore[import-untyped]

from tallystick.rooms.insight.ingest.dataset_import import ImportRequest, take
from tallystick.rooms.insight.pii import Placeholders
from tallystick.rooms.insight.store import Store
from tallystick.settings import Settings
from tallystick.storage.database import migrate, open_engine

PROMISES = ("insight.streams",)
SMALL, FULL, FULL_SHEET = 20_000, 1_000_000, 100_000
MOST_MEMORY = 1024
"""Megabytes, with a million rows."""
HEADER = (
    "Number", "Opened", "Short description", "Description", "Caller", "Assignment group", "Configuration item",
    "Category", "Priority", "State", "Reassignment count", "Resolved",
)  # fmt: skip
TEXT = (
    "the app stops when I try to pay my order has not arrived and nobody answers please help me with the invoice it is "
    "wrong again after the update of last week I cannot log in any more and the password mail never comes thank you"
)


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    size = FULL if full else SMALL
    sizes = {"csv": size, "jsonl": size, "xlsx": FULL_SHEET if full else SMALL // 4}
    rows = []
    for kind, count in sizes.items():
        path = folder / f"tickets.{kind}"
        WRITERS[kind](path, count)
        rows.append({"format": kind, "rows": count, "megabytes": round(path.stat().st_size / 1e6, 1), **_apart(path)})
        path.unlink()
    lines = [
        "| format | rows | file | rows/s | rows/s of CPU | peak memory |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {row['format']} | {row['rows']:,} | {row['megabytes']:,} MB | **{row['per_s']:,}** | {row['per_cpu_s']:,} "
            f"| {row['peak_mb']:,} MB |"
            for row in rows
        ),
    ]
    return {
        "goal": f"1,000,000 tickets within {MOST_MEMORY:,} MB of memory",
        "markdown": "\n".join(lines),
        "formats": rows,
    }


def _apart(path: Path) -> dict[str, Any]:
    """In a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "benchmarks.insight.ingest", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _measure(path: Path) -> dict[str, Any]:
    workspace = path.parent / f"ws-{path.suffix[1:]}"
    workspace.mkdir()
    os.link(path, workspace / path.name)
    engine = open_engine(Settings.model_validate({}), workspace)
    migrate(engine)
    began, spent = time.perf_counter(), time.process_time()
    asked = ImportRequest(workspace=workspace, file_path=path.name)
    taken = take(asked, Store(engine), Placeholders(b"k" * 32), now=1_700_000_000)
    seconds, cpu = time.perf_counter() - began, time.process_time() - spent
    engine.dispose()
    return {
        "per_s": round(taken.inserted / seconds),
        "per_cpu_s": round(taken.inserted / cpu),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "taken": taken.inserted,
    }


def generated(count: int) -> Iterator[tuple[str, ...]]:
    """Tickets as a service desk has them; every fifth names an address, a number or a card."""
    chance, words = random.Random(7), TEXT.split()
    for number in range(count):
        text = " ".join(chance.choices(words, k=chance.randint(12, 40)))
        kind = number % 20
        if kind < 2:
            text += f". Write to customer{chance.randrange(50_000)}@example.org"
        elif kind == 2:
            text += f". Call me on +49 171 {chance.randrange(10**6, 10**7)}"
        elif kind == 3:
            text += f" for order {chance.randrange(10**8, 10**9)}, paid with 4111 1111 1111 1111"
        day = f"2026-{1 + number % 12:02}-{1 + number % 28:02} {number % 24:02}:{number % 60:02}:00"
        yield (
            f"INC{number:08}", day, text[:40], text, f"customer{number % 50_000}@example.org", f"Group {number % 40}",
            f"Product {number % 12}", f"Category {number % 30}", f"{1 + number % 5} - Moderate", "Closed",
            str(number % 4), day,
        )  # fmt: skip


def _write_csv(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(generated(count))


def _write_jsonl(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in generated(count):
            file.write(json.dumps(dict(zip(HEADER, row, strict=True))) + "\n")


def _write_xlsx(path: Path, count: int) -> None:
    book = Workbook(write_only=True)
    sheet = book.create_sheet("tickets")
    sheet.append(HEADER)
    for row in generated(count):
        sheet.append(row)
    book.save(path)


WRITERS = {"csv": _write_csv, "jsonl": _write_jsonl, "xlsx": _write_xlsx}

if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]))))
