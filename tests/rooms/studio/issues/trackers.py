"""Issues with a clock and ids that are the same on every run, and what several processes do to them."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.rooms.studio.issues.model import Comment, Issue, NewComment, NewIssue
from tallystick.rooms.studio.issues.tracker import IssueSettings, IssueTracker, open_tracker
from tallystick.storage.notifications import Notifications


def ticking() -> Callable[[], str]:
    """A clock that moves on by a second with every look."""
    seconds = itertools.count()
    return lambda: f"2026-01-01T{(at := next(seconds)) // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.000Z"


def counted() -> Callable[[str], str]:
    numbers = itertools.count(1)
    return lambda kind: f"{kind}_{next(numbers):08}"


def matters(workspace: Path, **settings: Any) -> IssueTracker:
    return open_tracker(workspace, IssueSettings(**settings), now=ticking(), new_id=counted())


def opened(here: IssueTracker, title: str = "The compass", **more: Any) -> Issue:
    made = here.issues.create(
        NewIssue(**{"title": title, "body": "It is silver, and brass.", "opened_by": "ada", **more})
    )
    assert isinstance(made, Issue), made
    return made


def says(here: IssueTracker, name: str, author: str, body: str, by: Any = "agent") -> Comment | Problem:
    return here.issues.comment(name, NewComment(author=author, body=body, by=by))


def code(came: object) -> str:
    assert isinstance(came, Problem), came
    return came.code


def told(workspace: Path) -> list[str]:
    """The texts of the notifications, the newest first."""
    return [each.text for each in Notifications(workspace).list()]


def open_and_discuss(start: Any, workspace: str, rounds: int) -> list[str]:
    """In a process of its own: open issues, comment on the first, remember it."""
    from os import getpid  # noqa: PLC0415 - the child's own

    here = open_tracker(Path(workspace))
    start.wait()
    made: list[str] = []
    for number in range(rounds):
        issue = here.issues.create(NewIssue(title=f"{getpid()} {number}", body="x", opened_by="ada"))
        assert isinstance(issue, Issue)
        made.append(issue.issue_id)
        said = here.issues.comment("1", NewComment(author="ada", body=f"{getpid()} says {number}", by="person"))
        assert isinstance(said, Comment)
        here.memory.activated("critic")
        Notifications(Path(workspace)).add(level="info", source="test", text=f"{getpid()} {number}")
    return made
