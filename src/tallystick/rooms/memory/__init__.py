"""The memory room: agents propose, policy decides, everything replays.

    ledger ── events.py ──▶ Event ── fold.py ──▶ State ── book.py/store.py ──▶ SQLite or Postgres
                                        │
                          scoring.py  states.py  policy.py

`tools/` holds the nine proposals. Their handlers write nothing: what a call means is worked out by `fold` from the
receipt that the gate left, live as on rebuild. `checks.py` is the room's rule, which decides before anything is stored.
"""

from tallystick.plugin import CommandReference, Manifest

MANIFEST = Manifest(
    name="memory",
    summary="What agents may come to believe: they propose, policy decides, everything replays.",
    room="tallystick.rooms.memory.room:Memory",
    settings="tallystick.rooms.memory.policy:MemorySettings",
    migrations="tallystick.rooms.memory.store.migrations",
    http="tallystick.rooms.memory.http:routers",
    paths=("/api/memory",),
    commands=(
        CommandReference(
            name="memory",
            help="Remember, ask, and see why something is believed.",
            reference="tallystick.rooms.memory.cli:add_to",
        ),
    ),
    web="tallystick.rooms.memory.web:register",
    demo="tallystick.rooms.memory.demo:PART",
)
