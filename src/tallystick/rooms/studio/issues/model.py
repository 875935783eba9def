"""The records of an issue.

An issue has a title, a body and comments, and is open or closed. Its links name its sources: receipts, sessions,
conferences, runs.
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
    """A source of an issue."""

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
    """A comment on an issue, or an event of it."""

    comment_id: str
    author: str
    by: By
    """Whether an agent, a person or the system itself: persons are not limited."""
    at: str
    body: str
    kind: CommentKind = "comment"


@record
class Heading:
    """An issue without texts and links, for lists and searches."""

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
    """Only a person may comment."""
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
    """The fields of a new issue."""

    title: str
    body: str
    opened_by: str
    status: Status = "open"
    """A record with nothing to settle, such as a conference round, is filed as closed."""
    tags: tuple[str, ...] = ()
    priority: Priority = "normal"
    assigned_to: str | None = None
    links: tuple[Link | str, ...] = ()


@record
class NewComment:
    """The fields of a new comment."""

    author: str
    body: str
    by: By = "agent"
    kind: CommentKind = "comment"


@record
class Change:
    """The fields to change; None leaves a field unchanged, the empty value clears it."""

    title: str | None = None
    body: str | None = None
    tags: tuple[str, ...] | None = None
    priority: Priority | None = None
    assigned_to: str | None = None
    """Empty: nobody."""
    links: tuple[Link | str, ...] | None = None
    """Added to those that are there."""

    def given(self) -> dict[str, Any]:
        """The fields that are set."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


@record
class IssueFilter:
    """A filter for issues; None and empty match all."""

    status: Status | None = None
    tags: tuple[str, ...] = ()
    """All of them must be there."""
    priority: Priority | None = None
    assigned_to: str | None = None
    text: str | None = None
    """Text in title or summary, case-insensitive."""

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


ANY = IssueFilter()
