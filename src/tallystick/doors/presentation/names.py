"""The names under which a door shows the tools of a workspace."""

from tallystick.app.gate import Gate
from tallystick.turns.shown_names import ShownNames, shown_names


def names_of(gate: Gate) -> ShownNames:
    """The names of all tools registered now."""
    return shown_names(tuple(card.name for card in gate.tools()))
