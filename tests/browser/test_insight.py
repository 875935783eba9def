from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tallystick import Gate
from tallystick.rooms.insight.sample.tickets import sample
from tests.browser.serving import AGAIN_MS, PATIENCE_MS, PHONE, Served, Visit, fits, serving

Open = Callable[..., Visit]
NASTY = "<img src=x onerror=\"document.title='owned'\">"
ODD = f'When,What they told us,Team\n2026-03-01,"{NASTY.replace(chr(34), chr(34) * 2)} it broke",A\n2026-04-02,It broke again,B\n'
"""Nothing in its header says which column holds the text."""


def some_tickets() -> bytes:
    """Some of the sample: both months, enough to be grouped."""
    head, *rows = sample().splitlines(keepends=True)
    return head + b"".join(rows[::5])


def fits_a_phone(here: Visit) -> None:
    """The same page in a narrow window: nothing sticks out, and nothing serious is found."""
    here.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(here.page.locator(".tally-drawer")).not_to_be_in_viewport()
    fits(here.page)
    here.check()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("bare")) as server:
        yield server


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Dataset 1, ready to be looked at."""
    workspace = tmp_path_factory.mktemp("tickets") / "tideline"
    workspace.mkdir()
    (workspace / "tallystick.toml").write_text('[ledger]\ndurability = "os"\n')
    (workspace / "tickets.csv").write_bytes(some_tickets())
    with Gate.open(workspace) as gate:
        gate.call_sync("tool.ingest.upload", {"file_path": "tickets.csv"}).unwrap()
        gate.call_sync("tool.embed.run", {"dataset_id": 1}).unwrap()
        gate.call_sync("tool.cluster.run", {"dataset_id": 1, "algorithm": "ward"}).unwrap()
    with serving(workspace) as server:
        yield server


def hand_over(page: Page, name: str, data: bytes) -> None:
    """By keyboard, as far as the page goes: the system's own window comes after it."""
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Choose a file").press("Enter")
    chosen.value.set_files({"name": name, "mimeType": "text/csv", "buffer": data})


@pytest.mark.promise("page.insight")
def test_without_tickets_the_page_says_how_to_bring_some(bare: Served, visit: Open) -> None:
    here = visit(bare)
    page = here.open("/insight")
    expect(page.get_by_text("No tickets yet")).to_be_visible()
    fits_a_phone(here)
    page = here.open("/insight/99/report")
    expect(page.get_by_text("There is no such dataset")).to_be_visible()
    here.check()


@pytest.mark.promise("page.insight", "page.text")
def test_a_file_that_cannot_be_read_is_told_and_a_column_put_right(bare: Served, visit: Open) -> None:
    here = visit(bare)
    page = here.open("/insight")
    hand_over(page, "empty.csv", b" ")
    expect(page.get_by_text("The file is empty.")).to_be_visible()
    hand_over(page, "odd.csv", ODD.encode())
    expect(page.get_by_text("No column is known to hold what customers wrote.")).to_be_visible()
    expect(page.get_by_role("button", name="Take it")).to_be_disabled()
    here.check()
    page.get_by_label("text: what the customer wrote").press("Enter")
    page.get_by_role("option", name="What they told us").click()
    expect(page.get_by_text(f"{NASTY} it broke")).to_be_visible()
    expect(page.get_by_role("button", name="Take it")).to_be_enabled()
    here.check()
    page.get_by_role("button", name="Not this one").press("Enter")
    expect(page.get_by_role("button", name="Take it")).to_have_count(0)
    assert not list((bare.workspace / ".control-room" / "uploads").iterdir()), "what is not taken does not stay"


@pytest.mark.promise("page.insight")
def test_an_upload_that_is_cut_off_is_told(bare: Served, visit: Open) -> None:
    here = visit(bare)
    page = here.open("/insight")
    page.route("**/upload/*", lambda route: route.abort("connectionreset"))
    hand_over(page, "tickets.csv", some_tickets())
    expect(page.get_by_text("The upload was cut off.")).to_be_visible()
    here.check(allowed=("ERR_CONNECTION_RESET",))


@pytest.mark.promise("page.insight")
def test_a_file_is_taken_grouped_and_reported_by_keyboard(prepared: Served, visit: Open) -> None:
    here, second = visit(prepared), visit(prepared)
    second.open("/insight")
    page = here.open("/insight")
    hand_over(page, "more.csv", some_tickets().replace(b"TL-", b"X-"))
    expect(page.get_by_text("Its first tickets, as they will be stored")).to_be_visible()
    page.get_by_label("Name of the dataset").fill(f"spring {NASTY}")
    page.get_by_role("button", name="Take it").press("Enter")
    page.wait_for_url("**/insight/2")
    expect(second.page.get_by_role("link", name=f"spring {NASTY}")).to_be_visible()
    groups = page.get_by_role("group", name="Groups").get_by_role("button")
    expect(groups.first).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="Questions").press("Enter")
    expect(page.get_by_role("heading", name="How many tickets are there per theme?")).to_be_visible(timeout=60_000)
    here.check()
    page = here.open("/insight/2/report?compare=1")
    expect(page.get_by_text("tickets.csv").first).to_be_visible()
    expect(page.get_by_role("heading", name="What changed")).to_be_visible()
    with Gate.open(prepared.workspace) as gate:
        tools = [one.header.get("tool_id") for one in gate.ledger.read() if one.header["session_id"] == "page"]
    for tool in ("tool.ingest.upload", "tool.embed.run", "tool.cluster.run", "tool.analysis.run"):
        assert tool in tools


@pytest.mark.promise("page.insight")
def test_groups_are_seen_on_a_map_and_opened(prepared: Served, visit: Open) -> None:
    here = visit(prepared)
    page = here.open("/insight/1")
    groups = page.get_by_role("group", name="Groups").get_by_role("button")
    expect(groups.first).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".tally-map canvas")).to_be_visible()
    here.picture("insight")
    groups.nth(1).press("Enter")
    chosen = page.get_by_role("region", name="The chosen group")
    expect(chosen.get_by_role("heading").first).to_have_text(groups.nth(1).locator(".tally-group-name").inner_text())
    chosen.locator(".tally-ticket-line").first.press("Enter")
    expect(page.get_by_role("dialog", name="The ticket")).to_be_visible()
    here.check()
    # A window made narrow while a dialog is open: the navigation is out of the way once it is closed.
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.wait_for_timeout(500)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="The ticket")).to_be_hidden()
    fits_a_phone(here)


def apart(points: list[list[float]]) -> list[float]:
    """The dot that lies farthest from those of other groups; not of the group that is chosen at first."""

    def alone(dot: list[float]) -> float:
        return min((dot[0] - one[0]) ** 2 + (dot[1] - one[1]) ** 2 for one in points if one[2] != dot[2])

    return max((dot for dot in points if dot[2] > 0), key=alone)


@pytest.mark.promise("page.insight")
def test_a_dot_of_the_map_chooses_its_group(prepared: Served, visit: Open) -> None:
    here = visit(prepared)
    page = here.open("/insight/1")
    groups = page.get_by_role("group", name="Groups").get_by_role("button")
    expect(groups.first).to_have_attribute("aria-pressed", "true")
    with Gate.open(prepared.workspace) as gate:
        run = gate.room("insight").store.runs(1)[0]  # type: ignore[union-attr]
    x, y, group, _ = apart(run.figures["map"]["points"])
    for _ in range(PATIENCE_MS // AGAIN_MS):  # the canvas is there before its dots are
        where = page.locator(".tally-map canvas").bounding_box()
        assert where is not None
        page.mouse.click(
            where["x"] + 4 + (where["width"] - 8) * (x + 1.06) / 2.12,
            where["y"] + 4 + (where["height"] - 8) * (1.06 - y) / 2.12,
        )  # fmt: skip
        with suppress(AssertionError):
            expect(groups.nth(int(group))).to_have_attribute("aria-pressed", "true", timeout=AGAIN_MS)
            return
    raise AssertionError("no dot was chosen")


@pytest.mark.promise("page.insight")
def test_tickets_are_found_as_one_types_and_say_why(prepared: Served, visit: Open) -> None:
    here = visit(prepared)
    page = here.open("/insight/1/search")
    page.get_by_label("What are you looking for?").press_sequentially("the app signs me out")
    expect(page.get_by_text("The 10 nearest tickets")).to_be_visible()
    expect(page.locator("mark").first).to_be_visible()
    expect(page.get_by_text("Why: shares").first).to_be_visible()
    fits_a_phone(here)


@pytest.mark.promise("page.insight")
def test_a_report_is_read_checked_again_and_taken_away(prepared: Served, visit: Open, tmp_path: Path) -> None:
    here = visit(prepared)
    page = here.open("/insight/1/report")
    expect(page.get_by_role("heading", name="In short")).to_be_visible()
    expect(page.locator("article canvas").first).to_be_visible()
    page.get_by_role("button", name="Check every number again").press("Enter")
    expect(page.get_by_text("numbers and quotes reproduced")).to_be_visible()
    here.picture("insight-report")
    for name, ending in (("Download as Markdown", "md"), ("Download as HTML", "html")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=name).press("Enter")
        saved.value.save_as(tmp_path / f"report.{ending}")
        assert b"In short" in (tmp_path / f"report.{ending}").read_bytes()
    fits_a_phone(here)


@pytest.mark.promise("page.insight")
def test_periods_are_compared_and_stay_in_the_history(prepared: Served, visit: Open) -> None:
    here = visit(prepared, PHONE)
    page = here.open("/insight/1/questions")
    page.get_by_role("button", name="Compare").press("Enter")
    compared = "Compare the number of tickets in March 2026 and April 2026"
    expect(page.get_by_role("heading", name=compared)).to_be_visible()
    page.get_by_label("Ask something about these tickets").fill("Which department gets the most tickets?")
    page.get_by_label("Ask something about these tickets").press("Enter")
    expect(page.get_by_role("heading", name="Which department gets the most tickets?")).to_be_visible()
    expect(page.get_by_label("Ask something about these tickets")).to_have_value("")
    page.get_by_text("The query, as the last question was read").click()
    query = page.get_by_label("Query", exact=True)
    expect(query).to_have_value("query?by=department&dataset=1&limit=1&measure=count&order=highest")
    query.fill("query?by=product&dataset=1&measure=count")
    query.press("Enter")
    expect(page.get_by_text("Number of tickets, by product:", exact=True)).to_be_visible()
    here.check()
    fits(page)
