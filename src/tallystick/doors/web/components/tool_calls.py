"""Calls that a page proposes: the visitor is authenticated again before each, and problems are shown as text."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui
from starlette.requests import Request

from tallystick.doors.web.components.states import failed
from tallystick.doors.web.context import PageContext
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.execute.progress import LISTENER, Progress

SESSION = "page"
Heard = Callable[[Progress], None]


def here() -> Request:
    """Return the request that opened this page, for authenticating the visitor again."""
    return ui.context.client.request


async def propose(
    context: PageContext, request: Request, tool: str, args: Mapping[str, Any], *, heard: Heard | None = None
) -> Outcome | None:
    """Propose a call for the visitor; None if the visitor no longer has access.

    Args:
        context: The workspace.
        request: The request that opened the page.
        tool: The tool's id.
        args: Its arguments; those that are None are left out.
        heard: Receives progress reports, on the tool's thread.
    """
    visitor = context.visitor(request)
    if visitor is None:
        return None
    given = {name: value for name, value in args.items() if value is not None}
    listening = LISTENER.set(heard)
    try:
        return await context.gate.call(tool, given, session=SESSION, caller=visitor.caller)
    finally:
        LISTENER.reset(listening)


def trouble(outcome: Outcome | None) -> tuple[str, str] | None:
    """Return why a call has no result and what to do; None if it has one."""
    if outcome is None:
        return "You are not logged in any more.", "Log in again; what you typed is still here."
    if outcome.ok:
        return None
    if outcome.held is not None:
        return "A person has to let this through.", f"It waits at /approvals/{outcome.held.approval_id}"
    told = outcome.problem()["error"]
    return str(told["message"]), str(told["details"].get("hint") or f"{told['category']}, {outcome.receipt_id}")


def tell_trouble(outcome: Outcome | None) -> bool:
    """Show why a call has no result; return whether there was a problem."""
    wrong = trouble(outcome)
    if wrong is None:
        return False
    failed(*wrong)
    if outcome is not None and outcome.held is not None:
        ui.link("See what is held", f"/approvals/{outcome.held.approval_id}")
    return True
