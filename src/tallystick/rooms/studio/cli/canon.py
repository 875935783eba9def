"""`tally studio canon`: compile Canon.md from the cards."""

from typing import Annotated, Any

import typer

from tallystick.doors.cli.kit import Exit, Here, Refused, command


def add_to(studio: typer.Typer) -> None:
    """Add the command to its group."""
    command(studio, "canon")(canon)


def canon(
    here: Here,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="AGENT", help="Have this agent's model read the cards; rules do if not given."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="With --model: read again also what has not changed.")] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Only say whether Canon.md is still that of the cards.")
    ] = False,
) -> Exit | None:
    """Compile Canon.md from the cards of the compendium."""
    from tallystick.agents.problem import Problem
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.studio.services.canon import Canon

    with here.gate(plugins=True) as gate:
        desk = Canon(gate)
        if status:
            found: dict[str, Any] = desk.status()
        else:
            made = desk.build(LOCAL_OWNER, agent=model, fresh=fresh, tell=lambda told: _told(here, told))
            if isinstance(made, Problem):
                raise Refused(made.message, code=made.code)
            found = made
    here.screen.data(found)
    _show(here, found)
    return None


def _told(here: Here, told: dict[str, Any]) -> None:
    trouble = f" ({told['problem']})" if told["problem"] else ""
    here.screen.note(f"{told['done']}/{told['total']} {told['path']} by {told['by']}{trouble}")


def _show(here: Here, found: dict[str, Any]) -> None:
    if found["state"] == "absent":
        here.screen.note("There is no canon index yet. `tally studio canon` makes one.")
        return
    here.screen.line(
        f"{found['path']} {found['state']}, {found['indexed']} of {found['cards']} cards, by {found['by']}"
    )
    if not found["cards"]:
        here.screen.note("There are no cards. Write some under Compendium, or let `tally studio cards` propose them.")
    for path in found["changed"]:
        here.screen.line(f"changed since: {path}")
    for one in found["problems"]:
        here.screen.note(f"{one['path']}:{one['line']} {one['code']}: {one['message']}")
