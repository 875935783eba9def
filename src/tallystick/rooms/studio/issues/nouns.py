"""What an issue is made of.

An issue is a matter to be settled: it has a title and a body, is spoken about in comments, and is open or closed. Its
links lead to what stands behind it: receipts, sessions, conferences, runs.
"""

from dataclasses import fields
from typing import Any, Literal, get_args

from tallystick.records import record

Status = Literal["open", "closed"]
Priority = Literal["low", "normal", "high", "urgent"]
By = Literal["agent", "person", "system"]
LinkKind = Literal["receipt", "session", "conference", "run", "issue", "task", "file"]
CommentKind = Literal["comment", "closed", "reopened", "frozen", "unfrozen", "stop_hook"]

STATUSES: tuple[str, ...] = get_args(Status)
PRIORITIES: tuple[str, ...] = get_args(Priority)
LINK_KINDS: tuple[str, ...] = get_args(LinkKind)
COMMENT_KINDS: tuple[str, ...] = get_args(CommentKind)
SAID: tuple[str, ...] = get_args(By)


@record
class Link:
    """Something that stands behind an issue."""

    kind: LinkKind
    id: str

    @classmethod
    def of(cls, given: "Link | str") -> "Link":
        """A link from a bare id: receipts are known by their beginning, anything else names a session."""
        if isinstance(given, Link):
            return given
        return cls(kind="receipt" if given.startswith("rcpt_") else "session", id=given)


@record
class Comment:
    """Something that was said about an issue, or that happened to it."""

    comment_id: str
    author: str
    by: By
    """Whether an agent, a person or the system itself: persons are not limited."""
    at: str
    body: str
    kind: CommentKind = "comment"


@record
class Heading:
    """What lists and searches show of an issue: everything but its texts and links."""

    issue_id: str
    number: int
    """Counted from 1, for people."""
    title: str
    status: Status
    priority: Priority
    tags: tuple[str, ...]
    assigned_to: str | None
    opened_by: str
    created_at: str
    updated_at: str
    frozen: bool
    """Nobody but a person may comment."""
    summary: str
    """The beginning of the body, in one line."""
    comment_count: int


@record
class Issue(Heading):
    """One issue, whole."""

    body: str
    links: tuple[Link, ...]
    comments: tuple[Comment, ...]
    """Oldest first."""

    @property
    def heading(self) -> Heading:
        """Without its texts."""
        return Heading(**{each.name: getattr(self, each.name) for each in fields(Heading)})

    @property
    def receipts(self) -> tuple[str, ...]:
        """The receipts it links to."""
        return tuple(link.id for link in self.links if link.kind == "receipt")


@record
class NewIssue:
    """What somebody gives to open an issue."""

    title: str
    body: str
    opened_by: str
    tags: tuple[str, ...] = ()
    priority: Priority = "normal"
    assigned_to: str | None = None
    links: tuple[Link | str, ...] = ()


@record
class NewComment:
    """What somebody has to say."""

    author: str
    body: str
    by: By = "agent"
    kind: CommentKind = "comment"


@record
class Change:
    """What is to be different; what is None stays. To take something away, give the empty value."""

    title: str | None = None
    body: str | None = None
    tags: tuple[str, ...] | None = None
    priority: Priority | None = None
    assigned_to: str | None = None
    """Empty: nobody."""
    links: tuple[Link | str, ...] | None = None
    """Added to those that are there."""

    def given(self) -> dict[str, Any]:
        """What was given."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


@record
class Wanted:
    """Which issues are looked for; what is None or empty does not narrow."""

    status: Status | None = None
    tags: tuple[str, ...] = ()
    """All of them must be there."""
    priority: Priority | None = None
    assigned_to: str | None = None
    text: str | None = None
    """Stands in the title or the summary, whatever its case."""

    def fits(self, heading: Heading) -> bool:
        """Whether an issue is one of them."""
        if self.text is not None and self.text.casefold() not in f"{heading.title}\n{heading.summary}".casefold():
            return False
        return (
            self.status in {None, heading.status}
            and self.priority in {None, heading.priority}
            and self.assigned_to in {None, heading.assigned_to}
            and set(self.tags) <= set(heading.tags)
        )


ANY = Wanted()
