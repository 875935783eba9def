"""Desk: customers are answered from documents, with verdicts that the server computes and a queue for people.

intake → triage → gather → verdict → reply are the steps of a message; `tickets` holds its state, `service` joins them.
"""

from tallystick.plugin import CommandReference, Manifest

MANIFEST = Manifest(
    name="desk",
    summary="Answer customers from documents, and ask people.",
    room="tallystick.rooms.desk.room:Desk",
    requires=("charset_normalizer", "defusedxml", "langdetect", "pypdf"),
    install="pip install 'tallystick[desk]'",
    settings="tallystick.rooms.desk.options:Options",
    migrations="tallystick.rooms.desk.store.migrations",
    http="tallystick.rooms.desk.http:routers",
    paths=("/events", "/v1/triage", "/v1/tickets", "/v1/reviews", "/v1/desk"),
    tools=("kb.read", "kb.search", "logs.search", "web.search"),
    data_tables=("tally_desk_tickets",),
    data_files=("kb/*",),
    commands=(
        CommandReference(
            name="desk",
            help="Answer customers from documents, and ask people.",
            reference="tallystick.rooms.desk.cli:add_to",
        ),
    ),
    web="tallystick.rooms.desk.web:register",
    demo="tallystick.rooms.desk.demo:PART",
)
