from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tallystick import Gate
from tests.browser.serving import DESKTOP, PHONE, Served, Visit, serving

Open = Callable[..., Visit]
TOOLS = """
from tallystick import tool

@tool(effect="write")
def send(to: str, body: str) -> str:
    "Send a mail."
    return f"sent to {to}"
"""
CONFIG = """
[policy]
write = "ask"
[gate]
tools = ["tools.py"]
[ledger]
durability = "os"
"""


def ask(workspace: Path, to: str, body: str = "<b>hello</b>") -> str:
    with Gate.open(workspace) as gate:
        held = gate.call_sync("send", {"to": to, "body": body}).held
    assert held is not None
    return held.approval_id


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    workspace = tmp_path_factory.mktemp("asking")
    (workspace / "tools.py").write_text(TOOLS)
    (workspace / "tallystick.toml").write_text(CONFIG)
    with serving(workspace) as server:
        yield server


@pytest.mark.promise("page.approvals")
def test_at_first_nothing_is_held_and_a_held_call_appears_by_itself(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.open("/approvals")
    expect(page.get_by_text("Nothing is held")).to_be_visible()
    here.check()
    ask(served.workspace, "first@example.org")
    expect(page.get_by_text("first@example.org")).to_be_visible()
    here.check()


@pytest.mark.promise("page.approvals", "page.login")
@pytest.mark.parametrize("how_large", [DESKTOP, PHONE])
def test_without_the_token_one_may_look_but_not_answer(served: Served, visit: Open, how_large: tuple[int, int]) -> None:
    name = ask(served.workspace, f"{how_large[0]}@example.org")
    here = visit(served, how_large)
    page = here.open(f"/approvals/{name}")
    expect(page.get_by_text("Answering needs a person.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    here.check()


@pytest.mark.promise("page.approvals", "page.login")
def test_a_person_approves_by_keyboard_alone(served: Served, visit: Open) -> None:
    name = ask(served.workspace, "keys@example.org")
    here = visit(served)
    page = here.log_in(f"/approvals/{name}")
    expect(page.get_by_text("Keys: a approves")).to_be_visible()
    here.check()
    here.picture("approval")
    page.keyboard.press("a")
    page.wait_for_url("**/approvals")
    with Gate.open(served.workspace) as gate:
        hold = gate.approvals.get(name)
        assert hold is not None
        assert hold.state == "granted"
        assert gate.resume_sync(name).unwrap() == "sent to keys@example.org"


@pytest.mark.promise("page.approvals")
def test_a_person_rejects_with_a_reason_and_changes_arguments(served: Served, visit: Open) -> None:
    no, other = ask(served.workspace, "no@example.org"), ask(served.workspace, "wrong@example.org")
    here = visit(served)
    page = here.log_in(f"/approvals/{no}")
    expect(page.get_by_text("Keys: a approves")).to_be_visible()
    page.keyboard.press("r")
    page.get_by_label("Why not?").press("Enter")
    expect(page.get_by_text("Say why")).to_be_visible()
    page.get_by_label("Why not?").fill("not this one")
    page.get_by_label("Why not?").press("Enter")
    page.wait_for_url("**/approvals")
    page = here.open(f"/approvals/{other}")
    expect(page.get_by_text("Keys: a approves")).to_be_visible()
    page.keyboard.press("e")
    text = page.get_by_label("The arguments to allow instead")
    text.fill("{")
    page.get_by_role("button", name="Approve these").click()
    expect(page.get_by_text("This is no JSON")).to_be_visible()
    text.fill('{"to": "right@example.org", "body": "x"}')
    page.get_by_role("button", name="Approve these").click()
    page.wait_for_url("**/approvals")
    here.check()
    with Gate.open(served.workspace) as gate:
        refused, edited = gate.approvals.get(no), gate.approvals.get(other)
        assert refused is not None
        assert edited is not None
        assert (refused.state, refused.note, edited.state) == ("refused", "not this one", "edited")


@pytest.mark.promise("page.approvals")
def test_two_people_answer_one_and_the_second_is_told(served: Served, visit: Open) -> None:
    name = ask(served.workspace, "two@example.org")
    first, second = visit(served), visit(served)
    first.log_in(f"/approvals/{name}")
    second.log_in(f"/approvals/{name}")
    expect(second.page.get_by_text("Keys: a approves")).to_be_visible()
    first.page.get_by_role("button", name="Approve", exact=True).click()
    first.page.wait_for_url("**/approvals")
    second.page.get_by_role("button", name="Approve", exact=True).click()
    expect(second.page.get_by_text("Somebody has answered it already.")).to_be_visible()


@pytest.mark.promise("page.login")
def test_a_wrong_token_is_refused_and_nothing_outside_is_led_to(served: Served, visit: Open) -> None:
    here = visit(served)
    here.page.goto(f"{served.base}/login?next=//evil.example/")
    here.page.fill("#token", "0" * 64)
    here.page.press("#token", "Enter")
    expect(here.page.get_by_text("That token is not the one")).to_be_visible()
    here.check(allowed=("401",))
    here.page.fill("#token", served.token)
    here.page.press("#token", "Enter")
    here.page.wait_for_url(f"{served.base}/")


KEY = "sk-proj-AbCdEfGhIjKlMnOpQrSt"


@pytest.mark.promise("page.approvals", "doors.visible")
def test_the_page_shows_characters_that_cannot_be_seen(served: Served, visit: Open) -> None:
    name = ask(served.workspace, "alice@x.org\u202egro.live@\u200b", "invisible\u2066 x")
    here = visit(served)
    page = here.log_in("/approvals")
    for path in ("/approvals", f"/approvals/{name}"):
        page = here.open(path)
        expect(page.get_by_text("alice@x.org\\u202egro.live@\\u200b").first).to_be_visible()
        assert not {"\u202e", "\u200b", "\u2066"} & set(page.content())
    expect(page.get_by_text("RIGHT-TO-LEFT OVERRIDE")).to_be_visible()
    page.keyboard.press("e")
    # What is edited is written in escapes too, and is the same JSON.
    written = page.get_by_label("The arguments to allow instead").input_value()
    assert "\\u202e" in written
    assert "\u202e" not in written
    here.check()


@pytest.mark.promise("page.approvals", "record.token-alone", "record.mask-revealed")
def test_a_person_reads_the_words_around_a_token_and_reveals_it(served: Served, visit: Open) -> None:
    name = ask(served.workspace, "masked@example.org", f"delete all, key {KEY}, at once")
    looking = visit(served)
    page = looking.open(f"/approvals/{name}")
    expect(page.get_by_text("delete all, key ")).to_be_visible()
    expect(page.get_by_role("button", name="Reveal /body")).to_have_count(0)
    here = visit(served)
    page = here.log_in(f"/approvals/{name}")
    assert KEY not in page.content()
    page.get_by_role("button", name="Reveal /body").click()
    expect(page.get_by_text(f"delete all, key {KEY}, at once")).to_be_visible()
    here.check()
    with Gate.open(served.workspace) as gate:
        notes = [one.header for one in gate.ledger.read() if one.header["kind"] == "note"]
    assert [(note["audit"]["action"], note["audit"]["metadata"]["field"]) for note in notes] == [
        ("approval.reveal", "/body")
    ]
