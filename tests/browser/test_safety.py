"""What others wrote is text everywhere, and what others' pages send changes nothing."""

import http.client
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Page, expect

from tallystick import Gate
from tests.browser.serving import Served, Visit, serving
from tests.browser.unsafe import outside_payloads, own_payloads, write_workspace

Open = Callable[..., Visit]
SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket&client_id=x"
FOREIGN = """<!doctype html><title>foreign</title><iframe name="hidden"></iframe><script>
const base = 'BASE', held = 'HELD', done = [];
const post = (path, body, type) => fetch(base + path, { method: 'POST', mode: 'no-cors', credentials: 'include',
  headers: { 'content-type': type || 'text/plain' }, body }).catch(() => null);
const form = (path, fields) => { const made = document.createElement('form'); made.method = 'post'; made.action = base + path;
  made.target = 'hidden'; made.enctype = 'text/plain'; Object.entries(fields).forEach(([name, value]) => {
  const field = document.createElement('input'); field.name = name; field.value = value; made.append(field); });
  document.body.append(made); made.submit(); return new Promise(go => setTimeout(go, 400)); };
const socket = () => new Promise(go => { const made = new WebSocket(base.replace('http', 'ws') + 'SOCKET');
  made.onopen = () => go('open'); made.onerror = () => go('refused'); });
(async () => {
  await post('/api/approvals/' + held + '/approve', '{}');
  await post('/api/approvals/' + held + '/approve', '{}', 'application/json');
  await post('/api/approvals/' + held + '/reject', '{"reason":"x"}');
  await post('/api/gate/call', '{"tool":"echo","args":{"text":"from outside"}}');
  await post('/api/notifications/read-all', '{}');
  await post('/logout', '');
  await form('/api/approvals/' + held + '/approve', { '{"x': '1"}' });
  await form('/api/gate/call', { '{"tool":"echo","args":{"text":"x"},"y': '"}' });
  await form('/logout', {});
  const polled = await fetch(base + 'SOCKET'.replace('websocket', 'polling'), { credentials: 'include' })
    .then(() => 'read').catch(() => 'refused');
  document.title = 'done ' + await socket() + ' ' + polled;
})();
</script>"""


@pytest.fixture(scope="module")
def unsafe(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Iterator[tuple[Served, dict[str, str]]]:
    workspace = tmp_path_factory.mktemp("unsafe")
    pages = write_workspace(workspace, [*own_payloads(), *outside_payloads(data)])
    with serving(workspace) as server:
        yield server, pages


class Watched:
    """A window in which nothing of anybody's may run, ask or be fetched."""

    def __init__(self, here: Visit) -> None:
        self._here = here
        self._wrong: list[str] = []
        here.page.on("dialog", lambda dialog: (self._wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        here.page.on("request", self._asked)

    def _asked(self, request: object) -> None:
        url = str(getattr(request, "url", ""))
        if not url.startswith((self._here.served.base, "data:", "blob:", "about:")):
            self._wrong.append(f"fetched {url}")

    def check(self, where: str) -> None:
        page = self._here.page
        assert not self._wrong, f"{where}: {self._wrong}"
        assert page.evaluate("window.tallyOwned === undefined"), where
        assert page.evaluate(MARKUP) == [], where
        assert not self._here.complaints, f"{where}: {self._here.complaints}"


MARKUP = """() => [...document.querySelectorAll('.tally-main *')].flatMap((each) =>
  [...each.attributes].filter((one) => one.name.startsWith('on') || /javascript:/i.test(one.value) && one.name === 'href')
    .map((one) => each.outerHTML.slice(0, 200))
  .concat(['SCRIPT', 'IFRAME', 'OBJECT', 'BASE', 'META', 'LINK', 'VIDEO'].includes(each.tagName) ? [each.outerHTML.slice(0, 200)] : []))"""
"""Elements in a page's content that nobody of us puts there."""


@pytest.mark.promise("page.text")
def test_markup_of_others_is_shown_as_text_on_every_page(unsafe: tuple[Served, dict[str, str]], visit: Open) -> None:
    served, pages = unsafe
    here = visit(served)
    watched = Watched(here)
    for path, words in pages.items():
        page = here.open(path)
        expect(page.locator(".tally-main").get_by_text(words).or_(page.locator(".cm-content")).first).to_be_visible()
        watched.check(path)


@pytest.mark.promise("page.text")
def test_what_is_opened_typed_and_called_stays_text_too(unsafe: tuple[Served, dict[str, str]], visit: Open) -> None:
    served, pages = unsafe
    here = visit(served)
    watched = Watched(here)
    page = here.open("/rooms/echo")
    for text in own_payloads()[:12]:
        page.get_by_label("text *").fill(text)
        page.get_by_role("button", name="Call it").click()
        expect(page.get_by_label("What came of it")).to_contain_text(text)
        watched.check(text)
    page.get_by_role("button", name="unread").click()
    expect(page.locator(".tally-bell").get_by_text(own_payloads()[2])).to_be_visible()
    watched.check("the bell")
    page = here.open(next(path for path in pages if path.startswith("/conference/")))
    page.get_by_text("What it said").first.click()
    expect(page.get_by_text("window.tallyOwned=1").first).to_be_visible()
    watched.check("a refused reply")
    page = here.open("/workspace")
    page.get_by_label("Find in the files").fill("tallyOwned")
    page.get_by_label("Find in the files").press("Enter")
    expect(page.get_by_role("link", name="all.md").first).to_be_visible()
    watched.check("a search")


@pytest.mark.promise("page.foreign", "page.login")
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_can_approve_send_and_change_nothing(
    unsafe: tuple[Served, dict[str, str]], visit: Open, name: str
) -> None:
    """The first is another port of the same site, to which browsers send the cookie; the second is another site."""
    served, pages = unsafe
    held = next(path for path in pages if path.startswith("/approvals/")).rpartition("/")[2]
    here = visit(served)
    page = here.log_in("/approvals")
    cookie = next(each for each in page.context.cookies() if each["name"].startswith("tally_"))
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    called = _called(served)
    text = FOREIGN.replace("BASE", served.base).replace("HELD", held).replace("SOCKET", SOCKET)
    with _foreign(text) as port:
        page.goto(f"http://{name}:{port}/")
        page.wait_for_function("document.title.startsWith('done')")
        assert page.title() == "done refused refused"
    assert _called(served) == called
    page = here.open(f"/approvals/{held}")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    assert _is_logged_in(page)


@pytest.mark.promise("page.foreign")
@pytest.mark.parametrize("path", ["/", "/approvals", "/login", SOCKET])
@pytest.mark.parametrize(
    "headers",
    [{"Host": "other.example"}, {"Origin": "https://other.example"}, {"Origin": "null"}, {"Host": "127.0.0.1.other.example"}],
)  # fmt: skip
def test_a_foreign_host_or_origin_is_refused_on_the_socket_too(
    unsafe: tuple[Served, dict[str, str]], path: str, headers: dict[str, str]
) -> None:
    served, _ = unsafe
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    asked = {"Host": f"127.0.0.1:{served.port}", **(upgrade if path == SOCKET else {}), **headers}
    wire = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    try:
        wire.putrequest("GET", path, skip_host=True)
        for name, value in asked.items():
            wire.putheader(name, value)
        wire.endheaders()
        assert wire.getresponse().status == http.HTTPStatus.FORBIDDEN
    finally:
        wire.close()


def _is_logged_in(page: Page) -> bool:
    return page.get_by_role("button", name="Log out").is_visible()


def _called(served: Served) -> int:
    """Calls of the two tools; the desk may be at work on its tickets meanwhile."""
    with Gate.open(served.workspace, plugins=False) as gate:
        return sum(each.header.get("tool_id") in {"echo", "send"} for each in gate.ledger.read())


class _foreign:  # noqa: N801 - used like a function
    """Somebody else's server on this machine."""

    def __init__(self, text: str) -> None:
        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Page)

    def __enter__(self) -> int:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return int(self._server.server_address[1])

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
