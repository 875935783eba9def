"""How long `tally --help` takes, beside an empty Python."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PROMISES = ("speed.startup",)


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    cases = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "tally --help": [sys.executable, "-m", "tallystick", "--help"],
        "tally --version": [sys.executable, "-m", "tallystick", "--version"],
        "import tallystick": [sys.executable, "-c", "import tallystick"],
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(15 if full else 7):
        for name, command in cases.items():
            began = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, cwd=folder)
            times[name].append((time.perf_counter() - began) * 1e3)
    base = statistics.median(times["python -c pass"])
    rows = [
        {"case": name, "ms": round(statistics.median(taken), 1), "x": round(statistics.median(taken) / base, 1)}
        for name, taken in times.items()
    ]
    lines = ["| command | median ms | × empty Python |", "|---|---:|---:|"]
    lines += [f"| `{row['case']}` | {row['ms']} | {row['x']} |" for row in rows]
    return {"markdown": "\n".join(lines), "rows": rows, "goal": "well under 500 ms"}
