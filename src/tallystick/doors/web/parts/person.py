"""What only a person may decide: the login is asked for anew before it is done, and its way in is shown before."""

from urllib.parse import quote

from nicegui import ui

from tallystick.doors.web.context import PageContext
from tallystick.doors.web.parts.asking import here
from tallystick.gate.session import Caller


def person(house: PageContext) -> Caller | None:
    """Who decides; None, after it was said, if nobody who looks here has logged in."""
    visitor = house.visitor(here())
    if visitor is not None and visitor.is_person:
        return visitor.caller
    ui.notify("This needs a person: log in first. Nothing was changed.", type="warning")
    return None


def log_in_hint(what: str, onward: str) -> None:
    """Say that something needs a person, and how to become one here."""
    with ui.row().classes("tally-row"):
        ui.label(f"{what} needs a person.").classes("tally-soft")
        ui.link("Log in", f"/login?next={quote(onward, safe='/')}")
