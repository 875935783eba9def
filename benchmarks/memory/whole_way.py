"""A proposal's whole way: schema, guards, rule, two signed and synced receipts, scoring, tables; with many held.

Runs in a process of its own that does what `tally serve` does when it has started (`stay`).
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.memory.proposals import proposals_on
from tallystick import Gate, tool
from tallystick.app.gc_tuning import stay
from tallystick.rooms.memory.project.exports import digest
from tallystick.rooms.memory.room import Memory
from tallystick.settings import Settings

PROMISES = ("memory.speed",)
SIZES = (20_000,)
FULL_SIZES = (20_000, 100_000, 500_000, 1_000_000)
SAMPLE = 20_000
"""Observations over which the rate at a size is taken, each fourth with a proposition."""
WINDOWS = 5
"""So many in a row, of which the middle one counts."""
LIST = 256
"""Calls in one list (`Gate.call_many`)."""
CALLERS = 64
FEW = 4_000
GOAL = "≥ 5,000 proposals/s the whole way on one core with 1,000,000 observations held"


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    sizes = FULL_SIZES if full else SIZES
    command = [sys.executable, "-m", "benchmarks.memory.whole_way", str(folder), *map(str, sizes)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    lines = [
        f'Proposed in lists of {LIST} (`Gate.call_many`), `durability = "fsync"`, SQLite, one process; each proposal an',
        "observation or, one in five, a proposition with a quote:", "",
        "| observations held | proposals/s by the clock | lowest and highest | by CPU time | CPU µs a proposal | peak MB |",
        "|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {row['held']:,} | **{row['per_s']:,}** | {row['span']} | {row['cpu_per_s']:,} | {row['cpu_us']} | {row['peak_mb']} |"
            for row in told["rows"]
        ),
        "", "Other ways to the same memory, small, and the same calls to a write tool that does nothing:", "",
        "| way | proposals/s by the clock | CPU µs a proposal | CPU µs of nothing |", "|---|---:|---:|---:|",
        *(
            f"| {name} | {way['per_s']:,} | {way['cpu_us']} | {way['nothing_us']} |" for name, way in told["ways"].items()
        ),
        "",
        f"Rebuild from {told['receipts']:,} receipts, read and verified one by one: **{told['rebuilt_per_s']:,} receipts/s**"
        f" by CPU time, the digest as before, peak memory {told['rebuilt_mb']} MB more.",
    ]  # fmt: skip
    return {"markdown": "\n".join(lines), "goal": GOAL, **told}


@tool(effect="write", inline=True)
def nothing(text: str) -> str:
    """Do nothing."""
    return text[:1]


def measure(folder: Path, sizes: list[int]) -> dict[str, Any]:
    stay()
    ways = {
        f"lists of {LIST}, `fsync`": _way(folder / "lists", "fsync", _in_lists),
        f"{CALLERS} callers, `fsync`": _way(folder / "callers", "fsync", _by_callers(CALLERS)),
        "8 callers, `fsync`": _way(folder / "few", "fsync", _by_callers(8)),
        "one caller, `fsync`": _way(folder / "one", "fsync", _by_callers(1)),
        "one caller, `os`": _way(folder / "os", "os", _by_callers(1)),
    }
    gate = _open(folder / "many", "fsync")
    room = gate.room("memory")
    if not isinstance(room, Memory):
        raise TypeError("memory is not installed")
    try:
        rows, held = [], 0
        for size in sizes:
            windows = min(WINDOWS, size // SAMPLE)
            _timed(_in_lists(gate, range(held, size - windows * SAMPLE), proposals))
            starts = range(size - windows * SAMPLE, size, SAMPLE)
            spent = [_timed(_in_lists(gate, range(start, start + SAMPLE), proposals)) for start in starts]
            rows.append({"held": size, **_middle([_rate(one) for one in spent])})
            held = size
        return {"rows": rows, "ways": ways, **_rebuilt(gate, room)}
    finally:
        gate.close()


def _open(folder: Path, durability: str) -> Gate:
    return Gate.open(folder, settings=Settings.model_validate({"ledger": {"durability": durability}}), rooms=["memory"])


def _way(folder: Path, durability: str, way: Way) -> dict[str, int]:
    gate = _open(folder, durability)
    gate.register(nothing)
    try:
        _timed(way(gate, range(500), proposals))
        rate = _rate(_timed(way(gate, range(500, 500 + FEW), proposals)))
        return {**rate, "nothing_us": _rate(_timed(way(gate, range(FEW), nothings)))["cpu_us"]}
    finally:
        gate.close()


def _rebuilt(gate: Gate, room: Memory) -> dict[str, int]:
    before, size, peak = room.projection.ask(digest, written=True), gate.ledger.size(), _peak_mb()
    cpu = time.process_time()
    room.projection.rebuild()
    spent = time.process_time() - cpu
    if room.projection.ask(digest, written=True) != before:
        raise RuntimeError("the rebuilt memory differs")
    return {"receipts": size, "rebuilt_per_s": round(size / spent), "rebuilt_mb": _peak_mb() - peak}


def _rate(spent: dict[str, float]) -> dict[str, int]:
    done = spent["done"]
    return {
        "per_s": round(done / spent["wall"]), "cpu_per_s": round(done / spent["cpu"]),
        "cpu_us": round(spent["cpu"] / done * 1e6), "peak_mb": _peak_mb(),
    }  # fmt: skip


def _middle(rates: list[dict[str, int]]) -> dict[str, Any]:
    """The window in the middle, and how far the others are from it: the machine is not always equally quick."""
    ordered = sorted(rates, key=lambda rate: rate["per_s"])
    span = f"{ordered[0]['per_s']:,} to {ordered[-1]['per_s']:,}"
    return {**ordered[len(ordered) // 2], "span": span, "peak_mb": _peak_mb()}


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


Calls = list[tuple[str, dict[str, Any]]]
Made = Callable[[int], Calls]
"""The calls that one number stands for, each of which may build on the one before."""
Way = Callable[[Gate, range, Made], Awaitable[int]]
"""Makes them all; how many there were."""


def proposals(number: int) -> Calls:
    return list(proposals_on(number, int(time.time())))


def nothings(number: int) -> Calls:
    return [("nothing", {"text": f"report number {number}"})]


def _timed(made: Awaitable[int]) -> dict[str, float]:
    async def wait() -> int:
        return await made

    cpu, began = time.process_time(), time.perf_counter()
    done = asyncio.run(wait())
    return {"done": done, "cpu": time.process_time() - cpu, "wall": time.perf_counter() - began}


async def _in_lists(gate: Gate, numbers: range, made: Made) -> int:
    """First what everything begins with, then what builds on that."""
    done = 0
    for start in range(0, len(numbers), LIST):
        each = [made(number) for number in numbers[start : start + LIST]]
        for calls in ([first for first, *_ in each], [call for _, *more in each for call in more]):
            outcomes = await gate.call_many(calls)
            for outcome in outcomes:
                outcome.unwrap()
            done += len(outcomes)
    return done


def _by_callers(callers: int) -> Way:
    async def all_of_them(gate: Gate, numbers: range, made: Made) -> int:
        rest = iter(numbers)

        async def one_caller() -> int:
            done = 0
            for number in rest:
                for name, args in made(number):
                    (await gate.call(name, args)).unwrap()
                    done += 1
            return done

        return sum(await asyncio.gather(*(one_caller() for _ in range(callers))))

    return all_of_them


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), [int(size) for size in sys.argv[2:]])))
