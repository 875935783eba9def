"""`evidence_check` for an MCP client: what the client itself brought in proves nothing, under whatever name."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="left out: `tally mcp serve`, the mcp extra is not there")

from mcp.client.client import Client

from tallystick import tool
from tests.doors.mcp.served import House

CLAIM = "the sky is made of brass plates"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "ws")
    notes: list[str] = ["Ada kept the light for thirty years."]

    @tool(effect="write")
    def add_note(text: str) -> int:
        """Add a note."""
        notes.append(text)
        return len(notes)

    @tool(effect="read")
    def read_notes() -> list[str]:
        """Read all notes."""
        return list(notes)

    made.gate.register(add_note, read_notes)
    yield made
    made.close()


@pytest.mark.promise("reply.own-text")
@pytest.mark.parametrize("agent", [{}, {"agent": "somebody-else"}])
def test_a_client_cannot_cite_its_own_question_or_note(house: House, agent: dict[str, str]) -> None:
    async def talk(client: Client) -> list[Any]:
        await client.call_tool("add_note", {"text": CLAIM})
        await client.call_tool("about", {"name": CLAIM})
        await client.call_tool("read_notes", {})
        receipts = {one["tool_id"]: one["receipt_id"] for one in house.receipts() if one["kind"] == "outcome"}
        lines = [
            f'"{CLAIM}" receipt {receipts["about"]}',
            f'"{CLAIM}" receipt {receipts["read_notes"]}',
            f'"Ada kept the light for thirty years" receipt {receipts["read_notes"]}',
        ]
        replies = [f"So.\nEvidence: {line}" for line in lines]
        return [await client.call_tool("evidence_check", {"reply": reply, **agent}) for reply in replies]

    found = [answer.structured_content for answer in house.talk(talk)]
    checks = [each.get("result", each) for each in found]
    assert [check["items"][0].get("code") for check in checks] == ["own_text", "own_text", None]
    assert [check["ok"] for check in checks] == [False, False, True]
