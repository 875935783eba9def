"""An excerpt of a file with line numbers and highlighting, as plain text."""

from collections.abc import Sequence

from nicegui import ui

from tallystick.doors.web.components.text import text

AROUND = 6
"""Lines of context before and after the highlighted ones."""


def file_view(lines: Sequence[str], first: int, last: int, quote: str = "") -> None:
    """Show lines with the given range highlighted.

    Args:
        lines: The whole file.
        first: The first line to highlight, from 1.
        last: The last one.
        quote: The quoted words; in a line that contains them, only they are highlighted.
    """
    start, end = max(1, first - AROUND), min(len(lines), last + AROUND)
    with ui.element("ol").classes("tally-lines").props(f'start="{start}"'):
        for number in range(start, end + 1):
            with ui.element("li").props(f'id="L{number}" value="{number}"'):
                _line(lines[number - 1], meant=first <= number <= last, quote=quote)


def _line(line: str, *, meant: bool, quote: str) -> None:
    place = line.find(quote) if quote and meant else -1
    if place >= 0:
        text("span", line[:place])
        text("mark", quote)
        text("span", line[place + len(quote) :])
    else:
        text("mark" if meant else "span", line or " ")
