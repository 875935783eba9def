from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tallystick import Gate
from tallystick.rooms.desk.sample_data import copy_sample
from tallystick.rooms.desk.trial import DeskRunner
from tests.browser.serving import PHONE, Served, Visit, fits, serving

Open = Callable[..., Visit]
QUESTION = "How long is the guarantee of the Wren grinder?"
"""Two documents disagree about it, so a person has to say."""
NASTY = "Is the kettle <b>really</b> <i>blue</i>?"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    workspace = tmp_path_factory.mktemp("desk") / "quillbrook"
    workspace.mkdir()
    (workspace / "tallystick.toml").write_text('[ledger]\ndurability = "os"\n')
    copy_sample(workspace / "kb")
    with serving(workspace) as server:
        yield server


def waiting(served: Served, run: str) -> str:
    """A ticket that waits for a person; gives its id."""
    with Gate.open(served.workspace) as gate:
        support = DeskRunner(gate)
        tried = support.attempt(QUESTION, run=run)
        assert not isinstance(tried, str)
        before, _ = support.room.reviews.queue(state="waiting")
        return before[-1].review.ticket_id


def state_of(served: Served, ticket_id: str) -> tuple[str, str | None]:
    with Gate.open(served.workspace) as gate, DeskRunner(gate).service.store.reading() as tx:
        review = tx.review(ticket_id, lock=False)
        assert review is not None
        return review.state, review.reason


@pytest.mark.promise("page.desk", "page.text")
def test_an_empty_board_says_what_to_do_and_takes_what_a_customer_writes(served: Served, visit: Open) -> None:
    here, second = visit(served, PHONE), visit(served)
    page = here.open("/desk")
    second.open("/desk")
    expect(page.get_by_text("No tickets yet")).to_be_visible()
    here.check()
    page.get_by_label("A customer writes…").fill(NASTY)
    page.get_by_label("A customer writes…").press("Enter")
    expect(page.get_by_role("link", name=NASTY).first).to_be_visible()
    expect(second.page.get_by_role("link", name=NASTY).first).to_be_visible()
    fits(page)
    here.check()


@pytest.mark.promise("page.desk")
def test_a_ticket_that_is_not_there_is_told(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.open("/desk/tool_none")
    expect(page.get_by_text("There is no such ticket")).to_be_visible()
    here.check()


@pytest.mark.promise("page.desk", "page.login")
def test_without_the_token_one_may_look_but_not_decide(served: Served, visit: Open) -> None:
    ticket = waiting(served, "look")
    here = visit(served, PHONE)
    page = here.open(f"/desk/{ticket}")
    expect(page.get_by_text("Deciding needs a person.")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_have_count(0)
    page.keyboard.press("a")
    fits(page)
    here.check()
    assert state_of(served, ticket)[0] == "waiting"


@pytest.mark.promise("page.desk")
def test_a_person_takes_and_sends_by_keyboard_with_the_evidence_beside(served: Served, visit: Open) -> None:
    ticket = waiting(served, "send")
    here = visit(served)
    page = here.log_in("/desk")
    here.picture("desk-board")
    page.locator(f'a[href="/desk/{ticket}"]').press("Enter")
    expect(page.get_by_text("Keys: t takes")).to_be_visible()
    here.check()
    here.picture("desk")
    page.get_by_role("button", name="warranty/guarantee.md").press("Enter")
    expect(page.locator("mark", has_text="The guarantee of the Wren grinder is 3 years.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("mark")).to_have_count(0)
    page.keyboard.press("t")
    expect(page.get_by_text("In the hands of")).to_be_visible()
    assert state_of(served, ticket)[0] == "taken"
    page.keyboard.press("a")
    expect(page.get_by_text("approved", exact=True)).to_be_visible()
    assert state_of(served, ticket)[0] == "approved"
    here.check()


@pytest.mark.promise("page.desk")
def test_a_sentence_without_evidence_is_refused_and_nothing_typed_is_lost(served: Served, visit: Open) -> None:
    ticket = waiting(served, "edit")
    here = visit(served)
    page = here.log_in(f"/desk/{ticket}")
    draft = page.get_by_label("The draft; every sentence needs its evidence behind it")
    draft.fill("The guarantee of the Wren grinder is 99 years.")
    page.get_by_role("button", name="Send", exact=True).press("Enter")
    expect(page.get_by_text("unsupported sentence")).to_be_visible()
    expect(draft).to_have_value("The guarantee of the Wren grinder is 99 years.")
    page.get_by_role("button", name="Send it all the same").press("Enter")
    expect(page.get_by_text("approved", exact=True)).to_be_visible()


@pytest.mark.promise("page.desk")
def test_a_person_rejects_with_a_reason_and_another_window_is_told(served: Served, visit: Open) -> None:
    ticket = waiting(served, "reject")
    here, second = visit(served), visit(served)
    page = here.log_in(f"/desk/{ticket}")
    second.log_in(f"/desk/{ticket}")
    expect(second.page.get_by_text("Keys: t takes")).to_be_visible()
    page.keyboard.press("r")
    page.get_by_label("Why is nothing to be sent?").press("Enter")
    expect(page.get_by_text("Say why")).to_be_visible()
    page.get_by_label("Why is nothing to be sent?").fill("ask the maker first")
    page.get_by_label("Why is nothing to be sent?").press("Enter")
    expect(page.get_by_text("rejected", exact=True)).to_be_visible()
    expect(second.page.get_by_text("meanwhile")).to_be_visible()
    state, reason = state_of(served, ticket)
    assert state == "rejected"
    assert "ask the maker first" in (reason or "")
