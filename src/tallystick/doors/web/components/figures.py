"""Figures and facts: large numbers in a row, and lists of names and values."""

from collections.abc import Iterable, Sequence

from nicegui import ui

from tallystick.doors.web.components.text import text


def figure_row(pairs: Iterable[tuple[str, str]]) -> None:
    """Show labelled numbers in large type."""
    with ui.element("dl").classes("tally-figures"):
        for name, number in pairs:
            with ui.element("div").classes("tally-figure"):
                text("dt", name)
                text("dd", number)


def facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Show names and values, one pair per line."""
    with ui.element("dl").classes("tally-facts"):
        for name, said in pairs:
            text("dt", name)
            text("dd", said)


def plain_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Show a short table, sent at once; the first column has names, the others numbers."""
    box = ui.element("div").classes("tally-scroll").props('tabindex="0" role="region"')
    box.props["aria-label"] = title
    with box, ui.element("table").classes("tally-plain-table"):
        with ui.element("thead"), ui.element("tr"):
            for head in heads:
                text("th", head).props('scope="col"')
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for cell in row:
                        text("td", cell)
