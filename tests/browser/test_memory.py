from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tallystick import Gate
from tests.browser.serving import PHONE, Served, Visit, fits, serving
from tests.sizes import size

Open = Callable[..., Visit]
NASTY = "<img src=x onerror=\"document.title='owned'\">"
MANY = size(130, 2_000)
"""More than are fetched at once."""
ODD = 7
"""Which of them is out to do harm."""


class Teller:
    """Tells memory things, through the gate."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def observe(self, text: str, source: str, kind: str = "document") -> str:
        about = {"id": source, "class": kind}
        return str(self._call("record_observation", text=text, source=about, observed_at=NOW)["observation_id"])

    def propose(self, subject: str, predicate: str, thing: str, observation: str, **more: Any) -> str:
        args = {"subject": subject, "predicate": predicate, "object": thing, "observation_ids": [observation], **more}
        return str(self._call("propose_proposition", **args, volatility="static")["proposition_id"])

    def attach(self, how: str, proposition: str, observation: str, quote: str) -> None:
        self._call(f"attach_{how}", proposition_id=proposition, observation_id=observation, quote=quote)

    def _call(self, tool: str, **args: Any) -> Any:
        return self._gate.call_sync(tool, args, session="memory").unwrap()


NOW = "2026-11-01T12:00:00Z"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("bare")) as server:
        yield server


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """Many propositions; and one that several sources speak for, and one against."""
    workspace = tmp_path_factory.mktemp("memory") / "harbour"
    workspace.mkdir()
    (workspace / "tallystick.toml").write_text('[ledger]\ndurability = "os"\n')
    with Gate.open(workspace) as gate:
        teller = Teller(gate)
        first = teller.observe("The swing bridge was opened in 1894.", "chronicle")
        name = teller.propose("swing bridge", "opened_in", "1894", first)
        for text, source, kind in (
            ("My grandfather saw them open the swing bridge in 1894.", "Bea", "human"),
            ("swing bridge: commissioned 1894", "register", "tool_internal"),
        ):
            teller.attach("support", name, teller.observe(text, source, kind), text)
        other = teller.observe("That bridge was not there before 1896.", "Carl", "human")
        teller.attach("contradiction", name, other, "not there before 1896")
        for number in range(MANY):
            more = f" {NASTY}" if number == ODD else ""
            seen = teller.observe(f"Bridge {number} was opened in {1900 + number}.{more}", f"file-{number % 5}")
            teller.propose(f"bridge {number}{more}", "opened_in", str(1900 + number), seen)
    with serving(workspace) as server:
        yield server, name


@pytest.mark.promise("page.memory")
def test_an_empty_memory_says_how_to_begin_and_is_told_something_by_keyboard(bare: Served, visit: Open) -> None:
    here, second = visit(bare, PHONE), visit(bare)
    second.open("/memory")
    page = here.open("/memory")
    expect(page.get_by_text("Memory is empty")).to_be_visible()
    here.check()
    page.get_by_role("button", name="Remember").press("Enter")
    expect(page.get_by_text("There is nothing to remember.")).to_be_visible()
    page.get_by_label("What was said, read or measured").fill("Ada lives in Lisbon.")
    page.get_by_role("button", name="Remember").press("Enter")
    expect(page.get_by_text("Recorded 1 observation, proposed 1 fact.")).to_be_visible()
    expect(page.get_by_label("What was said, read or measured")).to_have_value("")
    expect(second.page.get_by_role("link", name="Ada", exact=True)).to_be_visible()
    here.check()
    page.get_by_role("link", name="See where it stands").press("Enter")
    expect(page.get_by_role("heading", name="Ada lives in Lisbon", exact=True)).to_be_visible()
    with Gate.open(bare.workspace) as gate:
        asked = [one.header["session_id"] for one in gate.ledger.read() if one.header.get("tool_id")]
    assert asked
    assert set(asked) == {"page"}


@pytest.mark.promise("page.memory")
def test_a_proposition_that_is_not_there_is_told(bare: Served, visit: Open) -> None:
    here = visit(bare)
    page = here.open("/memory/prop_none")
    expect(page.get_by_text("There is no such proposition")).to_be_visible()
    here.check()


@pytest.mark.promise("page.memory", "reading.one-standing")
def test_what_gave_way_is_labelled_in_the_list_and_on_its_own_page(bare: Served, visit: Open) -> None:
    with Gate.open(bare.workspace) as gate:
        teller = Teller(gate)
        old = teller.propose("ferry", "colour", "green", teller.observe("The ferry is green.", "Bea", "human"))
        new = teller.observe("They painted the ferry white.", "Bea", "human")
        teller.propose("ferry", "colour", "white", new, supersedes=[old])
    here = visit(bare)
    page = here.open("/memory")
    row = page.get_by_role("row").filter(has_text="green")
    expect(row.get_by_text("superseded", exact=True)).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="white")).to_be_visible()
    expect(page.get_by_text("superseded", exact=True)).to_have_count(1)
    here.check()
    page = here.open(f"/memory/{old}")
    expect(page.get_by_text("is said to take its place").first).to_be_visible()
    expect(page.get_by_role("link", name="What took its place")).to_be_visible()


@pytest.mark.promise("page.memory", "page.text")
def test_propositions_come_as_one_scrolls_and_are_asked_for(full: tuple[Served, str], visit: Open) -> None:
    here = visit(full[0])
    page = here.open("/memory")
    expect(page.get_by_text(f"100 of {MANY + 1:,}; more come as you scroll")).to_be_visible()
    here.check()
    here.picture("memory")
    page.locator(".tally-list .q-table__middle").evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(page.get_by_text("100 of")).to_have_count(0)
    states = page.get_by_role("group", name="Only these states").get_by_role("button")
    states.nth(1).press("Enter")
    expect(states.nth(1)).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Ask memory, or give words").fill("When was the swing bridge opened?")
    expect(page.get_by_role("link", name="swing bridge opened in 1894")).to_be_visible()
    expect(page.get_by_text("What was said", exact=True)).to_be_visible()
    here.check()
    page.get_by_label("Ask memory, or give words").fill(f"bridge {ODD}")
    expect(page.get_by_text(f"bridge {ODD} {NASTY}").first).to_be_visible()
    assert page.title().startswith("Memory")


@pytest.mark.promise("page.memory")
def test_a_proposition_is_explained_as_it_stood_and_without_a_source(full: tuple[Served, str], visit: Open) -> None:
    here = visit(full[0])
    page = here.open(f"/memory/{full[1]}")
    expect(page.locator(".tally-network canvas")).to_be_visible()
    standing = page.locator(".tally-state").first
    before = standing.inner_text()
    expect(page.get_by_role("heading", name="For it 3")).to_be_visible()
    expect(page.get_by_role("heading", name="Against it 1")).to_be_visible()
    here.check()
    here.picture("memory-proposition")
    page.get_by_role("switch", name="register").press("Space")
    expect(page.get_by_text(f"Without register: {before} →")).to_be_visible()
    here.check()
    page.get_by_role("switch", name="register").press("Space")
    expect(page.get_by_text("Without register")).to_have_count(0)
    page.get_by_role("button", name="As it stood at record").first.press("Enter")
    expect(page.get_by_role("heading", name="For it 1")).to_be_visible()
    expect(page.get_by_text("As it stood at record")).to_be_visible()
    page.get_by_role("slider").press("ArrowRight")
    expect(page.get_by_role("heading", name="For it 1")).to_be_visible()
    page.get_by_role("button", name="Back to now").press("Enter")
    expect(page.get_by_text("As it stands now")).to_be_visible()
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(page.locator(".tally-drawer")).not_to_be_in_viewport()
    fits(page)
    here.check()
