"""`tally audit export`: the receipts as JSON Lines, or as CSV that is safe to open in a spreadsheet."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.exits import UsageMistake
from tallystick.doors.cli.outside import checked_session
from tallystick.doors.cli.screen import Force, Output
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.gate.record.receipt import Receipt

COLUMNS = (
    "receipt_id", "seq", "timestamp", "kind", "session_id", "agent_id", "caller", "tool_id", "outcome", "approval",
    "inputs", "outputs", "excerpt", "sha256", "full_size", "erased", "file_refs", "links", "audit", "policy_digest",
    "duration_us", "key_id", "signature", "prev",
)  # fmt: skip

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - the full-width forms are intended
"""Spreadsheets read a cell with one of these first characters as a formula; some also fold the full-width forms."""


def export(
    here: Here,
    form: Annotated[str, typer.Option("--format", "-f", metavar="FORM", help="jsonl or csv.")] = "jsonl",
    output: Output = None,
    session: Annotated[str | None, typer.Option("--session", "-s", metavar="ID", help="Only this session.")] = None,
    force: Force = False,
) -> None:
    """Write out receipts, oldest first. CSV cells cannot act as formulas."""
    if form not in {"jsonl", "csv"}:
        raise UsageMistake("--format is jsonl or csv.")
    count, session = 0, checked_session(session)
    with here.gate() as gate, here.screen.writing(output, force=force) as file:
        total = gate.ledger.size() if session is None else None
        receipts = gate.ledger.read() if session is None else gate.ledger.session(session)
        with here.screen.progress("exporting", total) as advance:
            for line in _jsonl(receipts) if form == "jsonl" else _csv(receipts):
                file.write(line)
                count += 1
                advance(count)
    if output is not None:
        here.screen.data({"written": str(output), "lines": count})


def neutral(cell: str) -> str:
    """Return a cell that no spreadsheet reads as a formula: a leading apostrophe makes it text."""
    return f"'{cell}" if cell.lstrip(" \u00a0\ufeff").startswith(FORMULA) else cell


def _jsonl(receipts: Iterable["Receipt"]) -> Iterator[bytes]:
    for receipt in receipts:
        yield receipt.flat_bytes().rstrip(b"\n") + b"\n"


def _csv(receipts: Iterable["Receipt"]) -> Iterator[bytes]:
    yield _csv_line(COLUMNS)
    for receipt in receipts:
        flat = receipt.flat()
        yield _csv_line([neutral(_cell(flat.get(name))) for name in COLUMNS])


def _csv_line(cells: Iterable[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(cells)
    return line.getvalue().encode("utf-8", errors="backslashreplace")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
