"""`tally memory`: how much there is, what changed, and building it again from the log."""

from typing import Annotated

import typer

from tallystick.doors.cli.kit import Exit, Here, command, group
from tallystick.rooms.memory.cli import forget as memory_forget
from tallystick.rooms.memory.cli import import_file as memory_import
from tallystick.rooms.memory.cli import queries as memory_reading
from tallystick.rooms.memory.cli.queries import memory_in, unknown_proposition


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    memory = group(app, "memory", "Remember, ask, and see why something is believed.")
    memory_reading.add_query_commands(memory)
    memory_import.add_import_command(memory)
    memory_forget.add_forget_command(memory)
    command(memory, "status")(status)
    command(memory, "log")(log)
    command(memory, "rebuild")(rebuild)


def status(
    here: Here,
    digest: Annotated[
        bool, typer.Option("--digest", help="Also the digest of all it holds; reads everything.")
    ] = False,
) -> None:
    """Say how much memory holds, and how far of the log it goes."""
    from tallystick.rooms.memory.recall import listings

    with here.gate(plugins=True) as gate:
        room = memory_in(gate)
        projection = room.projection
        found = listings.status(projection, room.now())
        if digest:
            found["digest"] = listings.digest_of(projection)
    here.screen.data(found)
    here.screen.line(f"log time {found['time']}, up to record {found['seq']}, policy {found['policy'][:16]}")
    here.screen.table(["what", "number"], list(found["counts"].items()))
    here.screen.table(["propositions last weighed as", "number"], list(found["states"].items()))
    if found["due"]:
        here.screen.note(f"{found['due']} of them may have aged since; `tally call request_consolidation` weighs all.")
    if digest:
        here.screen.line(f"digest {found['digest']}")


def log(
    here: Here,
    proposition: Annotated[
        str | None, typer.Argument(metavar="[PROPOSITION]", help="Only of this one.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=10_000)] = 20,
) -> None:
    """Show what changed its standing, and why; the newest first."""
    from tallystick.rooms.memory.recall import listings

    with here.gate(plugins=True) as gate:
        room = memory_in(gate)
        if proposition is not None and room.queries.explain(proposition) is None:
            raise unknown_proposition()
        changes = listings.history(room.projection, proposition, limit)
    here.screen.data({"items": changes})
    if not changes:
        here.screen.note("Nothing has changed here.")
    for one in changes:
        here.screen.line(f"{one['at']}  {one['proposition_id']}  {one['rule']}  {one['words']}")


def rebuild(here: Here) -> Exit:
    """Build memory again from the log, and say whether it came out the same."""
    from tallystick.rooms.memory.recall import listings

    with here.gate(plugins=True) as gate:
        found = listings.rebuild(memory_in(gate).projection)
    here.screen.data(found)
    here.screen.line(f"digest {found['after']}")
    if not found["same"]:
        here.screen.note(f"it was {found['before']} before: the tables had been changed, and are now as the log says")
    return Exit.OK
