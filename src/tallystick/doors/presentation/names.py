"""The tool names that a door shows for a workspace."""

from tallystick.app.gate import Gate
from tallystick.turns.shown_names import ShownNames, shown_names


def names_of(gate: Gate) -> ShownNames:
    """Return the shown names of all registered tools."""
    return shown_names(tuple(card.name for card in gate.tools()))
