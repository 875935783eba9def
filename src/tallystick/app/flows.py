"""Register the rooms' durable flows before a worker starts.

Processes that start or run flows call `register_flows` once after opening the workspace. Opening does not do it, to
stay fast for all other processes.
"""

from tallystick.app.gate import Gate


def register_flows(gate: Gate) -> None:
    """Let every open room register its flows."""
    context = gate.flow_context()
    for room in gate.rooms().values():
        room.flows(gate.durable, context)
