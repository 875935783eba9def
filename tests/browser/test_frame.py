"""The frame around every page: the bell, the way to the content, who may see what, and what happens when it breaks."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from playwright.sync_api import Page, expect

from tallystick.storage.notifications import Notifications
from tests.browser.serving import DESKTOP, PHONE, Served, Visit, serving

Open = Callable[..., Visit]
NASTY = "<img src=x onerror=alert(1)>"
SECRET = "a secret of the tests, long enough to be one"
AUTH = f'[auth]\nenabled = true\njwt_secret = "{SECRET}"\nleeway_s = 0\n'
AWAY = ("ERR_CONNECTION_REFUSED", "WebSocket connection", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
"""What a browser says by itself while a server is away."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("framed")) as server:
        yield server


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    workspace = tmp_path_factory.mktemp("guarded")
    (workspace / "tallystick.toml").write_text(AUTH)
    with serving(workspace) as server:
        yield server


def token_for(*roles: str, seconds: float) -> str:
    claims = {"sub": "visitor", "roles": list(roles), "exp": int(time.time() + seconds)}
    return str(jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET)))


@pytest.mark.promise("page.bell")
@pytest.mark.parametrize("how_large", [DESKTOP, PHONE])
def test_the_bell_rings_in_every_window_and_what_is_read_is_read_everywhere(
    served: Served, visit: Open, how_large: tuple[int, int]
) -> None:
    told = Notifications(served.workspace)
    told.read_all()
    here, second = visit(served, how_large), visit(served)
    page = here.log_in("/telemetry", served.token)
    second.open("/telemetry")
    bell = page.get_by_role("button", name="Notifications", exact=True)
    expect(bell).to_be_visible()
    told.add(level="warn", source="runs", text=f"A run has ended: {NASTY}", link=f"/runs/run_{how_large[0]}")
    told.add(level="info", source="memory", text="Something without a place to go.")
    rung = page.get_by_role("button", name="Notifications, 2 unread")
    expect(rung).to_be_visible()
    expect(second.page.get_by_role("button", name="Notifications, 2 unread")).to_be_visible()
    rung.press("Enter")
    expect(page.get_by_text(NASTY).first).to_be_visible()
    here.check()
    page.get_by_role("button", name="A run has ended").first.press("Enter")
    page.wait_for_url(f"**/runs/run_{how_large[0]}")
    page.get_by_role("button", name="Notifications, 1 unread").press("Enter")
    page.get_by_role("button", name="Mark all read").press("Enter")
    expect(page.get_by_role("button", name="Notifications", exact=True)).to_be_visible()
    expect(second.page.get_by_role("button", name="Notifications", exact=True)).to_be_visible()
    assert told.count(unread=True) == 0


@pytest.mark.promise("page.attention")
def test_the_first_page_shows_what_waits_and_the_way_on(served: Served, visit: Open) -> None:
    Notifications(served.workspace).read_all()
    here = visit(served, PHONE)
    page = here.open("/")
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    expect(page.get_by_role("link", name="Ask the agents")).to_be_visible()
    here.check()
    Notifications(served.workspace).add(level="warn", source="issues", text="An issue was frozen.", link="/issues/i1")
    expect(page.get_by_text("An issue was frozen.")).to_be_visible()
    here.check()


@pytest.mark.promise("page.keyboard")
def test_the_first_tab_leads_past_the_navigation(served: Served, visit: Open) -> None:
    page = visit(served).open("/telemetry")
    expect(page.get_by_role("heading", name="Telemetry")).to_be_visible()
    # What has the focus while the page is still being put together may lose it: then the first Tab of a new load counts.
    skip = page.get_by_text("Skip to the content")
    for _ in range(3):
        page.wait_for_function("window.did_handshake && document.fonts.status === 'loaded'")
        page.keyboard.press("Tab")
        if skip.evaluate("link => link === document.activeElement"):
            break
        page.reload()
    expect(skip).to_be_focused(timeout=1_000)
    page.keyboard.press("Enter")
    expect(page.locator(".tally-main")).to_be_focused()


@pytest.mark.promise("page.dark")
@pytest.mark.parametrize("path", ["/", "/telemetry", "/settings", "/settings/policy", "/rooms", "/rooms/file_locator"])
def test_dark_is_as_legible_and_is_remembered(served: Served, visit: Open, path: str) -> None:
    here = visit(served)
    page = here.open(path)
    page.get_by_role("button", name="Light or dark").press("Enter")
    expect(page.locator("body.body--dark")).to_be_visible()
    page.reload()
    expect(page.locator("body.body--dark")).to_be_visible()
    expect(page.locator("main h1")).to_be_visible()
    here.check()


@pytest.mark.promise("page.nothing-lost")
def test_a_server_that_is_restarted_under_an_open_page_loses_nothing_typed(tmp_path: Path, visit: Open) -> None:
    workspace = tmp_path / "away"
    (workspace / "Story").mkdir(parents=True)
    (workspace / "Story" / "one.md").write_text("# One\n\nThe first line.\n")
    with serving(workspace) as first:
        here, editing = visit(first), visit(first)
        page = here.log_in("/settings/policy")
        page.wait_for_function("window.did_handshake")
        page.get_by_label("Arguments (JSON)").fill('{"typed": "before"}')
        edited = editing.open("/workspace?path=Story/one.md")
        edited.locator(".cm-content").click()
        edited.keyboard.type("Mine. ")
        port = first.port
        first.end()
        expect(page.get_by_text("The server does not answer.")).to_be_visible()
        page.get_by_label("Arguments (JSON)").fill('{"typed": "while away"}')
    with serving(workspace, port=port):
        expect(page.get_by_text("What you had typed was put back.")).to_be_visible(timeout=30_000)
        expect(page.get_by_label("Arguments (JSON)")).to_have_value('{"typed": "while away"}')
        expect(page.get_by_text("The server was restarted")).to_be_visible()
        _tool_is_chosen(page)
        page.get_by_role("button", name="What would happen").click()
        # Put back means that the server has it too: it judges what stands there.
        expect(page.get_by_text("before policy:")).to_be_visible()
        here.check(allowed=AWAY)
        expect(edited.locator(".cm-content")).to_contain_text("Mine.")


@pytest.mark.promise("page.login")
def test_who_logs_out_in_one_window_is_logged_out_in_the_others(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.log_in("/settings/policy")
    other = here.page.context.new_page()
    other.goto(f"{served.base}/approvals")
    expect(other.get_by_role("button", name="Log out")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    expect(other.get_by_role("link", name="Log in").first).to_be_visible()
    expect(other.get_by_role("button", name="Log out")).to_have_count(0)


def _tool_is_chosen(page: Page) -> None:
    page.get_by_label("Tool", exact=True).click()
    page.get_by_role("option", name="file_locator").click()


@pytest.mark.promise("page.nothing-lost", "page.login")
def test_when_the_session_ends_the_page_says_so_does_nothing_and_keeps_what_was_typed(
    guarded: Served, visit: Open
) -> None:
    here = visit(guarded)
    page = here.log_in("/rooms/record_observation", token_for("analyst", seconds=12))
    page.wait_for_function("window.did_handshake")
    field = page.locator("main textarea, main input").first
    name = str(field.get_attribute("aria-label"))
    field.fill("typed in time")
    expect(page.get_by_text("Your session has ended.")).to_be_visible()
    page.get_by_role("button", name="Call it").click()
    expect(page.get_by_label("What came of it")).to_be_empty()
    here.check()
    page.get_by_role("link", name="Log in again").click()
    page.fill("#token", token_for("analyst", seconds=60))
    page.press("#token", "Enter")
    expect(page.get_by_text("What you had typed was put back.")).to_be_visible()
    expect(page.get_by_label(name, exact=True)).to_have_value("typed in time")


@pytest.mark.promise("page.login", "page.roles")
def test_roles_decide_what_is_shown_and_the_server_checks_again(guarded: Served, visit: Open) -> None:
    here = visit(guarded)
    here.page.goto(guarded.base + "/settings")
    expect(here.page.get_by_role("button", name="Log in")).to_be_visible()
    here.page.fill("#token", guarded.token)
    here.page.press("#token", "Enter")
    expect(here.page.get_by_text("Now the token of your identity provider")).to_be_visible()
    page = here.log_in("/telemetry", token_for("viewer", seconds=600))
    expect(page.get_by_role("link", name="Telemetry")).to_be_visible()
    expect(page.get_by_role("link", name="Receipts")).to_have_count(0)
    expect(page.get_by_role("button", name="Notifications")).to_have_count(0)
    page = here.open("/conference")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("One of these roles is needed: admin, agent, person.")).to_be_visible()
    assert not (guarded.workspace / ".control-room" / "conferences").exists()
    answer = page.goto(guarded.base + "/settings/keys")
    assert answer is not None
    assert answer.status == 403
    expect(page.get_by_text("This page is not open to you")).to_be_visible()
    here.check(allowed=("status of 403",))
    page = visit(guarded).log_in("/receipts", token_for("auditor", seconds=600))
    expect(page.get_by_role("heading", name="Receipts")).to_be_visible()
