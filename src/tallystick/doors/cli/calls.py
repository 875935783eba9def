"""`tally tools` and `tally call`."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.command import command, group, listing
from tallystick.doors.cli.exits import Exit, Refused, UsageMistake
from tallystick.doors.cli.pairs import from_pairs
from tallystick.doors.cli.screen import say_error
from tallystick.doors.cli.workspace import Here, running_tools
from tallystick.doors.presentation.visible import visible_json

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.gate.admit.proposal import Rejection
    from tallystick.gate.execute.outcome import Outcome
    from tallystick.gate.tool import Card

SESSION = "cli"
"""The session of calls that name none."""
MAX_NAME = 100
"""Maximum characters of the tool name recorded for a refused call."""
MAX_ARGS_BYTES = 1024 * 1024
"""The same limit as in the HTTP API."""


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    tools = group(app, "tools", "List the tools of the workspace, or show one.", has_listing=True)
    listing(tools)(list_tools)
    command(tools, "show")(show_tool)
    command(app, "call")(call)


def list_tools(here: Here) -> None:
    """List the tools of the workspace, or show one."""
    with here.gate(plugins=True) as gate:
        cards = [(card, _decision(gate, card)) for card in gate.tools()]
    here.screen.data({"items": [_card_data(card, decision) for card, decision in cards], "total": len(cards)})
    if not cards:
        here.screen.note('No tools. Name files with tools in tallystick.toml: [gate] tools = ["tools.py"].')
        return
    here.screen.table(
        ["tool", "effect", "policy", "roles", "what it does"],
        [
            (card.name, card.effect, decision, ", ".join(sorted(card.roles)), card.description.strip().split("\n")[0])
            for card, decision in cards
        ],
    )


def show_tool(here: Here, name: Annotated[str, typer.Argument(help="The tool's id.")]) -> None:
    """Show one tool: what it does, what it takes and gives, what policy says."""
    from tallystick.app.discovery import room_hint

    with here.gate(plugins=True) as gate:
        card = next((card for card in gate.tools() if card.name == name), None)
        if card is None:
            hint = room_hint(name, gate.rooms()) or "`tally tools` lists them."
            raise Refused(f"No tool '{name:.100}'. {hint}", code="unknown_tool")
        decision = _decision(gate, card)
    here.screen.data(_card_data(card, decision))
    here.screen.line(f"{card.name}  ({card.effect}, policy: {decision}, version {card.version[:16]})")
    here.screen.block(card.description)
    for title, schema in (("takes", card.input_schema), ("gives", card.output_schema)):
        here.screen.line(f"\n{title}:".removeprefix("\n"))
        here.screen.block("anything" if schema is None else visible_json(dict(schema), indent=2))


def call(
    here: Here,
    name: Annotated[str, typer.Argument(help="The tool's id.")],
    args: Annotated[
        str | None, typer.Argument(metavar="[ARGS_JSON]", help="The arguments as one JSON object; - reads stdin.")
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option("--arg", "-a", metavar="KEY=VALUE", help="One argument. KEY:=JSON for a value that is not text."),
    ] = None,
    session: Annotated[
        str, typer.Option("--session", "-s", metavar="ID", help="The session the receipt belongs to.")
    ] = SESSION,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Dry run, if the tool supports it.")] = False,
) -> Exit:
    """Propose one call and show what comes of it.

    The result goes to stdout, the receipt's id and whatever the tool prints to stderr.
    """
    import asyncio

    from tallystick.doors.presentation.refusals import hint_for

    if args is not None and arg:
        raise UsageMistake("Give the arguments as JSON or with --arg, not both.")
    text = sys.stdin.buffer.read(MAX_ARGS_BYTES + 1) if args == "-" else (args or "{}").encode(errors="surrogateescape")
    with here.gate(plugins=True, make=True) as gate, running_tools():
        given = _from_pairs(arg, gate, name) if arg else _from_json(text)
        outcome = asyncio.run(_call(gate, name, given, text, session=session, dry_run=dry_run))
        hint = None if outcome.rejection is None else hint_for(outcome.rejection, gate)
    return _show(here, outcome, hint)


async def _call(
    gate: "Gate", name: str, given: "dict[str, Any] | Rejection", text: bytes, *, session: str, dry_run: bool
) -> "Outcome":
    from tallystick.gate.session import LOCAL_OWNER, Caller

    owner = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel="cli")
    if not isinstance(given, dict):
        given = replace(given, proposed_tool=name[:MAX_NAME])
        return await gate.refuse(given, text, session=session, caller=owner)
    return await gate.call(name, given, session=session, caller=owner, dry_run=dry_run)


def _show(here: Here, outcome: "Outcome", hint: str | None) -> Exit:
    from tallystick.doors.presentation.refusals import show_command
    from tallystick.gate.codes import TOOL_FAILED

    here.screen.data(outcome.as_dict())
    receipt = f" ({outcome.receipt_id})" if outcome.receipt_id else ""
    if outcome.held is not None:
        held = outcome.held
        here.screen.note(f"held for approval until {held.expires_at}{receipt}")
        shown_by = show_command(held.approval_id, here.workspace)
        here.screen.note(f"to answer: {shown_by}, then approve, edit or reject")
        return Exit.HELD
    if outcome.failure is not None:
        failure = outcome.failure
        _say(here, failure.fault.name, f"{'Failed: ' if outcome.failed else ''}{failure.message}{receipt}")
        if failure.hint is not None:
            here.screen.note(failure.hint)
        elif failure.fault is TOOL_FAILED:
            here.screen.note("TALLY_DEBUG=1 shows where the tool failed")
        return Exit.TOOL_FAILED if outcome.failed else Exit.LEDGER
    if outcome.rejection is not None:
        refused = outcome.rejection
        where = f" at {refused.pointer}" if refused.pointer else ""
        _say(here, str(refused.code or refused.fault.name), f"{refused.reason}{where}{receipt}")
        if hint is not None:
            here.screen.note(hint)
        # Without a rejection code the fault is ours: nothing ran, and the call can be retried.
        return Exit.REFUSED if refused.code else Exit.LEDGER
    result = outcome.result
    here.screen.block(result if isinstance(result, str) else visible_json(result, indent=2))
    here.screen.note(f"receipt: {outcome.receipt_id}")
    return Exit.OK


def _say(here: Here, code: str, message: str) -> None:
    """Print a refusal as an error line for people; with --json the outcome on stdout already contains it."""
    if not here.screen.as_json:
        say_error(code, message, as_json=False)


def _from_json(text: bytes) -> "dict[str, Any] | Rejection":
    from tallystick.gate.admit.strictjson import parse_json_object

    return parse_json_object(text, MAX_ARGS_BYTES)


def _from_pairs(pairs: list[str], gate: "Gate", name: str) -> dict[str, Any]:
    card = next((card for card in gate.tools() if card.name == name), None)
    return from_pairs(pairs, {} if card is None else card.input_schema.get("properties", {}), option="--arg")


def _decision(gate: "Gate", card: "Card") -> str:
    return gate.policy.rule_for(card).verdict or "deny"


def _card_data(card: "Card", decision: str) -> dict[str, Any]:
    return {**card.definition(), "version": card.version, "policy": decision}
