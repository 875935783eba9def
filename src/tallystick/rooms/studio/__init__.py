"""The studio: a writer's project, and the tools with which agents read and check it."""

from tallystick.plugin import CommandReference, Manifest

MANIFEST = Manifest(
    name="studio",
    summary="A writer's workspace: files, canon, continuity checks, conferences of agents.",
    room="tallystick.rooms.studio.room:Studio",
    requires=("charset_normalizer", "defusedxml", "docx", "proselint", "pyphen", "yaml"),
    install="pip install 'tallystick[studio]'",
    settings="tallystick.rooms.studio.settings:StudioSettings",
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
    tools=(
        "canon_checker",
        "consistency_checker",
        "file_locator",
        "file_reader",
        "outline_analyzer",
        "prose_analyzer",
        "scene_draft_validator",
        "search_issues",
        "task_router",
    ),
    data_files=(
        ".control-room/canon/*",
        ".control-room/conferences/*",
        ".control-room/issues/*",
        ".control-room/prompts/*",
        ".control-room/recipes/*",
        ".control-room/workspace/*",
        "Story/*",
        "Compendium/*",
    ),
    chat=True,
    commands=(
        CommandReference(
            name="conference", help="Ask several agents at once.", reference="tallystick.rooms.studio.cli:add_to"
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
