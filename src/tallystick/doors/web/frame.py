"""The frame around every page: project, visitor, navigation, notifications, light and dark mode.

A page is a function that fills the frame with data from the gate and the rooms. Text from customers, authors, models
and tools is only given to elements that show plain text, never to one that accepts HTML.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from html import escape
from typing import Any
from urllib.parse import quote

from nicegui import ui
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tallystick.doors.web.components.bell import Bell
from tallystick.doors.web.components.states import empty
from tallystick.doors.web.components.text import text
from tallystick.doors.web.context import PageContext, Visitor
from tallystick.doors.web.style import CSS, HEAD
from tallystick.errors import PartMissing
from tallystick.gate.codes import NO_ROLE
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.turns.runs import DurableError

CHECK_S = 1.0
"""Seconds between two checks of the visitor's access: a token may expire while a page is open."""

Fill = Callable[..., Any]
"""Fills the frame of a page; receives the visitor first, then the path parameters."""


def page(context: PageContext, path: str, name: str, *, roles: frozenset[str]) -> Callable[[Fill], Fill]:
    """Register a function as a page with access control and the frame.

    Args:
        context: The workspace.
        path: The URL path; may contain parameters in braces.
        name: The page's title.
        roles: The roles with access; nobody else gets the page or its socket.
    """

    def decorate(fill: Fill) -> Fill:
        @wraps(fill)
        async def shown(request: Request, **named: Any) -> Any:
            visitor = context.visitor(request)
            if visitor is None:
                return RedirectResponse(f"/login?next={_onward(request)}", status_code=303)
            if not visitor.may(roles):
                return closed(context, roles)
            _ask_anew(context, request)
            with framed(context, visitor, name, request):
                try:
                    made = fill(visitor, **named)
                    if made is not None:
                        await made
                except (DurableError, PartMissing) as missing:
                    empty("This cannot be shown here", str(missing), icon="block")
            return None

        # NiceGUI reads the signature: the request and the path parameters.
        shown.__signature__ = _signature(fill)  # type: ignore[attr-defined]
        ui.page(path, title=f"{name} · {context.project}", response_timeout=10)(shown)
        return fill

    return decorate


@contextmanager
def framed(context: PageContext, visitor: Visitor, name: str, request: Request) -> Iterator[None]:
    """Draw everything around a page's own content."""
    ui.add_head_html(HEAD)
    ui.colors(primary="#0f6b62", secondary="#8a5a2b", positive="#1d7a46", negative="#b3261e", warning="#8f6400")
    with ui.left_drawer(value=None, bordered=True).props("breakpoint=900 width=210").classes("tally-drawer") as drawer:
        _navigation(context, visitor, request.url.path)
    with ui.header().classes("tally-header items-center"):
        ui.button(icon="menu", on_click=drawer.toggle).props('flat round dense aria-label="Navigation"')
        ui.link(context.project, "/").classes("tally-project")
        ui.label(name).classes("tally-here")
        ui.space()
        if visitor.may(AUDIT_ROLES):  # notifications name calls and sessions of all users
            Bell(context).show()
        _dark_switch()
        _who(visitor, _onward(request))
    with ui.element("div").classes("tally-main").props('tabindex="-1"') as content:
        if not visitor.is_person and context.startup.cookie_name in request.cookies:
            _log_in_again(_onward(request))
        yield
    ui.skip_link("Skip to the content", target=content)


def _ask_anew(context: PageContext, request: Request) -> None:
    """Authenticate the visitor before every event of a page: once the token has expired, an open page does nothing."""
    client = ui.context.client
    take = client.handle_event

    def taken(message: dict[str, Any]) -> None:
        if context.visitor(request) is not None:
            take(message)
        else:
            _say_expired()

    def _say_expired() -> None:
        with client:
            ui.run_javascript("window.tallyExpired()")

    client.handle_event = taken  # type: ignore[method-assign, assignment]
    if context.identity.enabled:
        ui.timer(CHECK_S, lambda: None if context.visitor(request) is not None else _say_expired())


def _log_in_again(onward: str) -> None:
    with ui.row().classes("tally-card tally-warn tally-row").props('role="status"'):
        ui.label("The server was restarted: its old token is worth nothing. You may look; to decide,")
        ui.link("log in again", f"/login?next={onward}")


def _onward(request: Request) -> str:
    """Return the current URL, to come back to after logging in."""
    return quote(request.url.path + (f"?{request.url.query}" if request.url.query else ""), safe="/")


def _navigation(context: PageContext, visitor: Visitor, here: str) -> None:
    first = "/" + here.lstrip("/").partition("/")[0]
    with ui.element("nav").props('aria-label="Pages"').classes("tally-nav"):
        for place in context.places:
            if not visitor.may(place.roles):
                continue
            current = place.path == first
            link = ui.link(target=place.path).classes("tally-nav-item")
            if current:
                link.classes("tally-nav-current").props('aria-current="page"')
            with link:
                ui.icon(place.icon).props('aria-hidden="true"')
                ui.label(place.name)


def _dark_switch() -> None:
    """Add the switch for light and dark mode; the default is the system's setting or this browser's last choice."""
    button = ui.button(icon="contrast").props('flat round dense aria-label="Light or dark"')
    button.on("click", js_handler="() => window.tallyTurnDark()")


def _who(visitor: Visitor, onward: str) -> None:
    if visitor.is_person:
        with ui.element("form").props('method="post" action="/logout"').classes("tally-inline"):
            text("button", "Log out").props('type="submit"').classes("tally-plain-button")
    else:
        ui.link("Log in", f"/login?next={onward}").classes("tally-plain-button")
    ui.label(visitor.caller.subject or "local owner").classes("tally-who")


def _signature(fill: Fill) -> Any:
    import inspect  # noqa: PLC0415 - only while pages are registered

    named = list(inspect.signature(fill).parameters.values())[1:]
    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    return inspect.Signature([request, *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in named)])


def closed(context: PageContext, roles: frozenset[str]) -> Response:
    """Return a page that names the required roles, with the status for a missing role."""
    needed = escape(", ".join(sorted(roles)))
    html = f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Not open to you · {escape(context.project)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{CSS}
body {{ font-family:system-ui,sans-serif; margin:0; display:grid; place-items:center; min-height:100vh; }}
</style></head><body><main class="tally-card"><h1>This page is not open to you</h1>
<p>One of these roles is needed: {needed}.</p>
<p><a href="/">Start page</a></p>
<form method="post" action="/logout"><button type="submit">Log out</button></form>
</main></body></html>"""
    return HTMLResponse(html, status_code=NO_ROLE.http)
