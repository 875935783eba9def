"""The circuit breaker: agents that talk too much, too little, or only to each other are stopped.

Counted is what agents said since a person last spoke: a person's word begins anew. Persons and the system itself are
never limited.
"""

from collections.abc import Sequence
from itertools import pairwise

from tallystick.records import record
from tallystick.rooms.studio.issues.nouns import Comment, NewComment
from tallystick.turns.thinking import put_aside

PAIR = 2


@record
class Limits:
    """What agents may do on one issue before a person is needed."""

    comments_per_agent: int = 12
    """Of one agent: more than a discussion takes, less than a loop makes."""
    min_chars: int = 20
    """Letters of a comment, blanks not counted: less says nothing that could be acted on."""
    ping_pong: int = 8
    """Comments in which two agents only answer each other."""


DEFAULT_LIMITS = Limits()


@record
class Trip:
    """Why a comment is not taken."""

    code: str
    message: str
    freezes: bool = False
    """The issue is frozen as well, until a person has looked at it."""


def tripped(comments: Sequence[Comment], new: NewComment, limits: Limits = DEFAULT_LIMITS) -> Trip | None:
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
        return Trip(code="comment_too_short", message=message)
    recent = since_person(comments)
    own = [each for each in recent if each.author == new.author]
    if own and _plain(own[-1].body) == _plain(new.body):
        return Trip(code="comment_repeated", message="You have just said this. Say something new, or nothing.")
    if len(own) >= limits.comments_per_agent:
        message = f"{new.author} has said {len(own)} things here since a person spoke. A person must look at it."
        return Trip(code="comment_limit", message=message, freezes=True)
    if _is_ping_pong([*(each.author for each in recent), new.author], limits.ping_pong):
        message = f"{recent[-1].author} and {new.author} only answer each other. A person must look at it."
        return Trip(code="comment_ping_pong", message=message, freezes=True)
    return None


def since_person(comments: Sequence[Comment]) -> list[Comment]:
    """What agents said since a person last did or said anything here."""
    last = max((place for place, each in enumerate(comments) if each.by == "person"), default=-1)
    return [each for each in comments[last + 1 :] if each.by == "agent" and each.kind == "comment"]


def _is_ping_pong(authors: Sequence[str], most: int) -> bool:
    """Whether the last `most` comments go to and fro between two."""
    tail = authors[-most:]
    return len(tail) == most and len(set(tail)) == PAIR and all(one != other for one, other in pairwise(tail))


def _plain(body: str) -> str:
    return " ".join(body.casefold().split())
