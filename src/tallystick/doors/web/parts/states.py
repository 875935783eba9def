"""What a page says when there is nothing, or when something went wrong: always also what to do next."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tallystick.doors.web.parts.text import text


def heading(words: str, under: str = "") -> None:
    """The title of a page, and a line under it."""
    text("h1", words)
    if under:
        ui.label(under).classes("tally-soft")


def section(words: str) -> None:
    """A heading inside a page."""
    text("h2", words)


def empty(
    title: str, advice: str, *, icon: str = "inbox", action: tuple[str, Callable[..., Any]] | None = None
) -> None:
    """Nothing is here yet.

    Args:
        title: What is not here.
        advice: What to do so that something is.
        icon: A picture beside it.
        action: A button: its words, and what it does.
    """
    with ui.column().classes("tally-empty"):
        ui.icon(icon).props('aria-hidden="true"')
        ui.label(title).classes("tally-empty-title")
        ui.label(advice).classes("tally-text")
        if action is not None:
            ui.button(action[0], on_click=action[1])


def failed(what: str, advice: str) -> None:
    """Something could not be shown or done."""
    with ui.row().classes("tally-card tally-bad").props('role="alert"'):
        ui.icon("error").props('aria-hidden="true"')
        with ui.column().classes("gap-0"):
            ui.label(what).classes("tally-text")
            ui.label(advice).classes("tally-text tally-soft")
