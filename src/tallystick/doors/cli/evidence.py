"""`tally evidence …`: check the claims of a reply, or of an agent's messages, from any system."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.outside import checked_session, read_file
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.gate.reply.chat_transcripts import ChatTranscript, TranscriptFindings
    from tallystick.gate.reply.findings import Findings, Item
    from tallystick.gate.reply.support.actions import RecordedCall

MAX_REPLY_BYTES = 4 * 1024 * 1024
"""No reply for a person is this long."""
MAX_TRANSCRIPT_BYTES = 16 * 1024 * 1024

Reply = Annotated[str, typer.Argument(metavar="REPLY", help="The file with the reply; - reads stdin.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    evidence = group(app, "evidence", "Check what a reply claims.")
    command(evidence, "check")(check)
    command(evidence, "transcript")(transcript)


def check(
    here: Here,
    reply: Reply,
    session: Annotated[
        str, typer.Option("--session", "-s", metavar="ID", help="The session whose receipts it may cite.")
    ] = "cli",
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="ID", help="The author; determines which sources count.")
    ] = None,
) -> Exit:
    """Check a reply's claims against files and receipts.

    Every quote, line, absence and receipt that it names must be there, and every sentence must be supported by them;
    sentences that cannot be decided are listed as unsure. The check leaves a receipt of its own.
    """
    text = read_reply(reply)
    with here.gate(make=True) as gate:
        findings = gate.check_reply(text, session=session, agent=agent)
    _show(here, findings)
    return Exit.OK if findings.ok else Exit.REFUSED


def transcript(
    here: Here,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The chat messages as JSON or JSON lines; - reads stdin.")
    ],
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            "-s",
            metavar="ID",
            help="Compare with the recorded calls of this session. FILE may then be plain text.",
            show_default=False,
        ),
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(
            "--tool",
            metavar="NAME",
            help="A tool the agent has; repeat for each. Default: the file's.",
            show_default=False,
        ),
    ] = None,
) -> Exit:
    """Find actions that an agent says it did although no call did them.

    Messages are in the OpenAI form, with tool_calls and their results. Nothing is recorded.
    """
    from tallystick.gate.reply.chat_transcripts import check_conversations

    data = read_file(Path(file), MAX_TRANSCRIPT_BYTES)
    conversations = _conversations(data, tool, is_text=session is not None and data.strip()[:1] not in {b"[", b"{"})
    recorded = None if session is None else _recorded(here, session)
    findings = check_conversations(conversations, recorded)
    _show_undone(here, findings)
    return Exit.OK if findings.ok else Exit.REFUSED


def _conversations(data: bytes, tools: list[str] | None, *, is_text: bool) -> "list[ChatTranscript]":
    from dataclasses import replace

    from tallystick.gate.reply.chat_transcripts import TranscriptFault, read_transcript, text_conversation

    found = (text_conversation(data.decode("utf-8", errors="replace")),) if is_text else read_transcript(data)
    if isinstance(found, TranscriptFault):
        raise Refused(found.reason, code=found.code)
    return [replace(each, tools=tuple(tools)) if tools else each for each in found]


def _recorded(here: Here, session: str) -> "tuple[RecordedCall, ...]":
    from tallystick.app.replies import calls_of_session

    checked_session(session)
    with here.gate() as gate:
        calls = calls_of_session(gate.ledger, session)
    if calls is None:
        raise Refused(f"Nothing is recorded of session {session}. See `tally audit list`.", code="session_unknown")
    return calls


def _show_undone(here: Here, findings: "TranscriptFindings") -> None:
    screen = here.screen
    screen.data(findings.as_dict())
    many = findings.conversations > 1
    for each in findings.undone:
        place = f"conversation {each.conversation}, message" if many else "message"
        screen.line(f"{place} {each.message}, line {each.undone.line}: {each.undone.text[:200]}")
        screen.line(f"    {each.undone.code}: {each.undone.reason}")
    read = f"{findings.messages} messages of the agent and {findings.calls} calls read"
    screen.line(f"{read}; said but not done: {len(findings.undone)}")


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
    for item in findings.unsure:
        screen.line(f"unsure: {item.source}: {item.reason}")
    if findings.abstained:
        screen.line("abstained")
    elif findings.unsure and findings.ok:
        screen.line("holds, except for the sentences that are unsure: read them yourself")
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
