"""`tally mcp review`: show a server's new or changed tools, and let a person accept them."""

from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.mcp.wrap_args import GATEWAY, RELAYS
from tallystick.doors.cli.person import Token, Yes, require_person
from tallystick.doors.cli.workspace import Here
from tallystick.doors.presentation.visible import hidden_in, visible_json

if TYPE_CHECKING:
    from tallystick.doors.mcp.relay.pins import Pin, PinBook


def add_to_group(mcp: typer.Typer) -> None:
    """Add the command to the group `mcp`."""
    command(mcp, "review", workspace="Only the server of this folder. Default: all that were wrapped.")(review)


def review(
    here: Here,
    server: Annotated[
        str | None,
        typer.Option("--server", "-s", metavar="NAME", help="Only this server. Default: all that were wrapped."),
    ] = None,
    accept: Annotated[
        list[str] | None, typer.Option("--accept", metavar="TOOL", help="Accept this tool as it is now. Repeatable.")
    ] = None,
    accept_all: Annotated[bool, typer.Option("--all", help="Accept every tool that is shown.")] = False,
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Show wrapped tools that are new or changed, and accept them.

    Until then such a tool is neither shown to the client nor called. What a server says about itself is shown, too, as
    '(instructions)'; that passes. Accepting needs a terminal or the start-up token, and is recorded.
    """
    found = _changed(_workspaces(here, server))
    _show(here, found)
    wanted = [one for one in found if accept_all or one[2].name in (accept or ())]
    missing = set(accept or ()) - {pin.name for _, _, pin in found}
    if missing:
        raise Refused(f"No new or changed tool is named '{min(missing)}'. Nothing was accepted.", code="not_changed")
    if not wanted:
        return Exit.REFUSED if found else Exit.OK
    for workspace, book, pin in wanted:
        _accept(Here(named=workspace, screen=here.screen), book, pin, token, yes=yes)
    return Exit.OK


def _accept(here: Here, book: "PinBook", pin: "Pin", token: str | None, *, yes: bool) -> None:
    from tallystick.app.audit_notes import demand_ledger, note_change
    from tallystick.doors.mcp.relay.pins import digest_of
    from tallystick.doors.mcp.relay.tools import SESSION
    from tallystick.gate.session import Caller

    person = require_person(here, token)
    if not person.agrees(f"Accept '{pin.name}' as it is now?", yes=yes):
        raise Refused("Nothing was accepted; the tool stays held.", code="not_answered")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    seen = digest_of(pin.offered or {})
    caller = Caller(subject=person.name, channel=person.channel)
    with here.gate() as gate:
        demand_ledger(gate)
        if not book.accept(pin.name, seen, person=person.name, channel=person.channel, when=now):
            raise Refused(f"'{pin.name}' has changed again. Review it once more.", code="changed_again")
        digests = {"before": pin.digest, "after": seen} if pin.digest else {"after": seen}
        receipt = note_change(gate, caller, "relay.accept", f"tools/{pin.name}", digests, session=SESSION)
    here.screen.line(f"{pin.name}: accepted; {receipt} says so")


def _workspaces(here: Here, server: str | None) -> list[Path]:
    if here.named is not None:
        return [here.require_workspace()]
    if server is not None:
        folder = RELAYS.expanduser() / server
        if not folder.is_dir():
            raise Refused(f"No server '{server}' was wrapped here ({folder} does not exist).", code="not_wrapped")
        return [folder]
    relays = sorted(folder for folder in RELAYS.expanduser().glob("*") if folder.is_dir())
    gateway = GATEWAY.expanduser()
    return [*([gateway] if gateway.is_dir() else []), *relays]


def _changed(workspaces: list[Path]) -> "list[tuple[Path, PinBook, Pin]]":
    from tallystick.doors.mcp.relay.pins import PinBook

    books = [(workspace, PinBook(workspace)) for workspace in workspaces]
    return [(workspace, book, pin) for workspace, book in books for pin in book.to_review()]


def _show(here: Here, found: "list[tuple[Path, PinBook, Pin]]") -> None:
    here.screen.data(
        {
            "items": [
                {
                    "workspace": str(workspace),
                    "tool": pin.name,
                    "new": pin.is_new,
                    "accepted": None if pin.is_new else pin.definition,
                    "offered": pin.offered,
                }
                for workspace, _, pin in found
            ]
        }
    )
    if not found:
        here.screen.note("Every tool is unchanged since it was accepted.")
    for workspace, _, pin in found:
        here.screen.line(f"{pin.name}  ({workspace}){'  new' if pin.is_new else ''}")
        for line in _difference(pin):
            here.screen.line(f"  {line}")
        for hidden in hidden_in(dict(pin.offered or {})):
            here.screen.line(f"  WARNING   characters that cannot be seen: {hidden}")


def _difference(pin: "Pin") -> list[str]:
    def lines(definition: Any) -> list[str]:
        return visible_json(definition, indent=2).split("\n")

    before = [] if pin.is_new else lines(dict(pin.definition))
    both = unified_diff(before, lines(dict(pin.offered or {})), "accepted", "offered", lineterm="")
    return list(both)
