"""The memory room: agents propose, policy decides, everything replays.

    propose/    text → claims; call → one normal form, with the source that its caller may claim
    weigh/      the rule that decides on a proposal; evidence → figures → status
    project/    receipts → events → state, kept in the tables of `store/`
    recall/     question → facts and passages, with their evidence

A later folder may import an earlier one, never the reverse. `tools/` holds the nine proposals. Their handlers write
nothing: `project/fold.py` derives the effect of a call from the receipt that the gate recorded, live as on rebuild.
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
    tools=(
        "archive_episode",
        "attach_contradiction",
        "attach_support",
        "create_or_link_entity_candidate",
        "execute_test_result_ingest",
        "mem.explain",
        "mem.search",
        "propose_proposition",
        "propose_test",
        "record_observation",
        "request_consolidation",
    ),
    data_tables=("tally_memory_observations", "tally_memory_propositions", "tally_memory_things"),
    commands=(
        CommandReference(
            name="memory",
            help="Remember, ask, and see why something is believed.",
            reference="tallystick.rooms.memory.cli.commands:add_to",
        ),
    ),
    web="tallystick.rooms.memory.web.pages:register",
    demo="tallystick.rooms.memory.demo:PART",
)
