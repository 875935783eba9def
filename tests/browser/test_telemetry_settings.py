"""The pages that are plain but complete: what was counted, and what is set."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tallystick import Gate
from tallystick.agents.counts import Count
from tallystick.doors.mcp.relay.pins import PinBook
from tallystick.gate.session import Session
from tallystick.rooms.studio.services.prompts import PromptService
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.agents import Registry
from tallystick.storage.ledger import audit_folder
from tallystick.telemetry.rejections import Rejections
from tests.browser.serving import PHONE, Served, Visit, fits, serving
from tests.scripted_server import Says, ScriptedServer
from tests.verifying import verify

Open = Callable[..., Visit]
NASTY = "<img src=x onerror=alert(1)>"
TOOLS = """
from tallystick import tool

@tool(effect="external")
def send(to: str, body: str) -> str:
    "Send a mail."
    return f"sent to {to}"
"""
KEY = "sk-this-must-never-be-shown-anywhere"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    workspace = tmp_path_factory.mktemp("set")
    (workspace / "tools.py").write_text(TOOLS)
    (workspace / "tallystick.toml").write_text('[gate]\ntools = ["tools.py"]\n[tools.sned]\ndecision = "deny"\n')
    with serving(workspace, TALLY_TEST_KEY=KEY) as server:
        yield server


@pytest.mark.promise("page.telemetry")
def test_telemetry_is_empty_at_first_and_numbers_come_by_themselves(served: Served, visit: Open) -> None:
    here, second = visit(served), visit(served, PHONE)
    page = here.open("/telemetry")
    second.open("/telemetry")
    expect(page.get_by_text("Nothing was counted yet")).to_be_visible()
    here.check()
    with closing(Rejections(served.workspace / CONTROL_ROOM / "telemetry")) as counts:
        for place, agent in enumerate(("critic", "planner", "writer"), 1):
            where = Session(session_id=f"chat_{place}", agent_id=agent, conference_id="conf_the_eyes")
            counts.add(where, Count(activations=place, tokens_in=5_000 * place, tokens_out=700, cost_microusd=4_100))
            for bucket in ("quote_not_found", "evidence_invalid", "format_error")[:place]:
                counts.add(where, bucket=bucket)
    for page in (here.page, second.page):
        expect(page.get_by_text("Tokens read").first).to_be_visible()
        expect(page.get_by_role("img", name="Refusals by reason")).to_be_visible()
        expect(page.get_by_role("cell", name="critic")).to_be_visible()
        expect(page.get_by_text("$0.0123").first).to_be_visible()
    here.picture("telemetry")
    with closing(Rejections(served.workspace / CONTROL_ROOM / "telemetry")) as counts:
        counts.add(Session(session_id="chat_4", agent_id=NASTY), Count(activations=1))
    for page in (here.page, second.page):
        expect(page.get_by_role("cell", name=NASTY)).to_be_visible()
    fits(second.page)
    here.check()
    second.check()


@pytest.mark.promise("page.settings")
@pytest.mark.parametrize("part", ["agents", "prompts", "policy", "keys", "files", "nothing"])
def test_every_setting_can_be_looked_at_on_a_phone_without_logging_in(served: Served, visit: Open, part: str) -> None:
    here = visit(served, PHONE)
    page = here.open(f"/settings/{part}")
    words = {
        "agents": "Changing an agent needs a person.", "prompts": "it waits here for you", "policy": "Digest",
        "keys": "Putting new keys in force needs a person.", "files": "Where everything lies",
        "nothing": "There is no such setting",
    }  # fmt: skip
    expect(page.get_by_text(words[part]).first).to_be_visible()
    fits(page)
    secrets = [KEY, served.token, (audit_folder(served.workspace) / "secret.key").read_text().strip()]
    assert not any(secret in page.content() for secret in secrets)
    here.check()


@pytest.mark.promise("page.settings")
def test_an_agent_is_given_another_model_by_keyboard_and_its_connection_is_tried(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.log_in("/settings/agents")
    page.get_by_role("button", name="Test connection of Critic").press("Enter")
    expect(page.get_by_text("It is part of this program")).to_be_visible()
    with ScriptedServer(always=Says(NASTY)) as model:
        page.get_by_role("button", name="Another model for Critic").press("Enter")
        page.get_by_label("provider *").press("Enter")
        page.get_by_role("option", name="lmstudio").click()
        page.get_by_label("model *").fill("small-one")
        page.get_by_label("base url").fill("ftp://nowhere")
        page.get_by_role("button", name="Use this").press("Enter")
        expect(page.get_by_text("endpoint_invalid")).to_be_visible()
        page.get_by_label("base url").fill(model.base_url)
        page.get_by_label("api key env").fill("TALLY_TEST_KEY")
        page.get_by_role("button", name="Use this").press("Enter")
        expect(page.get_by_text("in the variable TALLY_TEST_KEY")).to_be_visible()
        page.get_by_role("button", name="Test connection of Critic").press("Enter")
        expect(page.get_by_text("It answered in")).to_be_visible()
        here.picture("settings")
        assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"
    page.get_by_role("button", name="Test connection of Critic").press("Enter")
    expect(page.get_by_text("endpoint_unreachable")).to_be_visible()
    assert KEY not in page.content()
    here.check()
    page.get_by_role("button", name="Switch off Critic").press("Enter")
    expect(page.get_by_role("button", name="Switch on Critic")).to_be_visible()
    roster = Registry(served.workspace).load()
    critic = roster.get("critic")
    assert critic is not None
    assert (critic.enabled, roster.endpoint("critic").model) == (False, "small-one")


@pytest.mark.promise("page.settings")
def test_a_proposed_wording_is_shown_beside_the_present_one_and_decided_by_a_person(
    served: Served, visit: Open
) -> None:
    with Gate.open(served.workspace) as gate:
        desk = PromptService(gate)
        for words in ("Find things.", f"Find {NASTY}."):
            desk.propose("file-locator", {"description": words}, agent="critic", reason="It is too long.")
    looking = visit(served)
    page = looking.open("/settings/prompts")
    expect(page.get_by_text(f"Find {NASTY}.")).to_be_visible()
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    here = visit(served)
    page = here.log_in("/settings/prompts")
    expect(page.get_by_text("It is too long.")).to_have_count(2)
    here.check()
    page.get_by_role("button", name="Reject").first.press("Enter")
    expect(page.get_by_role("button", name="Accept")).to_have_count(1)
    page.get_by_role("button", name="Accept").press("Enter")
    expect(page.get_by_text("it waits here for you")).to_be_visible()
    expect(looking.page.get_by_text("it waits here for you")).to_be_visible()
    with Gate.open(served.workspace) as gate:
        assert PromptService(gate).registry.load().prompts["file-locator"].description == "Find things."


@pytest.mark.promise("page.settings")
def test_a_dry_run_says_what_would_happen_and_runs_nothing(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.open("/settings/policy")
    expect(page.get_by_text("tools.sned has rules, but no such tool is registered.")).to_be_visible()
    size = _receipts(served)

    def tried(args: str, words: str) -> None:
        page.get_by_label("Arguments (JSON)").fill(args)
        page.get_by_role("button", name="What would happen").press("Enter")
        expect(page.get_by_text(words)).to_be_visible()

    tried("{}", "No tool was chosen.")
    page.get_by_label("Tool", exact=True).fill("send")
    expect(page.get_by_role("option", name="send")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    tried("{", "The arguments are no JSON.")
    tried('{"to": 7, "body": "x"}', "before policy: /to breaks")
    tried('{"to": "a@example.org", "body": "x"}', "It would be held until a person has answered.")
    here.check()
    here.picture("policy")
    page.get_by_text("By another policy").click()
    page.get_by_label("Policy (TOML)").fill('[tools.send]\ndecision = "deny"\n')
    tried('{"to": "a@example.org", "body": "x"}', "It would be refused, and nothing would run.")
    page.get_by_label("Policy (TOML)").fill("[policy]\nnonsense = 1\n")
    tried("{}", "config_unknown_key")
    assert _receipts(served) == size


@pytest.mark.promise("page.settings", "relay.unsaid")
def test_beside_a_wrapped_server_the_page_says_whose_policy_it_shows(served: Served, visit: Open) -> None:
    here = visit(served)
    note = here.open("/settings/policy").get_by_text("A server is wrapped in this workspace")
    expect(here.page.get_by_text("The policy in force")).to_be_visible()
    expect(note).to_have_count(0)
    PinBook(served.workspace).compare([{"name": "write_note"}])
    here.open("/settings/policy")
    expect(note).to_be_visible()
    here.check()
    (served.workspace / CONTROL_ROOM / "relay.json").write_text("[")
    page = here.open("/settings/policy")
    expect(page.get_by_text("relay_pins_damaged")).to_be_visible()
    expect(page.get_by_text("The policy in force")).to_be_visible()
    (served.workspace / CONTROL_ROOM / "relay.json").unlink()


@pytest.mark.promise("page.settings")
def test_keys_are_rotated_by_a_person_and_everything_still_verifies(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.log_in("/settings/keys")
    with Gate.open(served.workspace) as gate:
        before = gate.ledger.keys.active().key_id
    page.get_by_role("button", name="Rotate the keys").press("Enter")
    page.get_by_role("button", name="Put them in force").press("Enter")
    expect(page.get_by_text("New keys are in force.")).to_be_visible()
    expect(page.get_by_text("Retired, still checks").first).to_be_visible()
    here.check()
    with Gate.open(served.workspace) as gate:
        assert gate.ledger.keys.active().key_id != before
    assert verify(served.workspace, served.state).ok


def _receipts(served: Served) -> int:
    with Gate.open(Path(served.workspace), plugins=False) as gate:
        return gate.ledger.size()
