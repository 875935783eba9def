"""The tool names that a door shows for a workspace."""

from tallystick.app.gate import Gate
from tallystick.turns.api_names import ApiNames, api_names


def names_of(gate: Gate) -> ApiNames:
    """Return the shown names of all registered tools."""
    return api_names(tuple(card.name for card in gate.tools()))
