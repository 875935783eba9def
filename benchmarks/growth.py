"""Whether the thousandth call costs more than the first: cost per call as the ledger grows, and verifying it all."""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.call import echo
from benchmarks.harness import floor
from tallystick import Gate
from tallystick.settings import Settings

PROMISES = ("speed.flat", "speed.verify", "speed.prove")
SIZES = (100, 1_000, 10_000, 50_000)
FULL_SIZES = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
SAMPLE = 500


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    settings = Settings.model_validate({"ledger": {"durability": "os"}})
    gate = Gate.open(folder / "ws", settings=settings, plugins=False)
    gate.register(echo)
    base = floor(folder / "floor.jsonl")
    lines = ["| receipts | call µs | × floor | prove ms |", "|---:|---:|---:|---:|"]
    rows = asyncio.run(_grow(gate, base, FULL_SIZES if full else SIZES))
    lines += [f"| {row['receipts']:,} | {row['call_us']} | {row['x_floor']} | {row['prove_ms']} |" for row in rows]
    size = gate.ledger.size()
    gate.close()
    began, before = time.perf_counter(), _memory_mb()
    report = Gate.verify(folder / "ws")
    seconds = time.perf_counter() - began
    if not report.ok:
        raise RuntimeError(report.problems)
    grown = _memory_mb() - before
    lines += ["", f"verify: {size:,} receipts in {seconds:.2f} s = **{size / seconds:,.0f} receipts/s** on one core, "
              f"peak memory +{grown:.0f} MB"]  # fmt: skip
    return {
        "markdown": "\n".join(lines), "rows": rows, "verify_per_s": round(size / seconds), "verify_mb": round(grown),
        "goal": "cost per call flat; verify ≥ 60,000 receipts/s, memory flat; one receipt proved in < 10 ms",
    }  # fmt: skip


async def _grow(gate: Gate, base: Any, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    rows, done, last = [], 0, ""
    args = {"text": "hello world", "n": 7}
    for size in sizes:
        while done < size:
            last = (await gate.call("echo", args, session=f"s{done % 64}")).receipt_id
            done += 1
        call_us, floor_us = [], []
        for _ in range(SAMPLE):
            began = time.perf_counter()
            last = (await gate.call("echo", args, session=f"s{done % 64}")).receipt_id
            call_us.append((time.perf_counter() - began) * 1e6)
            began = time.perf_counter()
            base()
            floor_us.append((time.perf_counter() - began) * 1e6)
            done += 1
        began = time.perf_counter()
        gate.ledger.prove(last)
        prove_ms = (time.perf_counter() - began) * 1e3
        median = statistics.median(call_us)
        rows.append({"receipts": size, "call_us": round(median, 1), "x_floor": round(median / statistics.median(floor_us), 2),
                     "prove_ms": round(prove_ms, 2)})  # fmt: skip
    return rows


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
