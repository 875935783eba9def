"""Insight: what support tickets say, with numbers that can be recomputed.

ingest → embed → cluster → analyse → report name the steps; `query` is the typed language that numbers are asked in,
`question` reads words as such a query, `figures` computes numbers and `search` finds tickets.
"""

from tallystick.plugin import CommandReference, Manifest

MANIFEST = Manifest(
    name="insight",
    summary="Say what support tickets are about, with numbers that can be recomputed.",
    room="tallystick.rooms.insight.room:Insight",
    requires=(
        "charset_normalizer",
        "defusedxml",
        "numpy",
        "openpyxl",
        "phonenumbers",
        "dateutil",
        "scipy",
        "sklearn",
        "usearch",
        "wordllama",
    ),
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
    tools=(
        "insight.search",
        "tool.analysis.query",
        "tool.analysis.run",
        "tool.cluster.run",
        "tool.embed.run",
        "tool.history.list",
        "tool.ingest.upload",
        "tool.prompts.list",
        "tool.prompts.load",
        "tool.prompts.save",
        "tool.reports.get",
        "tool.search.nn",
    ),
    data_tables=("tally_insight_datasets",),
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
