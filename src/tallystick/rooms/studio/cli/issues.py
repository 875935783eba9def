"""`tally issues`: list, open, discuss and close issues.

A comment is a person's when somebody sits at the terminal; anybody else is a program, and the circuit breaker counts
what it says.
"""

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tallystick.doors.cli.kit import Exit, Here, Refused, UsageMistake, command, group, user_name

if TYPE_CHECKING:
    from pathlib import Path

    from tallystick.agents.problem import Problem
    from tallystick.rooms.studio.issues.model import By, Heading, Issue
    from tallystick.rooms.studio.issues.tracker import IssueTracker

T = TypeVar("T")
STATUSES = ("open", "closed", "all")
PRIORITIES = ("low", "normal", "high", "urgent")
ABOUT = 60
"""Characters of a summary in a list."""
Id = Annotated[str, typer.Argument(metavar="ISSUE", help="Its number or its id.", show_default=False)]
Agent = Annotated[
    str | None, typer.Option("--agent", metavar="AGENT", help="The agent who comments.", show_default=False)
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="May be repeated.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    issues = group(app, "issues", "List, open, discuss and close issues.")
    command(issues, "list")(list_issues)
    command(issues, "show")(show)
    command(issues, "new")(new)
    command(issues, "comment")(comment)
    command(issues, "close")(close)


def list_issues(
    here: Here,
    status: Annotated[str, typer.Option("--status", metavar="STATUS", help="open, closed or all.")] = "open",
    tag: Tags = None,
    priority: Annotated[str | None, typer.Option("--priority", metavar="PRIORITY")] = None,
    assigned_to: Annotated[str | None, typer.Option("--assigned-to", metavar="NAME", show_default=False)] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000)] = 50,
    offset: Annotated[int, typer.Option("--offset", metavar="N", min=0)] = 0,
) -> None:
    """List issues, the newest first."""
    from tallystick.rooms.studio.issues.model import IssueFilter
    from tallystick.rooms.studio.issues.wire import heading_wire, tags_of

    _one_of("--status", status, STATUSES)
    if priority is not None:
        _one_of("--priority", priority, PRIORITIES)
    values: dict[str, Any] = {"status": None if status == "all" else status, "priority": priority}
    wanted = IssueFilter(**values, tags=tuple(tags_of(tag or ())), assigned_to=assigned_to)
    found = _matters(here).issues.matching(wanted)
    shown = found[offset : offset + limit]
    here.screen.data({"items": [heading_wire(each) for each in shown], "total": len(found)})
    if not shown:
        here.screen.note("There are no such issues. `tally issues new TITLE` opens one.")
        return
    heads = ["#", "status", "priority", "title", "about", "for", "tags", "comments", "changed"]
    here.screen.table(heads, map(_row, shown))


def _row(one: "Heading") -> tuple[object, ...]:
    status = "frozen" if one.frozen else one.status
    named = (one.number, status, one.priority, one.title, one.summary[:ABOUT], one.assigned_to)
    return (*named, " ".join(one.tags), one.comment_count, one.updated_at)


def show(here: Here, issue: Id) -> None:
    """Show one issue with its comments."""
    from tallystick.rooms.studio.issues.levels import form_of
    from tallystick.rooms.studio.issues.wire import issue_wire

    found = _matters(here).issues.get(issue)
    if found is None:
        raise Refused("There is no such issue. `tally issues list --status all` shows them.", code="issue_unknown")
    here.screen.data(issue_wire(found))
    here.screen.line(f"{found.issue_id}, opened by {found.opened_by} at {found.created_at}")
    if found.frozen:
        here.screen.line("frozen: only a person may continue it")
    here.screen.block(form_of(found, 5))


def new(
    here: Here,
    title: Annotated[str | None, typer.Argument(metavar="[TITLE]", show_default=False)] = None,
    body: Annotated[str, typer.Option("--body", metavar="TEXT", help="What it is about.", show_default=False)] = "",
    tag: Tags = None,
    priority: Annotated[str, typer.Option("--priority", metavar="PRIORITY")] = "normal",
    assigned_to: Annotated[str | None, typer.Option("--assigned-to", metavar="NAME", show_default=False)] = None,
    from_chat: Annotated[
        str | None, typer.Option("--from-chat", metavar="SESSION", help="Of this conversation, with its receipts.")
    ] = None,
    agent: Agent = None,
) -> None:
    """Open an issue, or make one of a conversation."""
    from tallystick.rooms.studio.issues.model import NewIssue

    _one_of("--priority", priority, PRIORITIES)
    if from_chat is None and not (title or "").strip():
        raise UsageMistake("Give a title, or --from-chat SESSION.")
    given: dict[str, Any] = {"tags": tuple(tag or ()), "priority": priority, "assigned_to": assigned_to}
    if from_chat is not None:
        made = _from_chat(here, from_chat, title, given)
    else:
        author, _ = _speaker(here.open_workspace(), agent)
        wanted = NewIssue(title=title or "", body=body, opened_by=author, **given)
        made = _good(_matters(here, make=True).issues.create(wanted))
    here.screen.data({"issue_id": made.issue_id, "number": made.number, "title": made.title})
    here.screen.line(f"#{made.number} {made.title}")


def comment(here: Here, issue: Id, text: Annotated[str, typer.Argument(metavar="TEXT")], agent: Agent = None) -> None:
    """Say something about an issue."""
    from tallystick.rooms.studio.issues.model import NewComment
    from tallystick.rooms.studio.issues.wire import comment_wire

    author, by = _speaker(here.require_workspace(), agent)
    said = _good(_matters(here).issues.comment(issue, NewComment(author=author, body=text, by=by)))
    here.screen.data(comment_wire(said))
    here.screen.line(f"{said.author}: {said.body}")


def close(
    here: Here,
    issue: Id,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", show_default=False)] = "",
    agent: Agent = None,
) -> Exit:
    """Settle an issue."""
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.studio.services.issues import IssueService

    author, by = _speaker(here.require_workspace(), agent)
    with here.gate() as gate:
        done = IssueService(gate).move(issue, "close", author=author, by=by, caller=LOCAL_OWNER, reason=reason)
    closed = _good(done)
    here.screen.data({"issue_id": closed.issue_id, "number": closed.number, "status": closed.status})
    here.screen.line(f"#{closed.number} is closed")
    return Exit.OK


def _from_chat(here: Here, session_id: str, title: str | None, given: dict[str, Any]) -> "Issue":
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.studio.services.issues import FromChat, IssueService

    with here.gate() as gate:
        made = IssueService(gate).from_chat(FromChat(session_id=session_id, title=title, **given), caller=LOCAL_OWNER)
    return _good(made)


def _matters(here: Here, *, make: bool = False) -> "IssueTracker":
    from tallystick.rooms.studio.services.issues import tracker_of

    return tracker_of(here.open_workspace() if make else here.require_workspace(), here.settings)


def _speaker(workspace: "Path", agent: str | None) -> "tuple[str, By]":
    """The author, and whether a person."""
    from tallystick.doors.cli.kit import person_at_terminal
    from tallystick.storage.agents import Registry

    if agent is not None:
        _good(Registry(workspace).load().check_agent(agent))
        return agent, "agent"
    return user_name(), "person" if person_at_terminal() else "agent"


def _good(value: "T | Problem") -> T:
    from tallystick.agents.problem import Problem

    if isinstance(value, Problem):
        raise _refused(value)
    return value


def _refused(problem: "Problem") -> Refused:
    return Refused(problem.message, code=problem.code)


def _one_of(option: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise UsageMistake(f"{option} is one of {', '.join(allowed)}.")
