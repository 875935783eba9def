"""`tally audit`: show, list, watch, export and erase receipts. Verification is in `verify.py`."""

import csv
import io
import json
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli import verify
from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.exits import Exit, Refused, UsageMistake
from tallystick.doors.cli.heads import read_head, since_head
from tallystick.doors.cli.outside import checked_session
from tallystick.doors.cli.person import Token, Yes, require_person
from tallystick.doors.cli.screen import Force, Output
from tallystick.doors.cli.workspace import Here
from tallystick.doors.presentation.outcomes import outcome_code, outcome_status
from tallystick.doors.presentation.visible import visible_json

if TYPE_CHECKING:
    from tallystick.gate.record.ledger import Ledger
    from tallystick.gate.record.receipt import Receipt


POLL_S = 0.5
"""Seconds between two checks for new receipts."""

ReceiptId = Annotated[str, typer.Argument(metavar="RECEIPT", help="The receipt's id.")]
OfSession = Annotated[
    str | None, typer.Option("--session", "-s", metavar="ID", help="Only this session.", show_default=False)
]
OfTool = Annotated[str | None, typer.Option("--tool", metavar="NAME", help="Only this tool.", show_default=False)]
OfStatus = Annotated[
    str | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help="Only accepted, rejected, transformed, failed or unknown.",
        show_default=False,
    ),
]
OfKind = Annotated[
    str | None,
    typer.Option(
        "--kind", metavar="KIND", help="Only outcome, started, held, approval, reply_check, …", show_default=False
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    audit = group(app, "audit", "Verify, show, list, export and erase receipts.")
    verify.add_to(audit)
    command(audit, "show")(show)
    command(audit, "list")(list_receipts)
    command(audit, "watch")(watch)
    command(audit, "export")(export)
    command(audit, "head")(head)
    command(audit, "erase")(erase)


def show(here: Here, receipt: ReceiptId) -> None:
    """Show one receipt, if it exists and verifies."""
    with here.gate() as gate:
        found = find(gate.ledger, receipt)
    here.screen.data(found.flat())
    here.screen.block(visible_json(found.flat(), indent=2))
    if found.erased:
        here.screen.note("payload erased")


def list_receipts(
    here: Here,
    session: OfSession = None,
    tool: OfTool = None,
    status: OfStatus = None,
    kind: OfKind = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=100_000, help="Maximum number of lines.")
    ] = 50,
    offset: Annotated[int, typer.Option("--offset", metavar="N", min=0, help="Number of lines to skip.")] = 0,
) -> None:
    """List receipts, the newest first."""
    wanted = _Wanted(session=checked_session(session), tool=tool, status=status, kind=kind)
    with here.gate() as gate:
        items, total = _newest(gate.ledger, wanted, limit=limit, offset=offset)
    here.screen.data({"items": [dict(item.header) for item in items], "total": total, "limit": limit, "offset": offset})
    if not items:
        here.screen.note("No matching receipts.")
        return
    here.screen.table(HEADS, map(_row, items))
    if total > len(items):
        here.screen.note(f"{len(items)} of {total}; use --limit and --offset for others")


def watch(
    here: Here,
    session: OfSession = None,
    tool: OfTool = None,
    status: OfStatus = None,
    kind: OfKind = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after this many.")] = None,
) -> None:
    """Show receipts as they come, one a line, until Ctrl-C."""
    wanted = _Wanted(session=checked_session(session), tool=tool, status=status, kind=kind)
    left = limit
    with here.gate() as gate:
        here.screen.note("watching; Ctrl-C to stop")
        for receipt in _coming(gate.ledger):
            if not wanted.fits(receipt):
                continue
            here.screen.data(receipt.flat())
            here.screen.line("  ".join(map(str, _row(receipt))))
            left = None if left is None else left - 1
            if left == 0:
                return


def head(
    here: Here,
    since: Annotated[
        Path | None,
        typer.Option("--since", metavar="FILE", help="An earlier head: prove that the log extends it."),
    ] = None,
    output: Output = None,
    force: Force = False,
) -> None:
    """Give out the signed head of the log.

    Keep it elsewhere and give it to `tally audit verify --head` later: it shows a log that was rolled back. With
    --since it comes with a proof that the log begins with what the earlier head was signed for; `tally check` and any
    RFC 9162 verifier check it without the log.
    """
    old = None if since is None else read_head(since)
    with here.gate() as gate:
        if old is not None:
            proof = since_head(gate.ledger, old)
            here.screen.document(proof, output, force=force)
            if output is not None:
                here.screen.data({"written": str(output)})
            return
        note = gate.ledger.checkpoint()
    if here.screen.as_json:
        here.screen.data({"head": note.decode()})
    if output is not None or not here.screen.as_json:
        here.screen.document(note, output, force=force)


def erase(
    here: Here,
    receipt: ReceiptId,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="The reason; kept in the ledger permanently.")
    ],
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Erase arguments and output of a receipt for ever.

    Every proof still holds, and the erasure is recorded. Needs a terminal or the start-up token.
    """
    person = require_person(here, token)
    from tallystick.gate.session import Caller, Session

    with here.gate() as gate:
        found = find(gate.ledger, receipt)
        if found.erased:
            gate.ledger.finish_erasure(receipt)
            raise Refused(f"The payload of {receipt} has already been erased.", code="already_erased")
        if not person.agrees(f"Permanently erase arguments and output of {receipt}?", yes=yes):
            raise Refused("Nothing was erased.", code="not_answered")
        caller = Caller(subject=person.name, channel=person.channel)
        where = Session(session_id=found.header["session_id"], caller=caller)
        record = gate.ledger.erase(receipt, session=where, reason=reason)
    here.screen.data({"erased": receipt, "receipt_id": record.receipt_id})
    here.screen.line(f"erased; {record.receipt_id} says so")
    return Exit.OK


def find(ledger: "Ledger", receipt_id: str) -> "Receipt":
    """Return a receipt that verifies.

    Raises:
        Refused: `receipt_unknown`.
    """
    found = ledger.find(receipt_id)
    if found is None:
        message = (
            f"No valid receipt '{receipt_id:.100}'. `tally audit list` shows them, `tally audit verify` says more."
        )
        raise Refused(message, code="receipt_unknown")
    return found


class _Wanted:
    """A filter for receipts."""

    def __init__(self, *, session: str | None, tool: str | None, status: str | None, kind: str | None) -> None:
        self.session = session
        asked = {"session_id": session, "tool_id": tool, "kind": kind}
        self._asked = {name: value for name, value in asked.items() if value is not None}
        self._status = status

    @property
    def everything(self) -> bool:
        return not self._asked and self._status is None

    def fits(self, receipt: "Receipt") -> bool:
        header = receipt.header
        published = (header.get("outcome") or {}).get("status")
        if self._status is not None and self._status not in {published, outcome_status(header)}:
            return False
        return all(header.get(name) == value for name, value in self._asked.items())


def _newest(ledger: "Ledger", wanted: _Wanted, *, limit: int, offset: int) -> tuple[list["Receipt"], int]:
    """Return the newest matching receipts and the number of all matches, with at most `limit + offset` in memory."""
    if wanted.everything:
        total = ledger.size()
        stop = max(0, total - offset)
        start = max(0, stop - limit)
        page = [receipt for receipt, _ in zip(ledger.read(start), range(stop - start), strict=False)]
        return page[::-1], total
    receipts: Iterable[Receipt] = ledger.read() if wanted.session is None else ledger.session(wanted.session)
    last: deque[Receipt] = deque(maxlen=limit + offset)
    total = 0
    for receipt in filter(wanted.fits, receipts):
        total += 1
        last.append(receipt)
    return list(last)[::-1][offset:], total


def _coming(ledger: "Ledger") -> Iterator["Receipt"]:
    """Yield receipts written from now on by any process."""
    seen = ledger.size()
    while True:
        for receipt in ledger.read(seen):
            seen = receipt.seq + 1
            yield receipt
        time.sleep(POLL_S)


HEADS = ["receipt", "time", "kind", "session", "tool", "status", "code"]


def _row(receipt: "Receipt") -> tuple[Any, ...]:
    header = receipt.header
    return (
        header["receipt_id"],
        str(header["timestamp"])[:19] + "Z",
        header["kind"],
        header["session_id"],
        header.get("tool_id", "-"),
        outcome_status(header) or "-",
        outcome_code(header) or "-",
    )


COLUMNS = (
    "receipt_id",
    "seq",
    "timestamp",
    "kind",
    "session_id",
    "agent_id",
    "caller",
    "tool_id",
    "outcome",
    "approval",
    "inputs",
    "outputs",
    "excerpt",
    "sha256",
    "full_size",
    "erased",
    "file_refs",
    "links",
    "audit",
    "policy_digest",
    "duration_us",
    "key_id",
    "signature",
    "prev",
)

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
        raise UsageMistake("--format must be jsonl or csv.")
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
