"""The composition root: the only package that chooses implementations and wires them together.

    gate.py       the public `Gate`: one open workspace
    wiring.py     which implementation satisfies which port
    discovery.py  which rooms are installed; `room_switch.py` says which are on, `room_context.py` opens them
    agents.py     the conversation service, wired to storage and providers

This module imports nothing, so that discovering installed rooms loads nothing else.
"""
