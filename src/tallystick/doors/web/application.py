"""Mount the pages next to the API's routes.

NiceGUI is a separate application. It is mounted last and serves only its own paths, so that an unknown API path still
gets the API's error response. Its socket passes the same guard as every request, which checks Host and Origin.
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
    """Routes only page paths to the mounted application."""

    def __init__(self, mounted: BaseRoute, paths: frozenset[str]) -> None:
        self._mounted = mounted
        self._paths = paths

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match if the path belongs to a page."""
        if scope["type"] not in {"http", "websocket"} or not self._is_ours(scope["path"]):
            return Match.NONE, {}
        return self._mounted.matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the mounted application."""
        await self._mounted.handle(scope, receive, send)

    def _is_ours(self, path: str) -> bool:
        first = "/" + path.lstrip("/").partition("/")[0]
        return path == "/" or first in self._paths


def mount(app: FastAPI, context: PageContext) -> None:
    """Mount the pages next to the API's routes; call it last.

    Args:
        app: The application.
        context: The workspace that the pages show.
    """
    # Loading takes a second, and only a server needs it.
    from nicegui import app as pages  # noqa: PLC0415
    from nicegui import ui  # noqa: PLC0415

    paths: set[str] = set(OWN_PATHS)
    for name in ("login", *(f"pages.{page}" for page in PAGES)):
        paths |= set(import_module(f"tallystick.doors.web.{name}").register(context))
    for room in context.gate.rooms():
        manifest = manifests()[room]
        if manifest.web is not None:
            paths |= set(resolve(manifest, "web", manifest.web)(context))
    context.places.sort(key=lambda place: place.order)
    ui.run_with(
        app,
        title=f"{context.project} · Tallystick",
        favicon=FAVICON,
        dark=None,
        show_welcome_message=False,
        binding_refresh_interval=None,
        reconnect_timeout=30.0,
        language="en-US",
        # Tailwind compiles styles in the browser at every change; the few classes used here are in the style sheet.
        tailwind=False,
    )
    # The loading bar for background requests carries no information and has no label for screen readers.
    pages.config.quasar_config["loadingBar"]["skipHijack"] = True
    app.router.routes.append(OnlyPages(app.router.routes.pop(), frozenset(paths)))


FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="11" width="26" height="10" rx="3" '
    'fill="#8a5a2b"/><path d="M9 11v6M14 11v6M19 11v6M24 11v6" stroke="#fff" stroke-width="2"/></svg>'
)
"""A tally stick with its notches."""
