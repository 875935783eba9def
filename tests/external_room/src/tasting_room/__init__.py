"""A log of wine tastings."""

from tallystick.plugin import CommandReference, Manifest

MANIFEST = Manifest(
    name="tastings",
    summary="Log wine tastings and their scores.",
    room="tasting_room.room:Tastings",
    install="pip install tasting-room",
    settings="tasting_room.options:Options",
    migrations="tasting_room.store.migrations",
    http="tasting_room.http:routers",
    paths=("/api/tastings",),
    tools=("tastings.add", "tastings.list"),
    data_tables=("tasting_room_tastings",),
    commands=(CommandReference(name="tastings", help="Log wine tastings.", reference="tasting_room.cli:add_to"),),
    web="tasting_room.web:register",
    demo="tasting_room.demo:PART",
    doctor="tasting_room.doctor:check",
)
