"""Thousands of everything: a page sends a window of it, and the browser holds no more than a few hundred rows."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tallystick import Gate
from tests.browser.many import add_tickets, remember, write_many
from tests.browser.serving import AGAIN_MS, PATIENCE_MS, PHONE, Served, Visit, serving
from tests.sizes import size

Open = Callable[..., Visit]
RECEIPTS, TICKETS, PROPOSITIONS = size(1_500, 10_000), size(600, 5_000), size(250, 2_000)
MOST_ROWS = 250
"""Of one list in the document, however long it is; what is outside the window is not there."""
MOST_ELEMENTS = 6_000
ROWS = "tbody.q-virtual-scroll__content tr"
"""What is really shown; the rows around it only hold the place of what is not."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    workspace = tmp_path_factory.mktemp("many")
    write_many(workspace, receipts=RECEIPTS, tickets=TICKETS, propositions=PROPOSITIONS)
    with serving(workspace) as server:
        yield server


def is_small(page: Page) -> bool:
    return (
        page.locator("tbody tr").count() <= MOST_ROWS
        and int(page.evaluate("document.querySelectorAll('*').length")) <= MOST_ELEMENTS
    )


def scroll(page: Page) -> None:
    page.locator(".tally-list .q-table__middle").evaluate("list => { list.scrollTop = list.scrollHeight }")


def scroll_on(page: Page, rows: int) -> None:
    """As a person does: again, for as long as the end of the list has not moved."""
    enough = f"[...document.querySelectorAll('[role=status]')].some(note => parseInt(note.textContent) >= {rows})"
    for _ in range(PATIENCE_MS // AGAIN_MS):
        scroll(page)
        with suppress(PlaywrightTimeout):
            page.wait_for_function(enough, timeout=AGAIN_MS)
            return
    raise AssertionError(f"never {rows} rows")


@pytest.mark.promise("page.sizes")
def test_a_long_ledger_is_shown_by_windows(full: Served, visit: Open) -> None:
    here = visit(full)
    page = here.open("/receipts")
    expect(page.get_by_text("200 shown; more come as you scroll")).to_be_visible()
    for shown in (400, 600, 800):
        expect(page.locator(ROWS).first).to_be_visible()
        assert is_small(page)
        scroll_on(page, shown)
    expect(page.locator(ROWS).first).to_be_visible()
    page.get_by_label("Tool, session, agent or code").fill("record_observation")
    expect(page.locator("tbody tr", has_text="record_observation").get_by_role("link").first).to_be_visible()
    assert is_small(page)
    here.check()


@pytest.mark.promise("page.sizes")
def test_a_full_board_shows_how_many_there_are_and_the_newest_of_each(full: Served, visit: Open) -> None:
    here, second = visit(full), visit(full, PHONE)
    page = here.open("/desk")
    second.open("/desk")
    expect(page.get_by_role("heading", name=f"Done {TICKETS * 2 // 5:,}")).to_be_visible()
    assert is_small(page)
    with Gate.open(full.workspace) as gate:
        add_tickets(gate, 5, begin=TICKETS)
    for window in (here, second):
        expect(window.page.get_by_role("heading", name=f"Done {TICKETS * 2 // 5 + 2:,}")).to_be_visible()
    here.check()


@pytest.mark.promise("page.sizes")
def test_a_long_memory_is_shown_by_windows_and_grows_by_itself(full: Served, visit: Open) -> None:
    here = visit(full)
    page = here.open("/memory")
    expect(page.locator("tbody tr", has_text="lives in").first).to_be_visible()
    assert is_small(page)
    scroll(page)
    expect(page.locator(ROWS).first).to_be_visible()
    assert is_small(page)
    with Gate.open(full.workspace) as gate:
        remember(gate, PROPOSITIONS)
    expect(page.get_by_text(f"{PROPOSITIONS + 1:,}").first).to_be_visible()
    here.check()
