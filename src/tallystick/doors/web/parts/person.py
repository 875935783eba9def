"""What a page asks before it acts: a person's login, asked for anew, or a role of the visitor."""

from urllib.parse import quote

from nicegui import ui

from tallystick.doors.web.context import PageContext, Visitor
from tallystick.doors.web.parts.asking import here
from tallystick.gate.session import Caller


def person(house: PageContext) -> Caller | None:
    """Who decides; None, after it was said, if nobody who looks here has logged in."""
    visitor = house.visitor(here())
    if visitor is not None and visitor.is_person:
        return visitor.caller
    ui.notify("This needs a person: log in first. Nothing was changed.", type="warning")
    return None


def may_act(visitor: Visitor, roles: frozenset[str]) -> bool:
    """Whether the visitor may do what a page offers; says so if not."""
    if visitor.may(roles):
        return True
    ui.notify(f"One of these roles is needed: {', '.join(sorted(roles))}. Nothing was changed.", type="warning")
    return False


def log_in_hint(what: str, onward: str) -> None:
    """Say that something needs a person, and how to become one here."""
    with ui.row().classes("tally-row"):
        ui.label(f"{what} needs a person.").classes("tally-soft")
        ui.link("Log in", f"/login?next={quote(onward, safe='/')}")
