"""`tally run`: start, watch, list and resume pipeline runs."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from tallystick.doors.cli.kit import Exit, Here, Refused, command, from_pairs
from tallystick.rooms.studio.cli.run_screen import RunScreen, watch_run

if TYPE_CHECKING:
    from tallystick.agents.problem import Problem
    from tallystick.app.gate import Gate
    from tallystick.gate.session import Caller
    from tallystick.rooms.studio.runs.service import RunService

START = "start"
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.", show_default=False)]
Watch = Annotated[bool, typer.Option("--watch", help="Work on it here, and show each step as it ends.")]


class RunGroup(TyperGroup):
    """`tally run RECIPE` is short for `tally run start RECIPE`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Treat an unknown command name as a recipe."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = [START, *args]
        return super().resolve_command(ctx, args)


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    # Without Rich, like every other group: it would cost --help more than all the rest.
    run = typer.Typer(
        cls=RunGroup,
        help="Run recipes: tools gather, agents interpret.",
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=False,
    )
    app.add_typer(run, name="run")
    for name, function in (
        (START, start),
        ("list", list_runs),
        ("show", show),
        ("cancel", cancel),
        ("resume", resume),
        ("recipes", recipes),
    ):
        command(run, name)(function)


def start(
    here: Here,
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="`tally run recipes` lists them.")],
    given: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", metavar="KEY=VALUE", help="One input. KEY:=JSON for a value that is not text."),
    ] = None,
    watch: Watch = False,
) -> Exit:
    """Start a run of a recipe; `tally run RECIPE` for short.

    It waits for a worker (`tally serve`, `tally worker`), or is worked on here with --watch.
    """
    with here.gate(plugins=True, make=True) as gate:
        runs = _runs(gate)
        listed = runs.recipes.get(recipe)
        takes = {} if listed is None or listed.recipe is None else listed.recipe.inputs["properties"]
        inputs = from_pairs(given or [], takes, option="--input")
        begun = _good(runs.start(recipe, inputs, _owner()))
        return _go_on(here, gate, runs, begun, watch=watch)


def list_runs(
    here: Here,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=500)] = 20,
    offset: Annotated[int, typer.Option("--offset", metavar="N", min=0)] = 0,
) -> None:
    """List the runs, the newest first."""
    with here.gate(plugins=True) as gate:
        items, total = _runs(gate).page(_owner(), limit=limit, offset=offset)
    here.screen.data({"items": items, "total": total, "limit": limit, "offset": offset})
    if not items:
        here.screen.note("No runs yet. `tally run recipes` lists what can be run.")
        return
    rows = [(one["run_id"], one["status"], one.get("title", ""), one.get("created_at", "")) for one in items]
    here.screen.table(["run", "status", "recipe", "created"], rows)


def show(
    here: Here,
    run_id: RunId,
    slot: Annotated[
        str | None, typer.Option("--slot", metavar="NAME", help="Only what this slot of its cache holds.")
    ] = None,
) -> Exit:
    """Show a run: its steps, its receipts, its definition of done."""
    with here.gate(plugins=True) as gate:
        runs = _runs(gate)
        if slot is not None:
            held = runs.slot(run_id, slot, _owner())
            if held is None:
                raise Refused("There is no such run or slot. `tally run show RUN` names them.", code="not_found")
            RunScreen(here.screen).slot(held)
            return Exit.OK
        found, said = runs.show(run_id, _owner()), runs.replies(run_id, _owner())
    RunScreen(here.screen).run(_there(found), said)
    return Exit.OK


def cancel(here: Here, run_id: RunId) -> Exit:
    """End a run before its next step."""
    with here.gate(plugins=True) as gate:
        found = _there(_runs(gate).cancel(run_id, _owner()))
    RunScreen(here.screen).run(found)
    return Exit.OK if found["status"] == "cancelled" else Exit.REFUSED


def resume(here: Here, run_id: RunId, watch: Watch = False) -> Exit:
    """Resume a failed, cancelled or incomplete run after its last finished step."""
    with here.gate(plugins=True) as gate:
        runs = _runs(gate)
        resumed = _good(_there(runs.resume(run_id, _owner())))
        return _go_on(here, gate, runs, resumed, watch=watch)


def recipes(here: Here) -> None:
    """List the recipes: those that come with the studio, and the project's own."""
    with here.gate(plugins=True, make=True) as gate:
        found = [one.as_dict() for one in _runs(gate).recipes.list()]
    here.screen.data({"items": found, "total": len(found)})
    RunScreen(here.screen).recipes(found)


def _go_on(here: Here, gate: "Gate", runs: "RunService", begun: dict[str, Any], *, watch: bool) -> Exit:
    shown = RunScreen(here.screen)
    if not watch:
        here.screen.data(begun)
        here.screen.line(begun["run_id"])
        here.screen.note(f"queued; a worker carries it out. See: tally run show {begun['run_id']}{here.screen.there}")
        return Exit.OK
    here.screen.note(f"run {begun['run_id']}")
    ended = watch_run(gate, runs, begun["run_id"], _owner(), told=shown.event)
    shown.run(ended, runs.replies(ended["run_id"], _owner()))
    return Exit.OK if ended["status"] == "done" else Exit.REFUSED


def _runs(gate: "Gate") -> "RunService":
    from tallystick.app.flows import register_flows
    from tallystick.app.rooms import room_in
    from tallystick.rooms.studio.room import Studio

    register_flows(gate)
    runs = room_in(gate, "studio", Studio).runs
    assert runs is not None, "`register_flows` gives the room its runs"  # noqa: S101
    return runs


def _owner() -> "Caller":
    from tallystick.gate.session import LOCAL_OWNER, Caller

    return Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel="cli")


def _there(found: "dict[str, Any] | Problem | None") -> Any:
    if found is None:
        raise Refused("There is no such run. `tally run list` lists them.", code="run_unknown")
    return found


def _good(made: "dict[str, Any] | Problem") -> dict[str, Any]:
    if isinstance(made, dict):
        return made
    where = f" (at {made.pointer})" if made.pointer else ""
    raise Refused(f"{made.message}{where}", code=made.code)
