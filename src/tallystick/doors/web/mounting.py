"""How the pages come to stand beside the API's routes.

NiceGUI is an application of its own. It is mounted last and answers only for its own paths, so that an unknown path of
the API stays an API's answer. Its socket passes the same guard as every request: Host and Origin are looked at there.
"""

from importlib import import_module

from fastapi import FastAPI
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from tallystick.app.discovery import manifests, resolve
from tallystick.doors.web.context import PageContext

PAGES = ("home", "receipts", "approvals", "telemetry", "settings", "rooms")
"""The modules in `pages/`."""
OWN_PATHS = ("/_nicegui", "/_nicegui_ws", "/favicon.ico", "/login", "/logout")


class OnlyPages(BaseRoute):
    """Lets through to the mounted application what is a page's."""

    def __init__(self, mounted: BaseRoute, paths: frozenset[str]) -> None:
        self._mounted = mounted
        self._paths = paths

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this path is one of the pages'."""
        if scope["type"] not in {"http", "websocket"} or not self._is_ours(scope["path"]):
            return Match.NONE, {}
        return self._mounted.matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on."""
        await self._mounted.handle(scope, receive, send)

    def _is_ours(self, path: str) -> bool:
        first = "/" + path.lstrip("/").partition("/")[0]
        return path == "/" or first in self._paths


def mount(app: FastAPI, house: PageContext) -> None:
    """Put the pages beside the routes of the API; call it last.

    Args:
        app: The application.
        house: What the pages show.
    """
    # A second to load, and only a server needs it.
    from nicegui import app as pages  # noqa: PLC0415
    from nicegui import ui  # noqa: PLC0415

    paths: set[str] = set(OWN_PATHS)
    for name in ("login", *(f"pages.{page}" for page in PAGES)):
        paths |= set(import_module(f"tallystick.doors.web.{name}").register(house))
    for room in house.gate.rooms():
        reference = manifests()[room].web
        if reference is not None:
            paths |= set(resolve(reference)(house))
    house.places.sort(key=lambda place: place.order)
    ui.run_with(
        app, title=f"{house.project} · Tallystick", favicon=FAVICON, dark=None, show_welcome_message=False,
        binding_refresh_interval=None, reconnect_timeout=30.0, language="en-US",
        # It compiles styles in the browser at every change; the few names that are used stand in the style sheet.
        tailwind=False,
    )  # fmt: skip
    # A bar for every request behind a page tells nobody anything, and has no name for those who hear the page.
    pages.config.quasar_config["loadingBar"]["skipHijack"] = True
    app.router.routes.append(OnlyPages(app.router.routes.pop(), frozenset(paths)))


FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="11" width="26" height="10" rx="3" '
    'fill="#8a5a2b"/><path d="M9 11v6M14 11v6M19 11v6M24 11v6" stroke="#fff" stroke-width="2"/></svg>'
)
"""A stick with its notches."""
