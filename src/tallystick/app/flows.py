"""The rooms' durable flows, registered before a worker starts.

Processes that start or run flows call `register_flows` once, right after the workspace is opened; opening alone stays
light.
"""

from tallystick.app.gate import Gate


def register_flows(gate: Gate) -> None:
    """Let every open room register its flows."""
    context = gate.flow_context()
    for room in gate.rooms().values():
        room.flows(gate.durable, context)
