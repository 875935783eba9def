"""How things are measured here.

Cases of one suite run interleaved in rounds, in one process, so that a noisy neighbour disturbs all of them alike. What
counts is the ratio to the floor of the same run: one canonical dump of a 1 KB receipt, one HMAC-SHA256 over it, one
append without fsync. Wall time is the median over samples; CPU time is given beside it, because it is what stays the
same when other programs share the cores.
"""

from __future__ import annotations

import asyncio
import gc
import hmac
import inspect
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

FLOOR = "floor: canonical 1 KB + HMAC-SHA256 + append, no fsync"
_KEY = b"k" * 32


@dataclass
class Case:
    name: str
    run: Callable[[], Any] | Callable[[], Awaitable[Any]]
    check: Callable[[Any], bool] | None = None
    per_run: int = 1
    """How many calls one run makes; figures are per call."""


@dataclass
class Row:
    case: str
    median_us: float
    cpu_us: float
    p99_us: float
    x_floor: float
    x_floor_cpu: float
    calls: int


@dataclass
class Suite:
    folder: Path
    cases: list[Case] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cases.append(Case(FLOOR, floor(self.folder / "floor.jsonl")))

    def add(
        self, name: str, run: Callable[[], Any], check: Callable[[Any], bool] | None = None, per_run: int = 1
    ) -> None:
        self.cases.append(Case(name, run, check, per_run))

    def measure(self, *, rounds: int = 5, milliseconds: float = 150.0) -> list[Row]:
        return asyncio.run(self.ameasure(rounds=rounds, milliseconds=milliseconds))

    async def ameasure(self, *, rounds: int = 5, milliseconds: float = 150.0) -> list[Row]:
        samples: dict[str, list[float]] = {case.name: [] for case in self.cases}
        cpu: dict[str, list[float]] = {case.name: [] for case in self.cases}
        for case in self.cases:
            await self._once(case)
        numbers = {case.name: await self._calibrate(case) for case in self.cases}
        gc.collect()
        gc.disable()
        try:
            for number in range(rounds):
                for case in self.cases if number % 2 == 0 else reversed(self.cases):
                    await self._round(case, numbers[case.name], milliseconds, samples[case.name], cpu[case.name])
                    gc.collect()
        finally:
            gc.enable()
        for case in self.cases:
            # A case that starts refusing part-way would look fast.
            await self._once(case)
        return _rows(self.cases, samples, cpu)

    async def _once(self, case: Case) -> None:
        result = case.run()
        if inspect.isawaitable(result):
            result = await result
        if case.check is not None and not case.check(result):
            message = f"{case.name}: unexpected result {result!r}"
            raise RuntimeError(message)

    async def _calibrate(self, case: Case) -> int:
        began = time.perf_counter()
        for _ in range(10):
            result = case.run()
            if inspect.isawaitable(result):
                await result
        return max(1, round(50e-6 / ((time.perf_counter() - began) / 10)))

    async def _round(self, case: Case, number: int, milliseconds: float, out: list[float], cpu: list[float]) -> None:
        run = case.run
        is_async = inspect.iscoroutinefunction(run)
        end = time.perf_counter() + milliseconds / 1000
        cpu_began, runs = time.process_time(), 0
        while runs < 5 or time.perf_counter() < end:
            began = time.perf_counter()
            if is_async:
                for _ in range(number):
                    await run()
            else:
                for _ in range(number):
                    run()
            out.append((time.perf_counter() - began) / number / case.per_run * 1e6)
            runs += number
        cpu.append((time.process_time() - cpu_began) / runs / case.per_run * 1e6)


def floor(path: Path) -> Callable[[], None]:
    """The work nobody can do without: bytes, signature, append; call for call as peers are measured against it."""
    receipt, file = sample_receipt(), AppendFile(path)

    def run() -> None:
        body = canonical(receipt)
        file.append(body[:-1] + b',"sig":"' + hmac.digest(_KEY, body, "sha256").hex().encode() + b'"}\n')

    return run


def canonical(value: Any) -> bytes:
    """Sorted keys, no spaces."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


class AppendFile:
    """A file that is open for appending."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def append(self, data: bytes) -> None:
        os.write(self._fd, data)


def sample_receipt() -> dict[str, Any]:
    """Something like a receipt, 1 KB of canonical JSON."""
    receipt: dict[str, Any] = {
        "id": "rcpt-000000000000", "seq": 0, "session": "s-0123456789abcdef", "ts": "2026-01-01T00:00:00.000000Z",
        "tool": "echo", "agent": "a-1", "role": "analyst", "status": "accepted", "args": {"text": "hello", "n": 7},
        "in": "a" * 64, "out": "b" * 64, "prev": "c" * 64,
        "policy": {"id": "p-1", "sha256": "d" * 64, "rules": ["r1", "r2", "r3"]},
        "spent": {"steps": 3, "bytes": 2048, "tokens": 512}, "v": 1,
    }  # fmt: skip
    receipt["pad"] = "x" * (1024 - len(canonical(receipt)) - 9)
    return receipt


def _rows(cases: list[Case], samples: dict[str, list[float]], cpu: dict[str, list[float]]) -> list[Row]:
    base, base_cpu = statistics.median(samples[FLOOR]), statistics.median(cpu[FLOOR])
    rows = []
    for case in cases:
        ordered = sorted(samples[case.name])
        median, median_cpu = statistics.median(ordered), statistics.median(cpu[case.name])
        rows.append(
            Row(
                case=case.name,
                median_us=round(median, 2),
                cpu_us=round(median_cpu, 2),
                p99_us=round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 2),
                x_floor=round(median / base, 2),
                x_floor_cpu=round(median_cpu / base_cpu, 2),
                calls=len(ordered),
            )
        )
    return rows


def table(rows: list[Row]) -> str:
    lines = [
        "| case | median µs | CPU µs | p99 µs | × floor | × floor (CPU) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.case} | {row.median_us} | {row.cpu_us} | {row.p99_us} | {row.x_floor} | {row.x_floor_cpu} |"
        for row in rows
    ]
    return "\n".join(lines)
