"""What a change makes of an issue, and what of a comment cannot be taken."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.rooms.studio.issues.nouns import Change, Issue, Link, NewComment
from tallystick.rooms.studio.issues.wire import (
    MAX_COMMENT,
    NAMED,
    clean,
    links_wire,
    problem_of,
    summary_of,
    tags_of,
)

UNKNOWN = Problem(code="issue_unknown", message="There is no such issue. Give its id or its number.")
FROZEN = Problem(code="issue_frozen", message="The issue is frozen: only a person may go on with it, or unfreeze it.")
MAX_NAME = int(NAMED["maxLength"])


def comment_problem(issue: Issue | None, new: NewComment) -> Problem | None:
    """Why a comment is not taken, whoever makes it."""
    if issue is None:
        return UNKNOWN
    if issue.frozen and new.by == "agent":
        return FROZEN
    if not new.body.strip() or len(new.body) > MAX_COMMENT:
        message = f"A comment has 1 to {MAX_COMMENT:,} characters. Put longer texts into a file."
        return Problem(code="comment_invalid", message=message, pointer="/body")
    if not new.author.strip():
        return Problem(code="comment_invalid", message="Say whose comment it is.", pointer="/author")
    return None


def changed(issue: Issue, change: Change) -> Issue | Problem:
    """The issue with what was given in the place of what it said."""
    plain = {name: _FORMS.get(name, _as_given)(value) for name, value in change.given().items()}
    if "links" in plain:
        plain["links"] = links_wire((*issue.links, *plain["links"]))
    problem = problem_of(plain)
    return problem or replace(issue, **_read(plain))


def _read(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an issue from their JSON form."""
    fields = dict(plain)
    if "body" in plain:
        fields["summary"] = summary_of(plain["body"])
    if "tags" in plain:
        fields["tags"] = tuple(plain["tags"])
    if "links" in plain:
        fields["links"] = tuple(Link(**link) for link in plain["links"])
    return fields


def _as_given(value: Any) -> Any:
    return value


_FORMS: dict[str, Callable[[Any], Any]] = {
    "title": lambda title: clean(" ".join(title.split())),
    "body": clean,
    "tags": tags_of,
    "assigned_to": lambda name: name or None,
}
