"""Insight: what the support tickets say, with numbers that can be recomputed."""

from tallystick.plugin import CommandReference, Manifest

MANIFEST = Manifest(
    name="insight",
    summary="Say what support tickets are about, with numbers that can be recomputed.",
    room="tallystick.rooms.insight.room:Insight",
    requires=("defusedxml", "numpy", "openpyxl", "scipy", "sklearn", "usearch", "wordllama"),
    install="pip install 'tallystick[insight]'",
    settings="tallystick.rooms.insight.options:InsightSettings",
    migrations="tallystick.rooms.insight.store.migrations",
    http="tallystick.rooms.insight.http:routers",
    paths=(
        "/ingest",
        "/embed",
        "/cluster",
        "/analysis",
        "/prompts",
        "/search",
        "/reports",
        "/history",
        "/analytics",
    ),
    commands=(
        CommandReference(
            name="insight",
            help="Say what support tickets are about, and recheck it.",
            reference="tallystick.rooms.insight.cli:add_to",
        ),
    ),
    web="tallystick.rooms.insight.web:register",
    demo="tallystick.rooms.insight.demo:PART",
)
