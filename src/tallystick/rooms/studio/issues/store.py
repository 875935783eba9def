"""The issues of a workspace: `.control-room/issues/issues.json`, and one file for the texts of each issue.

`issues.json` holds the headings, so that lists and searches over thousands read one small file; the texts of an issue
are in `pages/<issue id>.json`. A change writes the texts first and the heading after: a crash between the two leaves an
issue that was never opened, or a comment that is stored and not yet counted.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.rooms.studio.issues.model import (
    ANY,
    By,
    Change,
    Comment,
    CommentKind,
    Heading,
    Issue,
    IssueFilter,
    Link,
    NewComment,
    NewIssue,
)
from tallystick.rooms.studio.issues.rules import (
    DEFAULT_LIMITS,
    FROZEN,
    MAX_NAME,
    UNKNOWN,
    Limits,
    apply_change,
    comment_problem,
    tripped,
)
from tallystick.rooms.studio.issues.wire import (
    clean,
    given_of,
    heading_from,
    heading_wire,
    summary_of,
    texts_from,
    texts_wire,
)
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.journal.disk import make_folder
from tallystick.storage.json_file import JsonFile
from tallystick.storage.notifications import Notifications, place_of

CODE = "issues_damaged"
Stamp = tuple[int, int, int]


@record
class Headings:
    """All headings, the oldest first, with the form in which they are written."""

    by_id: dict[str, Heading]
    wires: Mapping[str, dict[str, Any]]

    @property
    def next_number(self) -> int:
        """The number of the next issue."""
        return 1 + max((heading.number for heading in self.by_id.values()), default=0)

    def having(self, heading: Heading) -> "Headings":
        """With one heading as it is now."""
        key = heading.issue_id
        return Headings(by_id={**self.by_id, key: heading}, wires={**self.wires, key: heading_wire(heading)})


class Index:
    """The file of headings."""

    def __init__(self, folder: Path) -> None:
        self.file = JsonFile(folder / "issues.json", code=CODE)
        self._seen: tuple[Stamp | None, Headings] = (None, Headings(by_id={}, wires={}))

    def load(self) -> Headings:
        """As it is on disk now.

        Raises:
            ConfigError: `issues_damaged`; the file stays as it is.
        """
        stamp = self._stamp()
        seen, headings = self._seen
        if stamp is None or stamp != seen:
            headings = self._read()
            self._seen = (stamp, headings)
        return headings

    def save(self, headings: Headings) -> None:
        """Put others in their place; only while the file is locked."""
        self.file.write({"issues": list(headings.wires.values())})
        self._seen = (self._stamp(), headings)

    def _read(self) -> Headings:
        found = self.file.read()
        listed = [] if found is None else found.get("issues")
        if not isinstance(listed, list):
            raise self.file.damaged("it holds 'version' and the list 'issues'")
        by_id: dict[str, Heading] = {}
        for place, value in enumerate(listed):
            heading = heading_from(value)
            if isinstance(heading, Problem):
                raise self.file.damaged(f"/issues/{place}{heading.pointer}: {heading.message}")
            by_id[heading.issue_id] = heading
        return Headings(by_id=by_id, wires=dict(zip(by_id, listed, strict=True)))

    def _stamp(self) -> Stamp | None:
        """A stamp that differs after every change: each change replaces the file."""
        try:
            found = self.file.path.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


PAGES = "pages"
ONLY_PERSON = Problem(code="person_required", message="Only a person unfreezes an issue.")


class Notify(Protocol):
    """Notifies that an issue was frozen."""

    def add(self, *, level: Any, source: str, text: str, link: str | None = None) -> Any:
        """Tell."""
        ...


class Issues:
    """The issues of one workspace. Several processes may change them at once."""

    def __init__(
        self,
        workspace: Path,
        *,
        now: Callable[[], str],
        new_id: Callable[[str], str],
        limits: Limits = DEFAULT_LIMITS,
        notify: Notify | None = None,
    ) -> None:
        """Open a workspace; its files need not exist.

        Args:
            workspace: The project's folder.
            now: Gives the time, RFC 3339.
            new_id: Gives an id of a kind.
            limits: Of the circuit breaker.
            notify: Is told when an issue is frozen; the workspace's notifications if not given.
        """
        self._folder = workspace / CONTROL_ROOM / "issues"
        self._index = Index(self._folder)
        self._now = now
        self._new_id = new_id
        self._limits = limits
        self._notify = notify or Notifications(workspace)

    # -- looking -------------------------------------------------------------------------------------------------------

    def get(self, name: str) -> Issue | None:
        """One issue, by its id or its number (`12`, `#12`).

        Raises:
            ConfigError: `issues_damaged`; the files stay as they are.
        """
        heading = self.heading(name)
        return None if heading is None else self._whole(heading)

    def heading(self, name: str) -> Heading | None:
        """The heading of an issue."""
        headings = self._index.load().by_id
        found = headings.get(name)
        digits = name.removeprefix("#")
        if found is None and digits.isascii() and digits.isdigit() and len(digits) < MAX_NAME:
            found = next((each for each in headings.values() if each.number == int(digits)), None)
        return found

    def list(self, wanted: IssueFilter = ANY, *, limit: int = 50, offset: int = 0) -> tuple[Heading, ...]:
        """Issues that fit, the newest first."""
        return self.matching(wanted)[offset : offset + limit]

    def count(self, wanted: IssueFilter = ANY) -> int:
        """How many fit."""
        return len(self.matching(wanted))

    def matching(self, wanted: IssueFilter = ANY) -> tuple[Heading, ...]:
        """All that fit, the newest first."""
        return tuple(each for each in reversed(self._index.load().by_id.values()) if wanted.fits(each))

    # -- changing ------------------------------------------------------------------------------------------------------

    def create(self, new: NewIssue) -> Issue | Problem:
        """Open an issue."""
        given = given_of(new)
        if isinstance(given, Problem):
            return given
        opened_by = clean(new.opened_by)[:MAX_NAME] or "unknown"
        links = tuple(Link(**link) for link in given["links"])
        with self._index.file.locked():
            headings = self._index.load()
            at = self._now()
            issue = Issue(
                issue_id=self._new_id("issue"),
                number=headings.next_number,
                title=given["title"],
                status=new.status,
                priority=given["priority"],
                tags=tuple(given["tags"]),
                assigned_to=given["assigned_to"],
                opened_by=opened_by,
                created_at=at,
                updated_at=at,
                frozen=False,
                summary=summary_of(given["body"]),
                comment_count=0,
                links=links,
                body=given["body"],
                comments=(),
            )
            return self._keep(headings, issue, texts=True)

    def comment(self, name: str, new: NewComment) -> Comment | Problem:
        """Say something about an issue; the circuit breaker may refuse it, and freeze the issue."""
        with self._index.file.locked():
            issue = self.get(name)
            problem = comment_problem(issue, new)
            if issue is None or problem is not None:
                return problem or UNKNOWN
            trip = tripped(issue.comments, new, self._limits)
            if trip is None:
                return self._said(issue, new).comments[-1]
            if trip.freezes:
                stop = NewComment(author="circuit-breaker", by="system", kind="frozen", body=trip.message)
                self._said(replace(issue, frozen=True), stop)
        if trip.freezes:
            text = f"Issue #{issue.number} is frozen: {trip.message}"
            self._notify.add(level="warn", source="issues", text=text, link=place_of("issue", issue.issue_id))
        return Problem(code=trip.code, message=trip.message, pointer="/body")

    def change(self, name: str, change: Change, *, by: By = "person") -> Issue | Problem:
        """Change the fields of an issue."""
        with self._index.file.locked():
            issue = self.get(name)
            if issue is None:
                return UNKNOWN
            if issue.frozen and by == "agent":
                return FROZEN
            after = apply_change(issue, change)
            if isinstance(after, Problem):
                return after
            texts = (after.body, after.links) != (issue.body, issue.links)
            return self._keep(self._index.load(), replace(after, updated_at=self._now()), texts=texts)

    def close(self, name: str, *, author: str, by: By = "person", reason: str = "") -> Issue | Problem:
        """Settle an issue."""
        return self._move(name, NewComment(author=author, by=by, kind="closed", body=reason), status="closed")

    def reopen(self, name: str, *, author: str, by: By = "person", reason: str = "") -> Issue | Problem:
        """Reopen an issue."""
        return self._move(name, NewComment(author=author, by=by, kind="reopened", body=reason), status="open")

    def freeze(self, name: str, *, author: str, by: By = "person", reason: str = "") -> Issue | Problem:
        """Freeze an issue: only people may comment."""
        return self._move(name, NewComment(author=author, by=by, kind="frozen", body=reason), frozen=True)

    def unfreeze(self, name: str, *, author: str, by: By = "person", reason: str = "") -> Issue | Problem:
        """Unfreeze an issue, on a person's request; the circuit breaker starts anew."""
        if by != "person":
            return ONLY_PERSON
        return self._move(name, NewComment(author=author, by=by, kind="unfrozen", body=reason), frozen=False)

    # -- the files -----------------------------------------------------------------------------------------------------

    def _move(self, name: str, said: NewComment, **to: Any) -> Issue | Problem:
        """Change the state of an issue, and record the author in its comments."""
        with self._index.file.locked():
            issue = self.get(name)
            if issue is None:
                return UNKNOWN
            if issue.frozen and said.by == "agent":
                return FROZEN
            moved = replace(issue, **to)
            if moved == issue:
                return Problem(code="issue_unmoved", message=f"The issue is {_KINDS[said.kind]} already.")
            return self._said(moved, said)

    def _said(self, issue: Issue, new: NewComment) -> Issue:
        comment = Comment(
            comment_id=self._new_id("cmt"),
            author=clean(new.author)[:MAX_NAME],
            by=new.by,
            at=self._now(),
            body=clean(new.body),
            kind=new.kind,
        )
        comments = (*issue.comments, comment)
        said = replace(issue, comments=comments, comment_count=len(comments), updated_at=comment.at)
        return self._keep(self._index.load(), said, texts=True)

    def _keep(self, headings: Headings, issue: Issue, *, texts: bool) -> Issue:
        if texts:
            make_folder(self._folder / PAGES)
            self._page(issue.issue_id).write(texts_wire(issue))
        self._index.save(headings.having(issue.heading))
        return issue

    def _whole(self, heading: Heading) -> Issue:
        page = self._page(heading.issue_id)
        found = page.read()
        texts = texts_from(found)
        if isinstance(texts, Problem):
            raise page.damaged(texts.message if found is not None else "it is not there")
        given = {name: getattr(heading, name) for name in asdict(heading)}
        return Issue(**{**given, **texts, "comment_count": len(texts["comments"])})

    def _page(self, issue_id: str) -> JsonFile:
        # An id from the index fits the pattern of ids, so it names a file and nothing else.
        return JsonFile(self._folder / PAGES / f"{issue_id}.json", code=CODE)


_KINDS: dict[CommentKind, str] = {"closed": "closed", "reopened": "open", "frozen": "frozen", "unfrozen": "not frozen"}
