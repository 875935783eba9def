"""What a tool shows of a file stands in its receipt: the lines, and their hash."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.gates import open_gate
from tests.offline_turns import write_files

SCENE, LATER = "Story/Scenes/SCN-01-harbour.md", "Story/Scenes/SCN-02-mill.md"
FILES = {
    "Story/SCN-outline.md": "# Act I\n\n## 1. Harbour (POV: Mara)\nMara walks home in the rain.\n\n## 3. The Fire\n",
    SCENE: '# Harbour\n\nMara walked home in the rain. "Rain," said Jon.\n\nMara had green eyes. Mara was thirty.\n',
    LATER: "# Mill\n\nIt was very, very late when Mara came.\n\nThe lamp shone into Mara's brown eyes.\n",
    "Compendium/Characters/CHAR-mara.md": "---\nname: Mara Voss\naliases: [Mara]\neyes: green\n---\n# Mara Voss\n",
}


@pytest.mark.promise("studio.receipts-quote")
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("file_reader", {"file_path": SCENE, "start_line": 3, "end_line": 5}),
        ("file_locator", {"search_criteria": "Mara", "scan_mode": "DEEP_SCAN"}),
        ("outline_analyzer", {"mode": "structure"}),
        ("outline_analyzer", {"mode": "coverage"}),
        ("scene_draft_validator", {"scene_path": SCENE}),
        ("prose_analyzer", {"scene_path": LATER}),
        ("canon_checker", {"scene_path": LATER}),
        ("consistency_checker", {"file_paths": [SCENE, LATER]}),
    ],
)
def test_the_receipt_has_the_hash_of_every_line_that_is_shown(tmp_path: Path, tool: str, args: dict[str, Any]) -> None:
    with open_gate(write_files(tmp_path, FILES), plugins=True) as gate:
        outcome = gate.call_sync(tool, args)
        receipt = gate.ledger.find(outcome.receipt_id)
    assert receipt is not None
    refs = receipt.header["file_refs"]
    held: set[str] = set()
    for ref in refs:
        text = FILES[ref["path"]]
        assert ref["sha256"] == sha256(text.encode()).hexdigest()
        if "lines" in ref:
            first, last = ref["lines"]
            lines = text.split("\n")[first - 1 : last]
            assert ref["excerpt_sha256"] == sha256("\n".join(lines).encode()).hexdigest()
            held.update(lines)
    shown = list(_quotes(outcome.unwrap()))
    assert shown
    assert all(any(quote in line for line in held) for quote in shown)


@pytest.mark.promise("studio.receipts-quote")
def test_a_file_of_which_nothing_is_shown_is_named_without_lines(tmp_path: Path) -> None:
    with open_gate(write_files(tmp_path, FILES), plugins=True) as gate:
        outcome = gate.call_sync("file_locator", {"search_criteria": "harbour"})
        receipt = gate.ledger.find(outcome.receipt_id)
    assert receipt is not None
    assert {ref["path"] for ref in receipt.header["file_refs"]} >= {SCENE}
    assert all("lines" not in ref for ref in receipt.header["file_refs"])


def _quotes(value: Any) -> Iterator[str]:
    """The words of every line that stands in a result."""
    if isinstance(value, Mapping):
        words = value.get("quote") or (value.get("text") if "line" in value or "total_lines" in value else None)
        yield from [] if words is None else words.split("\n")
        for inner in value.values():
            yield from _quotes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _quotes(inner)
