"""What may be said about an issue, and how a change applies to it.

The circuit breaker stops agents that comment too much, too little, or only to each other. It counts what agents said
since a person last commented; people and the system itself are never limited.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.rooms.studio.issues.model import Change, Comment, Issue, Link, NewComment
from tallystick.rooms.studio.issues.wire import (
    MAX_COMMENT,
    NAMED,
    clean,
    links_wire,
    problem_of,
    summary_of,
    tags_of,
)
from tallystick.turns.thought_blocks import put_aside

PAIR = 2


@record
class Limits:
    """Limits of agents on one issue until a person comments."""

    comments_per_agent: int = 12
    """Comments of one agent: more than a discussion needs, fewer than a loop makes."""
    min_chars: int = 20
    """Minimum characters of a comment, without white space."""
    ping_pong: int = 8
    """Comments in which two agents only answer each other."""


DEFAULT_LIMITS = Limits()


@record
class BreakerTrip:
    """Why a comment is refused."""

    code: str
    message: str
    freezes: bool = False
    """The issue is frozen until a person has looked at it."""


def tripped(comments: Sequence[Comment], new: NewComment, limits: Limits = DEFAULT_LIMITS) -> BreakerTrip | None:
    """Whether a comment trips the breaker.

    Args:
        comments: What was said so far, oldest first.
        new: What an agent wants to say.
        limits: What is allowed.
    """
    if new.by != "agent":
        return None
    words = put_aside(new.body)[0]
    if len("".join(words.split())) < limits.min_chars:
        message = f"A comment has at least {limits.min_chars} letters. Say what was found and where."
        return BreakerTrip(code="comment_too_short", message=message)
    recent = since_person(comments)
    own = [each for each in recent if each.author == new.author]
    if own and _plain(own[-1].body) == _plain(new.body):
        return BreakerTrip(
            code="comment_repeated", message="This repeats your last comment. Say something new, or nothing."
        )
    if len(own) >= limits.comments_per_agent:
        message = f"{new.author} has said {len(own)} things here since a person spoke. A person must look at it."
        return BreakerTrip(code="comment_limit", message=message, freezes=True)
    if _is_ping_pong([*(each.author for each in recent), new.author], limits.ping_pong):
        message = f"{recent[-1].author} and {new.author} only answer each other. A person must look at it."
        return BreakerTrip(code="comment_ping_pong", message=message, freezes=True)
    return None


def since_person(comments: Sequence[Comment]) -> list[Comment]:
    """Agents' comments since a person last acted on the issue."""
    last = max((place for place, each in enumerate(comments) if each.by == "person"), default=-1)
    return [each for each in comments[last + 1 :] if each.by == "agent" and each.kind == "comment"]


def _is_ping_pong(authors: Sequence[str], most: int) -> bool:
    """Whether the last `most` comments alternate between two agents."""
    tail = authors[-most:]
    return len(tail) == most and len(set(tail)) == PAIR and all(one != other for one, other in pairwise(tail))


def _plain(body: str) -> str:
    return " ".join(body.casefold().split())


UNKNOWN = Problem(code="issue_unknown", message="There is no such issue. Give its id or its number.")
FROZEN = Problem(code="issue_frozen", message="The issue is frozen: only a person may continue it, or unfreeze it.")
MAX_NAME = int(NAMED["maxLength"])


def comment_problem(issue: Issue | None, new: NewComment) -> Problem | None:
    """Why a comment is refused, for agents and people alike."""
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


def apply_change(issue: Issue, change: Change) -> Issue | Problem:
    """The issue with the change applied."""
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
