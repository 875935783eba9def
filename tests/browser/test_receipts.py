import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tallystick import Gate, tool
from tallystick.gate.record.receipt import Draft
from tallystick.gate.session import Session
from tests.browser.serving import DESKTOP, PHONE, Served, Visit, serving
from tests.sizes import size

Open = Callable[..., Visit]
NASTY = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
MANY = size(1_500, 10_000)


@tool(effect="read")
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper() + NASTY


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("empty")) as server:
        yield server


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    workspace = tmp_path_factory.mktemp("full")
    (workspace / "tallystick.toml").write_text('[ledger]\ndurability = "os"\n')
    with Gate.open(workspace, plugins=False) as gate:
        gate.register(shout)
        for number in range(MANY):
            gate.ledger.record_sync(Draft(kind="note", session=Session(session_id=f"s{number % 7}"), inputs=b"{}"))
        gate.call_sync("shout", {"text": NASTY}, session="last").unwrap()
        gate.call_sync("shout", {"wrong": 1}, session="last")
    with serving(workspace) as server:
        yield server


@pytest.mark.promise("page.receipts")
@pytest.mark.parametrize("how_large", [DESKTOP, PHONE])
def test_without_receipts_the_page_says_how_to_get_some(empty: Served, visit: Open, how_large: tuple[int, int]) -> None:
    here = visit(empty, how_large)
    page = here.open("/receipts")
    expect(page.get_by_text("No receipts yet")).to_be_visible()
    here.check()


@pytest.mark.promise("page.receipts")
def test_a_receipt_that_is_not_there_is_told(empty: Served, visit: Open) -> None:
    here = visit(empty)
    page = here.open("/receipts/rcpt_000000000000ffffffffffff")
    expect(page.get_by_text("There is no such receipt")).to_be_visible()
    here.check()


@pytest.mark.promise("page.receipts", "page.text")
@pytest.mark.parametrize("how_large", [DESKTOP, PHONE])
def test_a_receipt_is_found_opened_and_proved(full: Served, visit: Open, how_large: tuple[int, int]) -> None:
    here = visit(full, how_large)
    page = here.open("/receipts")
    page.get_by_label("Tool, session, agent or code").fill("shout last")
    expect(page.locator("tbody tr", has_text="shout")).to_have_count(2)
    here.check()
    opened = page.get_by_text("Say it louder", exact=False).or_(page.get_by_text("Came back"))
    # A list that comes anew between the look and the key takes the key with it: press again, as a person would.
    for _ in range(4):
        page.get_by_label(f"Receipt {MANY}", exact=True).press("Enter")
        with suppress(AssertionError):
            expect(opened).to_be_visible(timeout=15_000)
            break
    expect(opened).to_be_visible()
    expect(page.get_by_text(NASTY.upper()[:20]).first).to_be_visible()
    page.get_by_role("button", name="Prove it").press("Enter")
    expect(page.get_by_text("It stands in the log")).to_be_visible()
    assert page.title().startswith("Receipt")
    here.check()


@pytest.mark.promise("page.receipts")
def test_more_receipts_come_as_one_scrolls_and_new_ones_by_themselves(full: Served, visit: Open) -> None:
    here = visit(full)
    page = here.open("/receipts")
    expect(page.get_by_text("200 shown; more come as you scroll")).to_be_visible()
    page.locator(".tally-list .q-table__middle").evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(page.get_by_text("400 shown; more come as you scroll")).to_be_visible()
    with Gate.open(full.workspace, plugins=False) as other:
        other.ledger.record_sync(Draft(kind="note", session=Session(session_id="elsewhere"), inputs=b"{}"))
    # The list keeps its place when rows come in above it, so it is scrolled up after that.
    expect(page.get_by_text(re.compile(r"\b\d01 shown"))).to_be_visible()
    page.locator(".tally-list .q-table__middle").evaluate("list => { list.scrollTop = 0 }")
    expect(page.locator("tbody tr", has_text="elsewhere").first).to_be_visible()
    here.check()


@pytest.mark.promise("page.receipts")
def test_everything_is_verified_on_the_spot_and_a_changed_record_is_shown(
    tmp_path: Path, full: Served, visit: Open
) -> None:
    here = visit(full)
    page = here.open("/receipts")
    page.get_by_role("button", name="Verify everything now").press("Enter")
    expect(page.get_by_text("receipts verify; proved up to")).to_be_visible()
    here.check()
    here.picture("receipts")
    workspace = tmp_path / "bad"
    with Gate.open(workspace, plugins=False) as gate:
        gate.register(shout)
        for word in ("one", "two", "three"):
            gate.call_sync("shout", {"text": word})
    with serving(workspace) as server:
        there = visit(server)
        page = there.open("/receipts")
        journal = workspace / ".control-room" / "audit" / "journal" / "000000.log"
        journal.write_bytes(journal.read_bytes().replace(b"two", b"owt"))
        page.get_by_role("button", name="Verify everything now").click()
        expect(page.get_by_text("The ledger does not verify")).to_be_visible()
        expect(page.get_by_text("What was asked or came back is not what the record says").first).to_be_visible()
        there.check()
