"""Whether a receipt in PostgreSQL costs more as the journal grows: append, prove, look up, and verify it all."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path
from typing import Any

from tallystick.gate.record.commit import append
from tallystick.gate.record.record_signer import RecordSigner
from tests.ledgers import Workspace, draft
from tests.own_postgres import OwnPostgres

SIZES = (1_000, 10_000, 30_000)
FULL_SIZES = (1_000, 10_000, 100_000, 500_000, 2_000_000)
BATCH = 500
SAMPLE = 100


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    server = OwnPostgres()
    try:
        workspace = Workspace(folder, durability="fsync", database=server.new_database(), checkpoint_every=5_000)
        with workspace.opened() as ledger:
            rows = [_at(ledger, size) for size in (FULL_SIZES if full else SIZES)]
            stored = ledger.size()
        began = time.perf_counter()
        report = workspace.verify()
        seconds = time.perf_counter() - began
        if not report.ok or report.size != stored:
            raise RuntimeError(report.problems)
    finally:
        server.close()
    lines = [
        "| receipts | record of a batch of 500 | a record alone | look up | prove |",
        "|---:|---:|---:|---:|---:|",
        *(
            f"| {row['receipts']:,} | {row['batch_us']} µs | {row['alone_ms']} ms | {row['find_ms']} ms | {row['prove_ms']} ms |"
            for row in rows
        ),
        "",
        f"verify: {stored:,} receipts in {seconds:.1f} s = **{stored / seconds:,.0f} receipts/s** on one core",
    ]
    goal = "append flat; one receipt proved in < 10 ms"
    return {"goal": goal, "markdown": "\n".join(lines), "rows": rows, "verify_per_s": round(stored / seconds)}


def _at(ledger: Any, size: int) -> dict[str, Any]:
    """Fill the journal up to a size, and measure there."""
    signer = RecordSigner(ledger.keys, ledger._notary._clock, os.urandom, inline=65_536)
    batch_us, last = [], ""
    while (now := ledger.size()) < size:
        factories = [
            signer.prepare(draft(number, session=f"s{number % 64}"))[1] for number in range(min(BATCH, size - now))
        ]
        began = time.perf_counter()
        records = append(ledger._journal, factories)
        batch_us.append((time.perf_counter() - began) * 1e6 / len(records))
    alone_ms = []
    for number in range(SAMPLE):
        began = time.perf_counter()
        last = ledger.record_sync(draft(number)).receipt_id
        alone_ms.append((time.perf_counter() - began) * 1e3)
    ledger.checkpoint()
    return {
        "receipts": size,
        "batch_us": round(statistics.median(batch_us[-20:]), 1),
        "alone_ms": round(statistics.median(alone_ms), 2),
        "find_ms": _median_ms(lambda: ledger.find(last)),
        "prove_ms": _median_ms(lambda: ledger.prove(last)),
    }


def _median_ms(do: Any) -> float:
    took = []
    for _ in range(20):
        began = time.perf_counter()
        if do() is None:
            raise RuntimeError("the receipt is gone")
        took.append((time.perf_counter() - began) * 1e3)
    return round(statistics.median(took), 2)
