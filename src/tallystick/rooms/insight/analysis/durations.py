"""How long tickets take, and how often they are handed on."""

import re

from tallystick.rooms.insight.analysis.desk import Desk, field_name
from tallystick.rooms.insight.analysis.sentence import Sentence, listed, name, say
from tallystick.rooms.insight.analysis.volume import cannot
from tallystick.rooms.insight.figures.book import Figure
from tallystick.rooms.insight.figures.query import chosen, query

_LOWEST = re.compile(r"(?i)\b(?:fastest|quickest|shortest|fewest|least|lowest)\b")
FEWEST = 5
"""Tickets of a value below which its median says nothing."""


def time_to_resolve(desk: Desk) -> list[Sentence]:
    """The median and the slow tenth; by a field where one is asked for."""
    timed = desk.base | chosen(timed="yes")
    known = desk.count(timed)
    median = desk.book.figure(query("median_hours", desk.base), places=1)
    slow = desk.book.figure(query("slow_hours", desk.base), places=1)
    if known is None or median is None or slow is None:
        untimed = desk.count(desk.base, chosen(timed="no"))
        return [] if untimed is None else [cannot(untimed, "tickets in question do not say when they were resolved")]
    which = f" {desk.about}" if desk.about else ""
    said = [
        say("Half of the ", known, f" tickets{which} whose times are known were resolved within ", median, " hours."),
        say("The slowest tenth took ", slow, " hours or more."),
    ]
    return said + _by(desk, "median_hours", timed, "hours to resolve")


def reassignments(desk: Desk) -> list[Sentence]:
    """How often tickets change hands."""
    unknown = desk.count(desk.base, chosen(none="reassigned"))
    mean = desk.book.figure(query("mean_reassignments", desk.base), places=2)
    moved = desk.count(desk.base, chosen(reassigned=1))
    share = desk.share(chosen(reassigned=1), desk.base)
    if mean is None or moved is None or share is None:
        return (
            [] if unknown is None else [cannot(unknown, "tickets in question do not say how often they changed hands")]
        )
    which = f" {desk.about}" if desk.about else ""
    said = [
        say(moved, f" tickets{which} were reassigned at least once, ", share, " of them."),
        say("The mean is ", mean, " reassignments a ticket."),
    ]
    return said + _by(desk, "mean_reassignments", desk.base, "reassignments a ticket")


def _by(desk: Desk, measure: str, of: dict[str, str], unit: str) -> list[Sentence]:
    """The same for each value of the field that is asked for: what is asked for first, else the highest."""
    by = desk.asked.by
    if by is None:
        return []
    places = 1 if measure == "median_hours" else 2
    found: list[tuple[str, Figure, Figure]] = []
    for row in desk.ranked(by, of):
        value = desk.book.figure(query(measure, of, row.where), places=places)
        many = desk.count(of, row.where)
        if value is not None and many is not None and many.value >= FEWEST:
            found.append((row.label, value, many))
    if not found:
        return []
    low = _LOWEST.search(desk.asked.text) is not None
    found.sort(key=lambda each: (each[1].value if low else -each[1].value, each[0]))
    shown = found if len(found) <= desk.asked.top + 1 else [*found[: desk.asked.top], found[-1]]
    parts: list[list[str | Figure]] = [
        [f"{name(label)} ", value, " (of ", many, " tickets)"] for label, value, many in shown
    ]
    order = "lowest" if low else "highest"
    return [say(f"By {field_name(by)} the {unit} are, the {order} first: ", *listed([list(p) for p in parts]), ".")]
