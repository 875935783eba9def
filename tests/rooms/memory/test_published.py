"""What the documents say of memory is what the code does."""

import re
import tomllib

import pytest

from tallystick.rooms.memory.policy import MemorySettings, Policy
from tallystick.rooms.memory.weigh.status_rules import RIVAL, SUPERSEDED, TABLE
from tests.house.sources import ROOT
from tests.rooms.memory.remembering import Remembering

NINE = {
    "record_observation", "create_or_link_entity_candidate", "propose_proposition", "attach_support",
    "attach_contradiction", "propose_test", "execute_test_result_ingest", "request_consolidation", "archive_episode",
}  # fmt: skip
MEMORY = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")
PAYLOADS = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8").split("## 15. Memory's payloads")[1]


@pytest.mark.promise("memory.published")
def test_the_nine_tools_are_there_and_their_payloads_are_published(memory: Remembering) -> None:
    cards = {card.name: card for card in memory.gate.tools()}
    assert cards.keys() >= NINE
    written = {
        (tool, field): must
        for tool, field, must in re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\w*) ?\|", PAYLOADS, re.MULTILINE)
    }
    wanted = {
        (name, field): "required" if field in cards[name].input_schema["required"] else ""
        for name in NINE
        for field in cards[name].input_schema["properties"]
        if field != "at"
    }
    assert written == wanted
    assert all(cards[name].effect == "write" and cards[name].owned_keys for name in NINE)


@pytest.mark.promise("memory.published")
def test_the_numbers_on_the_page_are_the_defaults_and_every_rule_is_named() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", MEMORY, re.DOTALL)
    raw = tomllib.loads(block)["rooms"]["memory"]
    assert MemorySettings.model_validate(raw).model_dump() == Policy().model_dump()
    assert raw.keys() | {"predicates", "off"} == Policy.model_fields.keys()
    assert re.findall(r"^\| `(S\d+-[a-z-]+)` \| (\w+)", MEMORY, re.MULTILINE)[: len(TABLE)] == [
        (row.rule, row.status) for row in TABLE
    ]
    assert f"`{RIVAL}`" in MEMORY
    assert f"`{SUPERSEDED}`" in MEMORY
