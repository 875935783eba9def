import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Download, expect

from tallystick.gate.record.bundle import check_bundle
from tallystick.rooms.studio.sample_project import copy_sample
from tests.browser.serving import DESKTOP, PHONE, Served, Visit, fits, serving
from tests.doors.http.talking import claim, serve_agent, set_endpoint
from tests.scripted_server import Pauses, Says, ScriptedServer
from tests.verifying import verify

Open = Callable[..., Visit]
SCENE = "Story/Scenes/SCN-the-vestry.md"
NASTY = "<img src=x onerror=alert(1)>.md"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    workspace = tmp_path_factory.mktemp("studio") / "novel"
    copy_sample(workspace)
    (workspace / "Story" / "Scenes" / NASTY).write_text("# <script>alert(1)</script>\n\nNothing.\n")
    with serving(workspace) as server:
        yield server


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("bare")) as server:
        yield server


@pytest.mark.promise("page.conference", "page.workspace", "page.issues", "page.runs")
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/conference", "No conference yet"), ("/workspace", "No files yet"), ("/issues", "No issues here"),
        ("/runs", "No runs yet"), ("/conference/conf_none", "There is no such conference"),
        ("/issues/issue_none", "There is no such issue"), ("/runs/run_none", "There is no such run"),
    ],
)  # fmt: skip
def test_an_empty_page_says_what_to_do(bare: Served, visit: Open, path: str, words: str) -> None:
    here = visit(bare, PHONE)
    page = here.open(path)
    expect(page.get_by_text(words)).to_be_visible()
    here.check()


@pytest.mark.promise("page.conference")
def test_a_round_by_keyboard_from_the_prompt_to_its_issue(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.open("/conference")
    page.get_by_label("What it is about").fill("The eyes")
    page.get_by_label("What it is about").press("Enter")
    page.wait_for_url("**/conference/conf_*")
    expect(page.get_by_text("Moderator")).to_be_visible()
    page.get_by_label("mute Critic").press("Enter")
    expect(page.get_by_text("Muted")).to_be_visible()
    page.get_by_label("Ask everyone").fill("What colour are Ruth Lufkin's eyes?")
    page.get_by_label("Ask everyone").press("Enter")
    expect(page.get_by_text("Issue of this round")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("Abstained").first).to_be_visible()
    expect(page.get_by_label("Ask everyone")).to_have_value("")
    here.check()
    here.picture("conference")
    second = visit(served)
    second.open(page.url.removeprefix(served.base))
    expect(second.page.get_by_text("Issue of this round")).to_be_visible()
    page.locator("button.tally-chip").first.press("Enter")
    expect(page.locator("mark").first).to_be_visible()
    here.check()
    here.picture("evidence")
    page.keyboard.press("Escape")
    page.get_by_text("Issue of this round").click()
    page.wait_for_url("**/issues/*")
    expect(page.get_by_text("Ruth Lufkin's eyes").first).to_be_visible()
    page.get_by_role("link", name="receipt rcpt_").first.click()
    page.get_by_role("button", name="Prove it").click()
    expect(page.get_by_text("It stands in the log")).to_be_visible()
    here.check()


@pytest.mark.promise("page.bundle", "page.receipts")
def test_a_reply_is_taken_away_with_its_proofs(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.open("/conference")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/conference/conf_*")
    page.get_by_label("Ask everyone").fill("What colour are Ruth Lufkin's eyes?")
    page.get_by_label("Ask everyone").press("Enter")
    chip = page.get_by_role("button", name="bundle").first
    expect(page.get_by_text("Issue of this round")).to_be_visible()
    with page.expect_download() as given:
        chip.press("Enter")
    assert _report(given.value) == ("consistent", True)
    check = page.get_by_role("link", name="check", exact=True).first
    check.hover()
    expect(page.get_by_text("The receipt of this check")).to_be_visible()
    expect(check).to_be_in_viewport()
    check.click()
    page.wait_for_url("**/receipts/rcpt_*")
    words = page.get_by_label("The reply, word for word")
    expect(words).to_have_value(re.compile("Evidence:"))
    with page.expect_download() as given:
        page.get_by_role("button", name="Download bundle").press("Enter")
    assert _report(given.value) == ("consistent", True)
    here.check()
    words.fill("She has green eyes.")
    page.get_by_role("button", name="Download bundle").click()
    expect(page.get_by_role("alert")).to_contain_text("This reply cannot be bundled")
    expect(words).to_have_value("She has green eyes.")
    here.check()


def _report(download: Download) -> tuple[str, bool]:
    report = check_bundle(Path(download.path()).read_bytes())
    return report.status, report.quotes > 0


@pytest.mark.promise("page.refused", "page.conference")
@pytest.mark.parametrize("how_large", [DESKTOP, PHONE])
def test_a_refused_reply_shows_what_was_wrong_and_the_nearest_real_line(
    served: Served, visit: Open, how_large: tuple[int, int]
) -> None:
    here = visit(served, how_large)
    said = f"They are green.\nEvidence: \"Ruth's green eyes stayed on the older woman's glove\" {SCENE}:L37"
    with ScriptedServer(always=Says(said)) as model:
        serve_agent(served.workspace, model, "critic")
        page = here.open("/conference")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url("**/conference/conf_*")
        page.get_by_label("Ask everyone").fill(f"What does {SCENE} say of Ruth Lufkin's eyes?")
        page.get_by_label("Ask everyone").press("Enter")
        refused = page.locator(".tally-refused").first
        expect(refused).to_contain_text("quote_not_found")
        expect(refused).to_contain_text(f"The nearest real line, {SCENE}:L37:")
        expect(refused).to_contain_text("Ruth's brown eyes stayed on the older woman's glove")
        expect(refused.get_by_text("They are green.")).to_be_hidden()
        refused.get_by_text("What it said").click()
        expect(refused.get_by_text("They are green.")).to_be_visible()
        expect(refused.get_by_role("button", name="bundle")).to_have_count(0)
        expect(page.get_by_text("Issue of this round")).to_be_visible()
        fits(page)
        here.check()
        if how_large == DESKTOP:
            refused.scroll_into_view_if_needed()
            refused.evaluate("reply => reply.scrollIntoView({block: 'start'})")
            page.mouse.wheel(0, -80)
            here.picture("refused")
        set_endpoint(served.workspace, "critic", provider="offline", model="offline")


@pytest.mark.promise("reply.unsure", "page.conference")
def test_a_sentence_that_could_not_be_decided_is_marked(served: Served, visit: Open) -> None:
    here = visit(served)
    quote = f"\"Ruth's brown eyes stayed on the older woman's glove\" {SCENE}:L37"
    with ScriptedServer(always=claim(quote, "Ruth's eyes are brown. The pacing drags badly.")) as model:
        serve_agent(served.workspace, model, "critic")
        page = here.open("/conference")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url("**/conference/conf_*")
        page.get_by_label("Ask everyone").fill(f"What does {SCENE} say of Ruth Lufkin's eyes?")
        page.get_by_label("Ask everyone").press("Enter")
        expect(page.get_by_text("Unsure: The pacing drags badly.")).to_be_visible()
        expect(page.get_by_text("Issue of this round")).to_be_visible()
        fits(page)
        here.check()
        set_endpoint(served.workspace, "critic", provider="offline", model="offline")


@pytest.mark.promise("page.streaming", "page.conference")
def test_what_is_being_said_is_seen_as_it_comes_and_marked_until_it_is_checked(served: Served, visit: Open) -> None:
    here = visit(served)
    words = f"Brown, and steady.\nEvidence: \"Ruth's brown eyes stayed on the older woman's glove\" {SCENE}:L37"
    go_on = threading.Event()
    with ScriptedServer(always=Pauses(words, after=4, go_on=go_on)) as model:
        serve_agent(served.workspace, model, "critic", timeout_s=120)
        page = here.open("/conference")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url("**/conference/conf_*")
        page.get_by_label("Ask everyone").fill(f"What does {SCENE} say of Ruth Lufkin's eyes?")
        page.get_by_label("Ask everyone").press("Enter")
        saying = page.locator(".tally-unchecked", has_text="critic, not checked yet")
        expect(saying).to_contain_text("Brown, and")
        expect(saying).to_be_in_viewport()
        expect(saying).not_to_contain_text("Evidence")
        go_on.set()
        expect(saying).to_have_count(0)
        expect(page.get_by_role("log").get_by_text("Critic", exact=True)).to_be_visible()
        here.check()
        set_endpoint(served.workspace, "critic", provider="offline", model="offline")


@pytest.mark.promise("page.conference")
def test_the_table_fits_a_phone(served: Served, visit: Open) -> None:
    here = visit(served, PHONE)
    page = here.open("/conference")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/conference/conf_*")
    expect(page.get_by_label("Ask everyone")).to_be_visible()
    fits(page)
    here.check()


@pytest.mark.promise("page.workspace", "page.text")
@pytest.mark.parametrize("how_large", [DESKTOP, PHONE])
def test_a_file_is_found_opened_and_checked(served: Served, visit: Open, how_large: tuple[int, int]) -> None:
    here = visit(served, how_large)
    page = here.open(f"/workspace?path={SCENE}&line=37")
    expect(page.locator(".cm-content")).to_contain_text("Ruth's brown eyes")
    expect(page.get_by_text(NASTY)).to_be_visible()
    page.get_by_label("Find in the files").fill("Pettican")
    page.get_by_label("Find in the files").press("Enter")
    expect(page.get_by_role("link", name="CHAR-agnes-pettican").first).to_be_visible()
    page.get_by_role("button", name="Check continuity").click()
    expect(page.get_by_text("findings").or_(page.get_by_text("No contradiction found")).first).to_be_visible(
        timeout=60_000
    )
    here.check()
    if how_large == DESKTOP:
        here.picture("workspace", (1120, 640))


@pytest.mark.promise("page.workspace")
def test_an_editor_that_comes_late_has_its_name_from_the_first_moment(served: Served, visit: Open) -> None:
    here = visit(served)
    here.page.route("**/*codemirror*", lambda route: (here.page.wait_for_timeout(2_000), route.continue_()))
    page = here.open(f"/workspace?path={SCENE}")
    first = page.wait_for_selector(".cm-content")
    assert first is not None
    assert first.get_attribute("aria-label") == "Text of the file"
    assert page.locator(".cm-scroller").get_attribute("tabindex") == "0"
    here.check()


@pytest.mark.promise("page.workspace")
def test_what_is_typed_becomes_a_patch_that_a_person_applies(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.log_in(f"/workspace?path={SCENE}")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+End")
    page.keyboard.type("A last line.")
    page.get_by_role("button", name="See the change").click()
    expect(page.locator(".tally-diff")).to_contain_text("A last line.")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator(".tally-diff")).to_have_count(0)
    assert "A last line." in (served.workspace / SCENE).read_text()
    page.get_by_role("button", name="History").click()
    expect(page.get_by_role("button", name="Take back the last change")).to_be_visible()
    here.check()


@pytest.mark.promise("page.workspace")
def test_two_people_edit_one_file_and_nothing_typed_is_lost(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.open("/workspace?path=Story/Scenes/SCN-twelve.md")
    page.locator(".cm-content").click()
    page.keyboard.type("Mine. ")
    file = served.workspace / "Story/Scenes/SCN-twelve.md"
    file.write_text(file.read_text() + "\nTheirs.\n")
    expect(page.get_by_text("Somebody changed this file while you were writing.")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("Mine.")
    page.get_by_role("button", name="See the change").click()
    expect(page.get_by_text("changed_meanwhile").or_(page.get_by_text("The file has changed")).first).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("Mine.")


NOT_JOINED = """
let joined = false;
window.letIn = false;
Object.defineProperty(window, 'did_handshake', { get: () => joined && window.letIn, set: (now) => { joined = now; } });
"""
"""A page whose way to the server is slow."""


@pytest.mark.promise("page.issues", "page.nothing-lost")
def test_what_is_typed_and_pressed_before_the_page_is_joined_comes_in_its_order(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.log_in("/issues")
    page.get_by_role("button", name="New issue").press("Enter")
    page.get_by_label("Title", exact=True).fill("Typed at once")
    page.context.add_init_script(NOT_JOINED)
    page.get_by_role("button", name="Open it").press("Enter")
    page.wait_for_url("**/issues/issue_*")
    for number in range(8):
        page.get_by_label("Say something").fill(f"Comment number {number}.")
        # What waits looks again every 10 ms: one that came later may be the first to see that it may go.
        page.wait_for_timeout(number)
        page.get_by_role("button", name="Comment").press("Enter")
        page.wait_for_timeout(30 + number)
        page.evaluate("window.letIn = true")
        expect(page.get_by_text(f"Comment number {number}.").locator("visible=true")).to_be_visible()
        page.wait_for_function("window.letIn === false")
    here.check()


@pytest.mark.promise("page.issues")
def test_an_issue_is_opened_commented_and_closed_by_keyboard(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.log_in("/issues")
    page.get_by_role("button", name="New issue").press("Enter")
    page.get_by_label("Title", exact=True).fill("Is it <b>Pettican</b>?")
    page.get_by_label("What is the matter?").fill("Or Pettigan.")
    page.get_by_role("button", name="Open it").press("Enter")
    page.wait_for_url("**/issues/issue_*")
    expect(page.get_by_role("heading", name="Is it <b>Pettican</b>?")).to_be_visible()
    page.get_by_label("Say something").fill("The card has it with a c, and so has every scene but one.")
    page.get_by_role("button", name="Comment").press("Enter")
    expect(page.get_by_text("every scene but one")).to_be_visible()
    page.get_by_role("button", name="Close", exact=True).press("Enter")
    expect(page.get_by_text("closed", exact=True).first).to_be_visible()
    here.check()


@pytest.mark.promise("page.runs")
def test_a_recipe_is_run_and_watched_by_keyboard(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.open("/runs")
    page.get_by_label("Recipe").press("Enter")
    expect(page.get_by_role("option").first).to_be_visible()
    for _ in range(20):
        if page.locator("[role=option].q-manual-focusable--focused, [role=option].q-focusable--focused").count():
            focused = page.locator("[role=option].q-manual-focusable--focused").first.inner_text()
            if "Prose review" in focused:
                break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_label("scene path").fill(SCENE)
    page.get_by_role("button", name="Run it").press("Enter")
    page.wait_for_url("**/runs/run_*")
    expect(page.get_by_text("Definition of done")).to_be_visible(timeout=90_000)
    expect(page.get_by_role("heading", name="review: editor")).to_be_visible()
    expect(page.get_by_text("Evidence:")).to_be_visible()
    here.check()
    here.picture("run")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    fits(page)
    here.check()


def test_the_ledger_still_verifies(served: Served) -> None:
    assert verify(served.workspace, served.state).ok
