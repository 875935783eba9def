"""A small workspace with an outline, scenes, a canon, receipts and records, and replies to be checked in it."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from tallystick.gate.record.receipt import Receipt
from tallystick.gate.reply.check import check_reply
from tallystick.gate.reply.findings import Findings
from tallystick.gate.reply.own_text import NOTHING_WRITTEN
from tallystick.storage.files import FileSources

VECTORS = Path(__file__).parents[2] / "vectors"
LINES: dict[str, Any] = json.loads((VECTORS / "reply_lines.json").read_text(encoding="utf-8"))
POINTER = "See the passage below."
"""A body that claims nothing itself, for tests of what stands on the line."""
TICKETS = {"12": "App crashes when I open it on my phone", "13": "Broken again"}
OBSERVATIONS = {"9f": "The keeper says the lamp was out at nine."}
FIGURES = {'share(status="open")': Decimal("41.26"), "count(panes)": Decimal(1204)}


def receipt(receipt_id: str, **header: Any) -> Receipt:
    """A receipt as the ledger would give it back: found and verified."""
    full = {
        "receipt_id": receipt_id, "seq": 0, "kind": "outcome", "session_id": "s1", "round_id": "r1",
        "conference_id": "c1", "outcome": {"status": "accepted"},
    } | header  # fmt: skip
    return Receipt(
        header=full,
        inputs={"file_path": "Story/Scenes/SCN-01.md"},
        outputs={"text": "The rain had begun before dawn.", "words": ["one", "42"], "count": 42},
    )


class Book:
    """Receipts by id; those that do not verify are not in it, as with the ledger."""

    def __init__(self, *receipts: Receipt) -> None:
        self.held = {one.receipt_id: one for one in receipts}

    def find(self, receipt_id: str) -> Receipt | None:
        return self.held.get(receipt_id)


class Check:
    """Checks replies in the small workspace."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for path, text in LINES["files"].items():
            self.write(path, text)
        self.sources = FileSources(root, records={"ticket": TICKETS.get, "obs": OBSERVATIONS.get}, figures=FIGURES.get)
        self.book = Book(
            receipt("rcpt_good"),
            receipt("rcpt_foreign", session_id="s2", round_id="r0"),
            receipt("rcpt_refused", outcome={"status": "rejected"}),
            receipt("rcpt_held", kind="held"),
            Receipt(header=receipt("rcpt_erased").header, erased=True),
        )

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def __call__(self, text: str, **more: Any) -> Findings:
        return check_reply(
            text, sources=self.sources, receipts=self.book, writings=NOTHING_WRITTEN, session_id="s1", **more
        )

    def line(self, line: str, **more: Any) -> Findings:
        return self(f"{POINTER}\n\nEvidence: {line}", **more)
