"""`tally memory forget`: erase what was told, with all proposals in whose receipts its words stand."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.kit import Exit, Here, Refused, Token, Yes, command, counted, require_person
from tallystick.rooms.memory.cli.queries import memory_in

if TYPE_CHECKING:
    from tallystick.rooms.memory.project.receipts import ErasurePlan
    from tallystick.rooms.memory.room import Memory


def add_forget_command(memory: typer.Typer) -> None:
    """Add this command to the group."""
    command(memory, "forget")(forget)


def forget(
    here: Here,
    name: Annotated[str, typer.Argument(metavar="ID", help="An observation's id, or a proposition's.")],
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Why; the ledger keeps it for ever.")],
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Erase an observation for ever, with every proposal that cites it or was derived from it.

    For a proposition, what proposed it is erased. Shows what goes and asks first. Needs a terminal or the start-up
    token.
    """
    person = require_person(here, token)
    from tallystick.gate.session import Caller, Session
    from tallystick.rooms.memory.project.receipts import plan_erasure

    with here.gate(plugins=True) as gate:
        found = plan_erasure(gate.ledger.read(), name)
        if not found.receipts:
            raise Refused("No receipt holds this. `tally memory explain` shows ids.", code="nothing_to_forget")
        going = _going(memory_in(gate), found)
        if not person.agrees(_question(here, found, going), yes=yes):
            raise Refused("Nothing was erased.", code="not_answered")
        caller = Caller(subject=person.name, channel=person.channel)
        orders = [
            gate.ledger.erase(one.receipt_id, session=Session(session_id=one.session_id, caller=caller), reason=reason)
            for one in found.receipts
        ]
    here.screen.data(
        {
            "erased": [one.as_dict() for one in found.receipts],
            "propositions": going,
            "receipt_ids": [order.receipt_id for order in orders],
        }
    )
    here.screen.line(f"erased {counted(len(orders), 'receipt')}; {orders[-1].receipt_id} is the last that says so")
    return Exit.OK


def _going(room: "Memory", found: "ErasurePlan") -> list[dict[str, Any]]:
    """The propositions that are there now, and will not be."""
    told = (room.queries.explain(name) for name in found.proposition_ids)
    kept = ("id", "subject", "predicate", "object")
    return [{name: one["proposition"][name] for name in kept} for one in told if one is not None]


def _question(here: Here, found: "ErasurePlan", going: list[dict[str, Any]]) -> str:
    """Show what goes, and ask. The facts stand in the question: with `--json` nothing else is shown before it."""
    for one in found.receipts:
        here.screen.note(f"{one.receipt_id}  {one.tool}: {one.words}")
    facts = [f"{one['subject']} {one['predicate']} {one['object']}" for one in going]
    for fact in facts:
        here.screen.note(f"no longer there then: {fact}")
    with_them = f", and with them: {'; '.join(facts)}" if facts else ""
    return f"Erase {counted(len(found.receipts), 'receipt')} for ever{with_them}?"
