"""The rooms' long work, registered at the durable port before workers begin.

A room that has some offers `flows(durable, hands)` beside `tools()`. Doors that start runs or work on them call
`join_flows` once, right after the workspace is opened; opening alone stays light.
"""

from tallystick.bootstrap.gate import Gate
from tallystick.bootstrap.hands import GateHands


def join_flows(gate: Gate) -> None:
    """Let every available room register its flows with the gate's hands."""
    hands = GateHands(gate)
    for room in gate.rooms.values():
        register = getattr(room, "flows", None)
        if register is not None:
            register(gate.durable, hands)
