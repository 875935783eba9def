"""`make bench`: every suite, one after the other; results as JSON and Markdown.

python -m benchmarks [--full] [--only NAME] [--write]
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

SUITES = (
    "call", "concurrent_calls", "growth", "http_call", "startup", "evidence", "turn_loop", "relay", "relay_http", "gateway", "studio_tree", "studio_book",
    "memory.locomo", "memory.poisoning", "memory.corrections", "memory.recall_speed",
    "memory.proposals", "memory.whole_way", "insight.ingest", "insight.query", "insight.search", "insight.precision", "insight.cluster",
    "desk.injection", "desk.throughput", "page", "scale.processes", "scale.nodes", "scale.locks", "scale.shared_growth",
)  # fmt: skip
HERE = Path(__file__).parent
BEGIN, END = "<!-- make bench writes below -->", "<!-- make bench writes above -->"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure speed and memory as ratios to a floor.")
    parser.add_argument("--full", action="store_true", help="the sizes the documentation names; takes long")
    parser.add_argument("--only", default="", help="these suites, with commas between them")
    parser.add_argument("--write", action="store_true", help="put the results into RESULTS.md and results.json")
    options = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    for name in SUITES:
        if options.only and name not in options.only.split(","):
            continue
        module = importlib.import_module(f"benchmarks.{name}")
        with TemporaryDirectory(prefix="tally-bench-") as folder:
            os.environ["TALLY_STATE_DIR"] = str(Path(folder) / "state")
            result = module.run(Path(folder), full=options.full)
        title = (module.__doc__ or name).strip().splitlines()[0]
        results[name] = {**result, "title": title, "measured": _measured(full=options.full)}
        print(_part(name, results[name]), flush=True)
    if options.write:
        _keep(results)


def _part(name: str, result: dict[str, Any]) -> str:
    head = f"### {name}\n{result['title']}\n\nGoal: {result['goal']}.\nMeasured: {result['measured']}.\n"
    return f"{head}\n{result['markdown']}\n"


def _keep(results: dict[str, dict[str, Any]]) -> None:
    """Put the results beside those of other suites: each is replaced by its own next run."""
    path = HERE / "results.json"
    known = orjson.loads(path.read_bytes()) if path.exists() else {}
    every = {name: {**known, **results}[name] for name in SUITES if name in known or name in results}
    path.write_bytes(orjson.dumps(every, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
    _write("\n".join(_part(name, result) for name, result in every.items() if "markdown" in result))


def _measured(*, full: bool) -> str:
    load = os.getloadavg()[0]
    when = datetime.now(UTC).date().isoformat()
    machine = f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}"
    return f"{when}, {'full' if full else 'small'} size, {machine}"


def _write(text: str) -> None:
    path = HERE / "RESULTS.md"
    old = path.read_text(encoding="utf-8")
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
