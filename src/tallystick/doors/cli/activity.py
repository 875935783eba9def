"""`tally notifications` and `tally telemetry`: show notifications, and what the agents used."""

from typing import Annotated, Any

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Refused
from tallystick.doors.cli.workspace import Here

NUMBERS = ("activations", "tokens_in", "tokens_out", "cost_microusd")


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "notifications")(notifications)
    command(app, "telemetry")(telemetry)


def notifications(
    here: Here,
    every: Annotated[
        bool, typer.Option("--all", help="Include notifications already read.", show_default=False)
    ] = False,
    read: Annotated[bool, typer.Option("--read", help="Mark them as read.", show_default=False)] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=500)] = 50,
) -> None:
    """Show notifications, newest first."""
    from tallystick.storage.notifications import Notifications, grouped

    kept = Notifications(here.require_workspace())
    found = kept.list(unread=not every, limit=limit)
    here.screen.data({"items": [each.as_dict() for each in found], "unread": kept.count(unread=True)})
    if not found:
        here.screen.note("No new notifications.")
    for group in grouped(found):
        for each in group:
            where = f"  {each.link}" if each.link and each is group[0] else ""
            here.screen.line(f"{each.created}  {each.level:<5} {each.source}: {each.text}{where}")
    if read:
        kept.read_all()


def telemetry(
    here: Here,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Only this session.", show_default=False)
    ] = None,
    conference: Annotated[
        str | None, typer.Option("--conference", metavar="ID", help="Only this conference.", show_default=False)
    ] = None,
) -> None:
    """Show the agents' usage, and their rejections by reason."""
    from tallystick.settings import CONTROL_ROOM
    from tallystick.telemetry.rejections import Rejections
    from tallystick.telemetry.stored_counts import StoredCounts

    counted = StoredCounts(Rejections(here.require_workspace() / CONTROL_ROOM / "telemetry"))
    if session is not None:
        found = _known(counted.session(session))
        rows = {"in all": found["totals"], **found["agents"]}
    elif conference is not None:
        found = _known(counted.conference(conference))
        rows = {"in all": found, **{each["agent_id"]: each for each in found["agents"]}}
    else:
        agents = counted.agents()
        found = {**counted.totals(), "agents": agents}
        rows = {"in all": found["totals"], **{each["agent_id"]: each for each in agents}}
    here.screen.data(found)
    buckets = sorted(next(iter(rows.values()))["rejections"])
    here.screen.table(
        ["agent", *(name.replace("_", " ") for name in (*NUMBERS, *buckets))],
        [(name, *(row[number] for number in NUMBERS), *_refusals(row, buckets)) for name, row in rows.items()],
    )


def _refusals(row: dict[str, Any], buckets: list[str]) -> list[int]:
    return [row["rejections"].get(bucket, 0) for bucket in buckets]


def _known(found: dict[str, Any] | None) -> dict[str, Any]:
    if found is None:
        raise Refused("Nothing has been counted for it. Run `tally telemetry` for the totals.", code="nothing_counted")
    return found
