"""The response for a visitor without the required role: plain HTML, so that no page and no socket is created."""

from html import escape

from starlette.responses import HTMLResponse, Response

from tallystick.doors.web.context import PageContext
from tallystick.doors.web.style import CSS
from tallystick.gate.codes import NO_ROLE


def closed(house: PageContext, roles: frozenset[str]) -> Response:
    """Return a page that names the required roles, with the status for a missing role."""
    needed = escape(", ".join(sorted(roles)))
    html = f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Not open to you · {escape(house.project)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{CSS}
body {{ font-family:system-ui,sans-serif; margin:0; display:grid; place-items:center; min-height:100vh; }}
</style></head><body><main class="tally-card"><h1>This page is not open to you</h1>
<p>One of these roles is needed: {needed}.</p>
<p><a href="/">Start page</a></p>
<form method="post" action="/logout"><button type="submit">Log out</button></form>
</main></body></html>"""
    return HTMLResponse(html, status_code=NO_ROLE.http)
