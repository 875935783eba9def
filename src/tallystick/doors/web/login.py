"""Login for a person, with the start-up token or a token of the configured issuer.

Plain forms that work without the socket. The cookie is HttpOnly and SameSite=Strict, so no script can read it and no
other site can use it; the guard has already refused other origins.
"""

from html import escape

from fastapi import Request
from nicegui import app
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tallystick.doors.web.context import BEARER_COOKIE, PageContext
from tallystick.doors.web.style import CSS
from tallystick.gate.admit.proposal import Rejection

MAX_FORM_BYTES = 32 * 1024


def register(context: PageContext) -> tuple[str, ...]:
    """Register the routes; return their paths."""

    @app.get("/login", include_in_schema=False)
    async def form(request: Request) -> Response:
        # With auth enabled, one token proves that a person is present, the other who it is.
        person = context.startup.is_person(request.scope["headers"])
        second = context.identity.enabled and person and context.visitor(request) is None
        return _page(context, request.query_params.get("next", "/"), second=second)

    @app.post("/login", include_in_schema=False)
    async def log_in(request: Request) -> Response:
        raw = await request.body()
        given = {} if len(raw) > MAX_FORM_BYTES else dict((await request.form()).items())
        token, onward = str(given.get("token", "")).strip(), str(given.get("next", "/"))
        answer = RedirectResponse(_inside(onward), status_code=303)
        if context.startup.matches(token):
            answer.headers.append("set-cookie", context.startup.set_cookie(secure=request.url.scheme == "https"))
            return answer
        if context.identity.enabled:
            caller = context.identity.authenticate(f"Bearer {token}", loopback=False)
            if not isinstance(caller, Rejection):
                secure = "; Secure" if request.url.scheme == "https" else ""
                cookie = f"{BEARER_COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict{secure}"
                answer.headers.append("set-cookie", cookie)
                return answer
        return _page(context, onward, wrong=True)

    @app.post("/logout", include_in_schema=False)
    async def log_out() -> Response:
        answer = RedirectResponse("/login", status_code=303)
        answer.delete_cookie(context.startup.cookie_name, path="/")
        answer.delete_cookie(BEARER_COOKIE, path="/")
        return answer

    return "/login", "/logout"


def _inside(onward: str) -> str:
    """Return a path on this server only: another host cannot be named."""
    return onward if onward.startswith("/") and not onward.startswith(("//", "/\\")) else "/"


def _page(context: PageContext, onward: str, *, wrong: bool = False, second: bool = False) -> Response:
    kinds = "The start-up token that `tally serve` printed"
    if second:
        kinds = "The start-up token was right. Now the token of your identity provider, which says who you are"
    elif context.identity.enabled:
        kinds += ", or a token of your identity provider"
    said = '<p role="alert" class="tally-bad">That token is not the one. Nothing was changed.</p>' if wrong else ""
    html = f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Log in · {escape(context.project)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{CSS}
body {{ font-family:system-ui,sans-serif; margin:0; display:grid; place-items:center; min-height:100vh; }}
form {{ width:min(420px,92vw); display:grid; gap:12px; }}
input[type=password] {{ font:inherit; padding:10px; border:1px solid var(--tally-line); border-radius:8px; }}
button {{ font:inherit; padding:10px; border:0; border-radius:8px; background:#0f6b62; color:#fff; cursor:pointer; }}
</style></head><body><main><form method="post" action="/login" class="tally-card">
<h1>{escape(context.project)}</h1>{said}
<label for="token">{escape(kinds)}</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<input type="hidden" name="next" value="{escape(_inside(onward), quote=True)}"><button type="submit">Log in</button>
<p class="tally-soft">Looking needs no login on this machine; answering held calls, sending and changing policy do.</p>
</form></main></body></html>"""
    return HTMLResponse(html, status_code=401 if wrong else 200)
