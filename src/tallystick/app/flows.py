"""The rooms' long work, registered at the durable port before workers begin.

A room that has some offers `flows(durable, hands)` beside `tools()`. Doors that start runs or work on them call
`join_flows` once, right after the workspace is opened; opening alone stays light.
"""

from importlib.metadata import entry_points

from tallystick.app.gate import Gate
from tallystick.app.flow_context import GateHands
from tallystick.app.tool_files import GROUP


def join_flows(gate: Gate) -> None:
    """Let every installed room register its flows with the gate's hands."""
    hands = GateHands(gate)
    for found in entry_points(group=GROUP):
        register = getattr(gate.room(found.name), "flows", None)
        if register is not None:
            register(gate.durable, hands)
