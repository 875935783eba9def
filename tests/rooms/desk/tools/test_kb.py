"""`kb.search` and `kb.read` through the gate."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.rooms.desk.sample_data import copy_sample
from tests.gates import open_gate, outcomes

OLD = "returns/returns-policy-2023.md"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    copy_sample(tmp_path / "kb")
    with open_gate(tmp_path, plugins=True, rooms={"desk": {"kb_meaning": False}}) as opened:
        yield opened


def asked(gate: Gate, tool: str, **args: Any) -> Any:
    return gate.call_sync(tool, args).unwrap()


@pytest.mark.promise("desk.kb-tools")
def test_a_search_gives_passages_and_its_receipt_names_them(gate: Gate, tmp_path: Path) -> None:
    found = asked(gate, "kb.search", query="How long does standard delivery take?", k=2)
    best = found["passages"][0]
    assert best["doc"] == "shipping/delivery-times.md"
    assert best["section"] == "Delivery times > How long a delivery takes"
    assert "three to five working days" in best["snippet"]
    assert len(found["passages"]) == 2
    ref = outcomes(gate)[-1].header["file_refs"][0]
    data = (tmp_path / "kb" / best["doc"]).read_bytes()
    assert (ref["path"], ref["sha256"]) == (f"kb/{best['doc']}", sha256(data).hexdigest())
    assert (ref["lines"], ref["excerpt_sha256"]) == (best["lines"], sha256(best["snippet"].encode()).hexdigest())


@pytest.mark.promise("desk.kb-tools", "desk.kb-standing")
def test_a_superseded_document_is_named_and_can_be_read_as_what_it_is(gate: Gate) -> None:
    found = asked(gate, "kb.search", query="within how many days can goods be returned", k=20)
    assert OLD not in {passage["doc"] for passage in found["passages"]}
    assert {
        "doc": OLD,
        "title": "Returns policy (2023)",
        "status": "superseded",
        "superseded_by": "returns/returns-policy.md",
    } in found["left_out"]
    assert asked(gate, "kb.read", doc=OLD)["status"] == "superseded"


@pytest.mark.promise("desk.kb-tools")
def test_a_document_a_section_or_lines_are_read_as_they_stand(gate: Gate, tmp_path: Path) -> None:
    doc = "products/kestrel-kettle.md"
    lines = (tmp_path / "kb" / doc).read_text().splitlines()
    whole = asked(gate, "kb.read", doc=doc)
    assert whole["text"].splitlines()[6:] == lines[6:]
    section = asked(gate, "kb.read", doc=doc, section="removing limescale")
    assert section["text"].startswith("## Removing limescale")
    assert "citric acid" in section["text"]
    assert "E2" not in section["text"]
    part = asked(gate, "kb.read", doc=doc, start_line=10, end_line=12)
    assert part["text"] == "\n".join(lines[9:12])
    assert asked(gate, "kb.read", doc=doc, section="Kestrel kettle, manual")["end_line"] == len(lines)


@pytest.mark.promise("desk.kb-tools")
def test_a_long_document_is_read_in_parts(gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "kb" / "long.md").write_text("\n".join(f"Line {number}." for number in range(1, 601)))
    first = asked(gate, "kb.read", doc="long.md")
    assert (first["end_line"], first["next_start_line"], first["total_lines"]) == (250, 251, 600)
    last = asked(gate, "kb.read", doc="long.md", start_line=501)
    assert (last["end_line"], last["next_start_line"]) == (600, None)


@pytest.mark.promise("desk.kb-tools", "desk.kb-paths")
@pytest.mark.parametrize(
    ("args", "status"),
    [
        ({"doc": "../tallystick.toml"}, 404),
        ({"doc": "/etc/passwd"}, 404),
        ({"doc": "none.md"}, 404),
        ({"doc": ".control-room/audit/secret.key"}, 404),
        ({"doc": "shipping"}, 404),
        ({"doc": "billing/invoices.md", "section": "No such"}, 404),
        ({"doc": "billing/invoices.md", "start_line": 9_999}, 404),
        ({"doc": "billing/invoices.md", "start_line": 9, "end_line": 3}, 404),
        ({"doc": "billing/invoices.md", "section": "Invoices", "start_line": 3}, 400),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_hint(gate: Gate, args: dict[str, Any], status: int) -> None:
    outcome = gate.call_sync("kb.read", args)
    assert not outcome.ok
    assert outcome.fault is not None
    assert outcome.failure is not None
    assert status in {outcome.failure.status, outcome.fault.http}
    assert outcome.failure.hint


@pytest.mark.promise("desk.kb-tools")
@pytest.mark.parametrize(
    "args", [{}, {"query": ""}, {"query": "x", "k": 0}, {"query": "x", "k": 21}, {"query": "x", "folder": "/"}]
)
def test_a_search_that_does_not_fit_its_schema_is_refused(gate: Gate, args: dict[str, Any]) -> None:
    assert gate.call_sync("kb.search", args).status == "rejected"


@pytest.mark.promise("desk.kb-tools")
def test_without_a_knowledge_base_it_is_said_where_to_put_one(tmp_path: Path) -> None:
    with open_gate(tmp_path, plugins=True, rooms={"desk": {"kb": "later", "kb_meaning": False}}) as gate:
        outcome = gate.call_sync("kb.search", {"query": "anything"})
        assert outcome.fault is not None
        assert outcome.fault.name == "part_missing"
        (tmp_path / "later").mkdir()
        (tmp_path / "later" / "a.md").write_text("# A\n\nAnything goes.\n")
        assert asked(gate, "kb.search", query="anything")["passages"][0]["doc"] == "a.md"


@pytest.mark.promise("desk.kb-tools")
def test_a_folder_elsewhere_can_be_named(tmp_path: Path) -> None:
    copy_sample(tmp_path / "elsewhere")
    with open_gate(
        tmp_path / "work", plugins=True, rooms={"desk": {"kb": str(tmp_path / "elsewhere"), "kb_meaning": False}}
    ) as gate:
        assert asked(gate, "kb.search", query="gift card valid")["passages"][0]["doc"] == "billing/gift-cards.md"
        assert outcomes(gate)[-1].header["file_refs"][0]["path"] == "kb:billing/gift-cards.md"
        assert (tmp_path / "work" / ".control-room" / "desk" / "kb" / "index.json").is_file()
