"""The studio: a writer's project and the tools that agents look at it with."""

from tallystick.plugin import CommandReference, Manifest

MANIFEST = Manifest(
    name="studio",
    summary="A writer's workspace: files, canon, continuity checks, conferences of agents.",
    room="tallystick.rooms.studio.room:Studio",
    requires=("defusedxml", "docx", "proselint", "pyphen", "syntok", "yaml"),
    install="pip install 'tallystick[studio]'",
    settings="tallystick.rooms.studio.options:StudioSettings",
    http="tallystick.rooms.studio.http:routers",
    paths=(
        "/api/workspace",
        "/api/conferences",
        "/api/recipes",
        "/api/runs",
        "/api/canon",
        "/api/issues",
        "/api/prompts",
        "/api/audit/sessions/{session_id}/link-issue",
    ),
    commands=(
        CommandReference(
            name="conference", help="Ask several agents at one table.", reference="tallystick.rooms.studio.cli:add_to"
        ),
        CommandReference(
            name="run",
            help="Run recipes: tools gather, agents interpret.",
            reference="tallystick.rooms.studio.cli:add_to",
        ),
        CommandReference(
            name="issues", help="List, open, discuss and close issues.", reference="tallystick.rooms.studio.cli:add_to"
        ),
        CommandReference(
            name="studio",
            help="Write: the project's files, its book, its canon.",
            reference="tallystick.rooms.studio.cli:add_to",
        ),
    ),
    web="tallystick.rooms.studio.web:register",
    demo="tallystick.rooms.studio.demo:PART",
)
