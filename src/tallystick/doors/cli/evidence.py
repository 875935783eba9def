"""`tally evidence check`: check the claims of a reply from any system."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.outside import read_file
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.gate.reply.findings import Findings, Item

MAX_REPLY_BYTES = 4 * 1024 * 1024
"""No reply for a person is this long."""

Reply = Annotated[str, typer.Argument(metavar="REPLY", help="The file with the reply; - reads stdin.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    evidence = group(app, "evidence", "Check what a reply claims.")
    command(evidence, "check")(check)


def check(
    here: Here,
    reply: Reply,
    session: Annotated[
        str, typer.Option("--session", "-s", metavar="ID", help="The session whose receipts it may cite.")
    ] = "cli",
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="ID", help="Who wrote it; decides which sources count.")
    ] = None,
) -> Exit:
    """Check a reply's claims against files and receipts.

    Every quote, line, absence and receipt that it names; the check leaves a receipt of its own.
    It shows that what is cited is there, not that it supports the conclusion.
    """
    text = read_reply(reply)
    with here.gate(make=True) as gate:
        findings = gate.check_reply(text, session=session, agent=agent)
    _show(here, findings)
    return Exit.OK if findings.ok else Exit.REFUSED


def read_reply(name: str) -> str:
    """Read the text of a file or of stdin.

    Raises:
        Refused: `file_unreadable` or `file_too_large`.
    """
    return read_file(Path(name), MAX_REPLY_BYTES).decode("utf-8", errors="replace")


def _show(here: Here, findings: "Findings") -> None:
    screen = here.screen
    screen.data({**findings.as_dict(), "reply_sha256": findings.reply_sha256})
    rows = [("ok" if item.ok else "no", item.kind, item.source, _place(item) or item.reason) for item in findings.items]
    if rows:
        screen.table(["", "claim", "source", "found"], rows)
    if findings.abstained:
        screen.line("abstained")
    elif findings.ok:
        screen.line("holds" if findings.request is None else "an access request: valid, and proves nothing")
    else:
        screen.line(f"does not hold: {findings.code}: {findings.reason}")


def _place(item: "Item") -> str | None:
    found = item.matched
    if not item.ok or found is None:
        return None
    lines = "" if found.first_line is None else f":L{found.first_line}-L{found.last_line}"
    return f"{found.path}{lines}"
