"""Receipts as table rows, newest first."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from tallystick.doors.presentation.outcomes import outcome_code
from tallystick.doors.web.parts.receipt_card import status_of
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.receipt import Receipt
from tallystick.records import record

MORE = 200
"""Rows sent at once."""
CHUNK = 1_000
"""Records read at once, backwards."""


@record
class Wanted:
    """The filter."""

    words: str = ""
    """Each word must occur in the tool, session, agent, kind, code or id."""
    status: str = ""

    def fits(self, receipt: Receipt) -> bool:
        """Return whether a receipt matches."""
        header = receipt.header
        if self.status and status_of(header) != self.status:
            return False
        if not self.words:
            return True
        named = ("tool_id", "session_id", "agent_id", "kind", "receipt_id", "conference_id", "task_id")
        said = " ".join([*(str(header.get(name, "")) for name in named), outcome_code(header) or ""]).casefold()
        return all(word in said for word in self.words.casefold().split())


class Feed:
    """One reader's position in the log."""

    def __init__(self, ledger: Ledger, wanted: Wanted) -> None:
        self._ledger = ledger
        self._wanted = wanted
        self._top = ledger.size()
        self._rows = self._backwards(self._top)
        self.done = False
        """Whether the beginning of the log was reached."""

    def older(self, count: int) -> list[dict[str, Any]]:
        """Return the next rows back in time."""
        rows = list(islice(self._rows, count))
        self.done = len(rows) < count
        return rows

    def has_newer(self) -> bool:
        """Return whether there are new records; cheap."""
        return self._ledger.size() > self._top

    def newer(self) -> list[dict[str, Any]]:
        """Return the new rows, newest first."""
        found = [receipt for receipt in self._ledger.read(self._top) if receipt.seq >= self._top]
        self._top += len(found)
        return [row_of(receipt) for receipt in reversed(found) if self._wanted.fits(receipt)]

    def _backwards(self, end: int) -> Iterator[dict[str, Any]]:
        while end > 0:
            start = max(0, end - CHUNK)
            chunk = list(islice(self._ledger.read(start), end - start))
            yield from (row_of(receipt) for receipt in reversed(chunk) if self._wanted.fits(receipt))
            end = start


def row_of(receipt: Receipt) -> dict[str, Any]:
    """Convert a receipt to a row."""
    header = receipt.header
    status = status_of(header)
    shown = f"{status} ({outcome_code(header)})" if status == "failed" else status
    return {
        "id": receipt.receipt_id, "seq": receipt.seq, "when": str(header.get("timestamp", ""))[:19].replace("T", " "),
        "what": header.get("tool_id") or header["kind"], "status": shown,
        "session": header.get("session_id", ""), "agent": header.get("agent_id") or "",
    }  # fmt: skip
