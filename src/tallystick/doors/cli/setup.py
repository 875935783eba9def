"""`tally init` makes a workspace, `tally rooms` shows its rooms and switches them on and off."""

from typing import Annotated

import typer

from tallystick.doors.cli.command import command, group, listing
from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.workspace import Here

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Rooms, as `tally rooms` lists them.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "init")(init)
    rooms = group(app, "rooms", "List the rooms, and switch them on and off.", has_listing=True)
    listing(rooms)(list_rooms)
    command(rooms, "on")(switch_on)
    command(rooms, "off")(switch_off)


def init(
    here: Here,
    room: Annotated[
        list[str] | None, typer.Option("--room", metavar="NAME", help="Switch this room on; may be repeated.")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            "--database", metavar="URL", help="Keep tables and receipts in this PostgreSQL, for several nodes."
        ),
    ] = None,
) -> Exit:
    """Make this folder a workspace.

    Writes tallystick.toml with the rooms that are on: those of --room and those that the folder holds data of.
    """
    from tallystick.app.room_switch import required_manifest

    chosen = room or []
    for name in chosen:
        required_manifest(name)
    if database is not None:
        from tallystick.app.journal_move import share_journal

        share_journal(here.open_workspace(), database)
        here.screen.line("Tables and receipts are kept in the database; every node needs the keys of the first one.")
    return _switch(here, on=chosen)


def list_rooms(here: Here) -> Exit:
    """List the rooms: which are on, which are off, and how to switch or install each."""
    from tallystick.app.room_switch import room_states

    states = room_states(here.workspace, here.settings)
    here.screen.data(
        {"items": [{"name": s.name, "state": s.state, "summary": s.summary, "advice": s.advice} for s in states]}
    )
    here.screen.table(["room", "state", ""], [(s.name, s.state, s.advice or s.summary) for s in states])
    return Exit.OK


def switch_on(here: Here, names: Names) -> Exit:
    """Switch rooms on: their tools, routes, pages and agents' tools. A running server takes them at its next start."""
    from tallystick.app.room_switch import required_manifest

    here.require_workspace()
    for name in names:
        required_manifest(name)
    return _switch(here, on=names)


def switch_off(here: Here, names: Names) -> Exit:
    """Switch rooms off. Their data stays, and is there again when they are on."""
    from tallystick.app.discovery import manifests, room_unknown
    from tallystick.app.room_switch import rooms_on

    here.require_workspace()
    known = {*manifests(), *rooms_on(here.workspace, here.settings)}
    for name in names:
        if name not in known:
            raise room_unknown(name)
    return _switch(here, off=names)


def _switch(here: Here, *, on: list[str] | None = None, off: list[str] | None = None) -> Exit:
    from tallystick.app.room_switch import switch_rooms

    now = switch_rooms(here.open_workspace(), on=on or (), off=off or ())
    here.screen.data({"workspace": str(here.workspace), "rooms": list(now)})
    here.screen.line(f"Rooms on: {', '.join(now) or 'none'}")
    return Exit.OK
