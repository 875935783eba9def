"""Checks the history that processes tell against the log that they wrote: each call exactly once, and in order."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tallystick.gate.record.ledger import Ledger
from tests.faults.processes import told_of


def check_history(ledger: Ledger, acks: Iterable[Path]) -> int:
    """Assert that the log is a history of these processes; gives how many acknowledged calls were looked at.

    Each process asked for its records one after the other, and a file of the same name says what it was told:

    - its records in the log are 0, 1, 2 … without gap or repeat, and at most one more than it was told of
    - what it was told of is what stands there, in the same order
    - a call that ended before another began, in whichever process, stands before it
    """
    files = {path.name: path for path in acks}
    logged: dict[str, list[tuple[int, str]]] = defaultdict(list)
    place: dict[str, int] = {}
    for receipt in ledger.read():
        by = (receipt.inputs or {}).get("by")
        if by in files:
            assert receipt.receipt_id not in place, "one receipt stands twice"
            place[receipt.receipt_id] = receipt.seq
            logged[by].append((receipt.inputs["n"], receipt.receipt_id))
    spans = []
    for name, path in files.items():
        told = told_of(path)
        assert [number for number, _ in logged[name]] == list(range(len(logged[name]))), f"{name}: a gap or a repeat"
        assert [receipt_id for _, receipt_id in logged[name]][: len(told)] == [one[0] for one in told], name
        assert len(logged[name]) - len(told) in {0, 1}, f"{name}: more was stored than asked for"
        spans += told
    _check_order(spans, place)
    return len(spans)


def _check_order(spans: list[tuple[str, int, int]], place: dict[str, int]) -> None:
    """Whoever began after another had ended stands behind it."""
    ends = sorted((ended, place[receipt_id]) for receipt_id, _, ended in spans)
    at, behind = 0, -1
    for receipt_id, began, _ in sorted(spans, key=lambda one: one[1]):
        while at < len(ends) and ends[at][0] < began:
            behind = max(behind, ends[at][1])
            at += 1
        assert place[receipt_id] > behind, f"{receipt_id} stands before a call that had ended when it began"
