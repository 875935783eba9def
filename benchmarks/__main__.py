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

import orjson

SUITES = (
    "call", "concurrent_calls", "growth", "http_call", "startup", "evidence", "turn_loop", "relay", "studio_tree",
    "memory.locomo", "memory.poisoning", "memory.recall_speed",
    "memory.proposals", "continuity", "insight.ingest", "insight.search", "insight.cluster", "desk.throughput",
)  # fmt: skip
HERE = Path(__file__).parent
BEGIN, END = "<!-- make bench writes below -->", "<!-- make bench writes above -->"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure speed and memory as ratios to a floor.")
    parser.add_argument("--full", action="store_true", help="the sizes the documentation names; takes long")
    parser.add_argument("--only", default="", help="these suites, with commas between them")
    parser.add_argument("--write", action="store_true", help="put the results into RESULTS.md and results.json")
    options = parser.parse_args()
    results: dict[str, object] = {}
    parts = [_heading(full=options.full)]
    for name in SUITES:
        if options.only and name not in options.only.split(","):
            continue
        module = importlib.import_module(f"benchmarks.{name}")
        with TemporaryDirectory(prefix="tally-bench-") as folder:
            os.environ["TALLY_STATE_DIR"] = str(Path(folder) / "state")
            result = module.run(Path(folder), full=options.full)
        results[name] = {key: value for key, value in result.items() if key != "markdown"}
        title = (module.__doc__ or name).strip().splitlines()[0]
        part = f"### {name}\n{title}\n\nGoal: {result['goal']}.\n\n{result['markdown']}\n"
        print(part, flush=True)
        parts.append(part)
    if options.write:
        (HERE / "results.json").write_bytes(
            orjson.dumps(results, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"
        )
        _write("\n".join(parts))


def _heading(*, full: bool) -> str:
    python = platform.python_version()
    load = os.getloadavg()[0]
    size = " --full" if full else ""
    when = datetime.now(UTC).date().isoformat()
    return f"`make bench`{size}, {when}: Python {python} on {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}.\n"


def _write(text: str) -> None:
    path = HERE / "RESULTS.md"
    old = path.read_text(encoding="utf-8")
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
