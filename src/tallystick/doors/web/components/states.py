"""Headings, empty states and error states; the last two always say what to do next."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tallystick.doors.web.components.text import text


def heading(words: str, under: str = "") -> None:
    """Show the title of a page, with an optional line under it."""
    text("h1", words)
    if under:
        ui.label(under).classes("tally-soft")


def section(words: str) -> None:
    """Show a heading inside a page."""
    text("h2", words)


def empty(
    title: str, advice: str, *, icon: str = "inbox", action: tuple[str, Callable[..., Any]] | None = None
) -> None:
    """Show that there is nothing here yet.

    Args:
        title: What is missing.
        advice: What to do about it.
        icon: The icon.
        action: A button: its label and its handler.
    """
    with ui.column().classes("tally-empty"):
        ui.icon(icon).props('aria-hidden="true"')
        ui.label(title).classes("tally-empty-title")
        ui.label(advice).classes("tally-text")
        if action is not None:
            ui.button(action[0], on_click=action[1])


def failed(what: str, advice: str) -> None:
    """Show that something failed, with advice."""
    with ui.row().classes("tally-card tally-bad").props('role="alert"'):
        ui.icon("error").props('aria-hidden="true"')
        with ui.column().classes("gap-0"):
            ui.label(what).classes("tally-text")
            ui.label(advice).classes("tally-text tally-soft")
