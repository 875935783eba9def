"""Checks before a page acts: the login of a person, verified again, or a role of the visitor."""

from urllib.parse import quote

from nicegui import ui

from tallystick.doors.web.components.tool_calls import here
from tallystick.doors.web.context import PageContext, Visitor
from tallystick.gate.session import Caller


def person(context: PageContext) -> Caller | None:
    """Return the person who is logged in; None, after a message, if nobody is."""
    visitor = context.visitor(here())
    if visitor is not None and visitor.is_person:
        return visitor.caller
    ui.notify("This needs a person: log in first. Nothing was changed.", type="warning")
    return None


def may_act(visitor: Visitor, roles: frozenset[str]) -> bool:
    """Return whether the visitor has one of these roles; show a message if not."""
    if visitor.may(roles):
        return True
    ui.notify(f"One of these roles is needed: {', '.join(sorted(roles))}. Nothing was changed.", type="warning")
    return False


def log_in_hint(what: str, onward: str) -> None:
    """Show that an action needs a person, with a link to log in."""
    with ui.row().classes("tally-row"):
        ui.label(f"{what} needs a person.").classes("tally-soft")
        ui.link("Log in", f"/login?next={quote(onward, safe='/')}")
