"""What the page works out without a browser."""

from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, tool
from tallystick.doors.mcp.relay.default_policy import relay_settings
from tallystick.doors.mcp.relay.pins import PinBook
from tallystick.doors.web.components.bell import page_of
from tallystick.doors.web.components.schema_form import plain_field
from tallystick.doors.web.components.settings_policy import beside_relay, would
from tallystick.doors.web.pages.receipts import Feed, Wanted
from tallystick.gate.decide.policy import Policy

POLICY = """
[policy]
external = "ask"
[tools.send]
roles = ["clerk"]
[[tools.send.rules]]
otherwise = "deny"
schema = { properties = { to = { pattern = "@example\\\\.org$" } } }
"""


@tool(effect="external")
def send(to: str) -> str:
    """Send something."""
    return to


@tool(effect="read")
def breaks() -> int:
    """Fail."""
    raise ValueError("inside")


@pytest.mark.promise("api.failed")
def test_the_receipts_page_shows_a_failed_call_as_failed_with_its_code(tmp_path: Path) -> None:
    with Gate.open(tmp_path, plugins=False) as gate:
        gate.register(breaks)
        failed, refused = gate.call_sync(breaks), gate.call_sync(breaks, {"wrong": 1})
        rows = {row["id"]: row["status"] for row in Feed(gate.ledger, Wanted()).older(10)}
        found = [row["id"] for row in Feed(gate.ledger, Wanted(status="failed", words="tool_failed")).older(10)]
    assert (failed.failed, failed.code, failed.status) == (True, "tool_failed", "accepted")
    assert (refused.failed, refused.code, refused.status) == (False, "INVALID_PAYLOAD", "rejected")
    assert (rows[failed.receipt_id], rows[refused.receipt_id]) == ("failed (tool_failed)", "rejected")
    assert found == [failed.receipt_id]


@pytest.mark.promise("page.bell")
@pytest.mark.parametrize(
    ("link", "page"),
    [
        ("/runs/run_1", "/runs/run_1"), ("/receipts?words=a%20b", "/receipts?words=a%20b"),
        ("/approvals/appr_1", "/approvals/appr_1"), ("/desk", "/desk"), ("/api/other", "/"),
        ("https://other.example/", "/"), ("//other.example/", "/"), ("/\\other.example", "/"),
        ("javascript:alert(1)", "/"), ("", "/"),
    ],
)  # fmt: skip
def test_a_notification_leads_to_a_page_of_this_server_and_nowhere_else(link: str, page: str) -> None:
    assert page_of(link) == page


@pytest.mark.promise("page.settings")
@pytest.mark.parametrize(
    ("args", "roles", "verdict", "reason"),
    [
        ({"to": 7}, {"clerk"}, "deny", "before policy: /to breaks the schema's rule 'type'"),
        ({}, {"clerk"}, "deny", "before policy: /to breaks the schema's rule 'required'"),
        ({"to": "a@example.org"}, {"clerk"}, "ask", "approval_required"),
        ({"to": "a@other.example"}, {"clerk"}, "deny", None),
        ({"to": "a@example.org"}, {"reader"}, "deny", None),
    ],
)  # fmt: skip
def test_a_dry_run_says_what_would_happen_to_a_call(
    args: dict[str, Any], roles: set[str], verdict: str, reason: str | None
) -> None:
    found = would(Policy.from_text(POLICY), send.card, args, frozenset(roles))
    assert found.verdict == verdict
    assert reason in {None, found.reason}


@pytest.mark.promise("page.settings")
def test_a_dry_run_of_a_policy_in_shadow_says_what_it_would_have_stopped() -> None:
    found = would(
        Policy.from_text('[policy]\nshadow = true\nexternal = "deny"\n'), send.card, {"to": "x"}, frozenset({"owner"})
    )
    assert found.verdict == "allow"
    assert found.reason.startswith("shadow: without it, ")


@pytest.mark.promise("page.settings", "relay.unsaid")
def test_where_a_server_is_wrapped_the_page_says_that_other_defaults_hold_for_it(tmp_path: Path) -> None:
    (tmp_path / "tallystick.toml").write_text('[tools."s.write_note"]\nrate = 5\n[tools.misspelt]\nrate = 5\n')
    unknown = ("misspelt", "s.write_note")
    with Gate.open(tmp_path, plugins=False) as gate:
        assert beside_relay(gate, unknown) == ("", unknown)
        PinBook(tmp_path).compare([{"name": "write_note"}])
        said, left = beside_relay(gate, unknown)
        relays = Policy.from_settings(relay_settings(tmp_path))
        assert relays.digest != gate.policy.digest
    assert relays.digest in said
    assert left == ("misspelt",)


@pytest.mark.promise("page.rooms")
@pytest.mark.parametrize(
    ("about", "asked"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}, {"type": "integer", "default": None}),
        ({"$ref": "#/$defs/Colour", "description": "Which"}, {"enum": ["red"], "description": "Which"}),
        ({"anyOf": [{"$ref": "#/$defs/Colour"}, {"type": "null"}]}, {"enum": ["red"]}),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"type": "object"}),
        ({"$ref": "#/$defs/Missing"}, {}),
        (True, {}),
    ],
)
def test_a_field_is_asked_for_as_the_schema_means_it(about: Any, asked: dict[str, Any]) -> None:
    assert plain_field(about, {"$defs": {"Colour": {"enum": ["red"]}}}) == asked
