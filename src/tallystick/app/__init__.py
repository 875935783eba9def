"""The only place where parts are chosen and joined.

    gate.py       the public `Gate`: one open workspace
    wiring.py     which part satisfies which port
    discovery.py  which rooms are installed; `rooms.py` opens them
    agents.py     the conversation service, joined with storage and providers

Nothing is imported here, so that finding the installed rooms loads nothing else.
"""
