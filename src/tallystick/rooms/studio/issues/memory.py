"""What agents remember of issues: `.control-room/memory/<agent>/`.

`interests.json` counts the agent's activations and says of each issue how much the agent cares; `<issue id>.json`
holds the form that is kept of it. When interest wanes the form is made shorter, and when the agent comes back to the
issue it is made anew from the issue itself: nothing is ever lost, it is only out of mind.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.session import valid_session_id
from tallystick.rooms.studio.issues.levels import bounded, form_of, without_thinking
from tallystick.rooms.studio.issues.memory_file import (
    DEFAULT_FLOORS,
    HIGHEST,
    LOWEST,
    AgentMemory,
    AgentMemoryFile,
    Recollection,
    View,
)
from tallystick.rooms.studio.issues.model import Issue
from tallystick.rooms.studio.issues.rules import UNKNOWN
from tallystick.rooms.studio.issues.store import Issues, Notify
from tallystick.rooms.studio.issues.wire import clean, problem_of, tags_of
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.notifications import Notifications, place_of

FOLDER = "memory"
DEFERRED = 3
"""Interest in an issue that was put off before the agent had any: it wakes with the gist at hand."""
MAX_WAKE = 10_000
MAX_REASON = 500
FORGOTTEN = Problem(code="memory_unknown", message="The agent remembers no such issue. Let it remember it first.")
BAD_AGENT = Problem(code="agent_invalid", message="This cannot be the id of an agent.", pointer="/agent")
BAD_INTEREST = Problem(code="interest_invalid", message=f"Interest is {LOWEST} to {HIGHEST}.", pointer="/interest")
BAD_WAKE = Problem(
    code="wake_invalid",
    message=f"Say after how many activations (1 to {MAX_WAKE:,}), or at which time to come: 2030-01-31T12:00:00Z.",
    pointer="/after",
)
NO_WORDS = Problem(code="words_invalid", message="The text is empty.", pointer="/text")


class IssueMemory:
    """The agents' memory of issues; safe for concurrent processes."""

    def __init__(
        self,
        workspace: Path,
        issues: Issues,
        *,
        now: Callable[[], str],
        floors: Mapping[str, int] = DEFAULT_FLOORS,
        notify: Notify | None = None,
    ) -> None:
        """Open a workspace; its files need not exist.

        Args:
            workspace: The project's folder.
            issues: What is remembered.
            now: Gives the time, RFC 3339.
            floors: Tag → minimum interest.
            notify: Is told what is deferred and what wakes; the workspace's notifications if not given.
        """
        self._folder = workspace / CONTROL_ROOM / FOLDER
        self._issues = issues
        self._now = now
        self._floors = floors
        self._notify = notify or Notifications(workspace)

    # -- looking -------------------------------------------------------------------------------------------------------

    def views(self, agent_id: str) -> dict[str, View]:
        """What an agent remembers, by issue."""
        if not valid_session_id(agent_id):
            return {}
        mind = self._file(agent_id).load()
        return {each.issue_id: self._view(agent_id, mind, each) for each in mind.issues.values()}

    def activations(self, agent_id: str) -> int:
        """How often an agent was at work."""
        return self._file(agent_id).load().activations if valid_session_id(agent_id) else 0

    def words(self, agent_id: str, name: str) -> dict[str, Any] | Problem:
        """The form an agent has of an issue: level, text, receipts, author of the wording."""
        heading = self._issues.heading(name)
        if heading is None:
            return UNKNOWN
        found = self._file(agent_id).words(heading.issue_id) if valid_session_id(agent_id) else None
        return FORGOTTEN if found is None else {name: value for name, value in found.items() if name != "version"}

    # -- changing ------------------------------------------------------------------------------------------------------

    def activated(self, agent_id: str, times: int = 1) -> tuple[View, ...]:
        """Count activations of an agent, shorten what it has lost interest in, and return woken issues.

        Args:
            agent_id: Who.
            times: How often.
        """
        if not valid_session_id(agent_id) or times < 1:
            return ()
        file = self._file(agent_id)
        with file.locked():
            before = file.load()
            mind = AgentMemory(activations=before.activations + times, issues=before.issues)
            changed = [self._moved_on(file, mind, each) for each in mind.issues.values()]
            mind = mind.having(*changed)
            file.save(mind)
        woken = [each for each in changed if before.issues[each.issue_id].deferred and not each.deferred]
        for each in woken:
            self._tell(agent_id, each.issue_id, "is due again")
        return tuple(self._view(agent_id, mind, each) for each in woken)

    def remember(
        self, agent_id: str, name: str, *, interest: int, personal_tags: Iterable[str] | None = None
    ) -> View | Problem:
        """Set an agent's interest in an issue, and rebuild its form.

        Args:
            agent_id: Who.
            name: The issue's id or number.
            interest: 1 to 5.
            personal_tags: The agent's own, in the place of those it had; None: as they were.
        """
        tags = None if personal_tags is None else tags_of(personal_tags)
        if type(interest) is not int or not LOWEST <= interest <= HIGHEST:
            return BAD_INTEREST
        problem = None if tags is None else problem_of({"tags": tags})
        if problem is not None:
            return replace(problem, pointer=problem.pointer.replace("/tags", "/personal_tags"))

        def keep(file: AgentMemoryFile, mind: AgentMemory, issue: Issue) -> Recollection:
            had = mind.issues.get(issue.issue_id)
            kept = () if had is None else had.personal_tags
            self._write(file, issue, interest)
            return Recollection(
                issue_id=issue.issue_id,
                interest=interest,
                touched=mind.activations,
                level=interest,
                personal_tags=kept if tags is None else tuple(tags),
            )

        return self._change(agent_id, name, keep)

    def touch(self, agent_id: str, name: str) -> View | Problem:
        """An agent had to do with an issue again: its interest stays as it is now, and wanes from here."""

        def keep(file: AgentMemoryFile, mind: AgentMemory, issue: Issue) -> Recollection | Problem:
            had = mind.issues.get(issue.issue_id)
            if had is None:
                return FORGOTTEN
            interest = had.now(mind.activations, tags=issue.tags, floors=self._floors)
            self._write(file, issue, interest)
            return replace(had, interest=interest, level=interest, touched=mind.activations)

        return self._change(agent_id, name, keep)

    def defer(
        self, agent_id: str, name: str, *, after: int | None = None, until: str | None = None, reason: str = ""
    ) -> View | Problem:
        """Defer an issue; it wakes by itself with its former interest.

        Args:
            agent_id: Who puts it off.
            name: The issue's id or number.
            after: How many activations of the agent later it wakes.
            until: Or when, RFC 3339.
            reason: Why.
        """
        time = _utc(until)
        if (after is None) == (until is None) or (after is not None and not 1 <= after <= MAX_WAKE):
            return BAD_WAKE
        if until is not None and (time is None or time <= self._now()):
            return replace(BAD_WAKE, pointer="/until")

        def keep(file: AgentMemoryFile, mind: AgentMemory, issue: Issue) -> Recollection:
            had = mind.issues.get(issue.issue_id)
            if had is None:
                self._write(file, issue, LOWEST)
                had = Recollection(issue_id=issue.issue_id, interest=LOWEST + 2, touched=mind.activations, level=LOWEST)
            wake_at = None if after is None else mind.activations + after
            return replace(had, wake_at=wake_at, wake_time=time, reason=clean(reason)[:MAX_REASON])

        view = self._change(agent_id, name, keep)
        if isinstance(view, View):
            self._tell(
                agent_id, view.issue_id, f"is deferred {f'for {after} activations' if after else f'until {time}'}"
            )
        return view

    def keep_words(self, agent_id: str, name: str, text: str) -> dict[str, Any] | Problem:
        """Keep a model's wording of an issue in the place of the rules'; its level and its bound stay the same."""
        level = 0

        def keep(file: AgentMemoryFile, mind: AgentMemory, issue: Issue) -> Recollection | Problem:
            nonlocal level
            had = mind.issues.get(issue.issue_id)
            if had is None:
                return FORGOTTEN
            level = had.level
            words = bounded(clean(without_thinking(text)), level)
            if not words:
                return NO_WORDS
            if level < HIGHEST:
                # The whole transcript is never reworded.
                file.keep_words(issue.issue_id, _words(issue, level, words, "model"))
            return had

        view = self._change(agent_id, name, keep)
        return view if isinstance(view, Problem) else self.words(agent_id, name)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _change(
        self, agent_id: str, name: str, how: Callable[[AgentMemoryFile, AgentMemory, Issue], Recollection | Problem]
    ) -> View | Problem:
        if not valid_session_id(agent_id):
            return BAD_AGENT
        issue = self._issues.get(name)
        if issue is None:
            return UNKNOWN
        file = self._file(agent_id)
        with file.locked():
            mind = file.load()
            kept = how(file, mind, issue)
            if isinstance(kept, Problem):
                return kept
            mind = mind.having(kept)
            file.save(mind)
        return self._view(agent_id, mind, kept)

    def _moved_on(self, file: AgentMemoryFile, mind: AgentMemory, had: Recollection) -> Recollection:
        """A recollection one activation later."""
        if had.deferred:
            if not had.due(mind.activations, self._now()):
                return had
            had = replace(had, touched=mind.activations, wake_at=None, wake_time=None, reason="")
        interest = self._interest(mind, had)
        issue = self._issues.get(had.issue_id) if interest != had.level else None
        if issue is None:
            return had
        self._write(file, issue, interest)
        return replace(had, level=interest)

    def _interest(self, mind: AgentMemory, had: Recollection) -> int:
        heading = self._issues.heading(had.issue_id)
        return had.now(mind.activations, tags=() if heading is None else heading.tags, floors=self._floors)

    def _view(self, agent_id: str, mind: AgentMemory, had: Recollection) -> View:
        return View(
            agent_id=agent_id,
            issue_id=had.issue_id,
            interest=self._interest(mind, had),
            level=had.level,
            personal_tags=had.personal_tags,
            deferred=had.deferred,
            wake_in=None if had.wake_at is None else max(0, had.wake_at - mind.activations),
            wake_time=had.wake_time,
            reason=had.reason,
        )

    def _write(self, file: AgentMemoryFile, issue: Issue, level: int) -> None:
        file.keep_words(issue.issue_id, _words(issue, level, form_of(issue, level), "rules"))

    def _tell(self, agent_id: str, issue_id: str, what: str) -> None:
        heading = self._issues.heading(issue_id)
        if heading is not None:
            text = f"Issue #{heading.number} ({heading.title}) {what} for {agent_id}."
            self._notify.add(level="info", source="issues", text=text, link=place_of("issue", issue_id))

    def _file(self, agent_id: str) -> AgentMemoryFile:
        return AgentMemoryFile(self._folder / agent_id)


def _words(issue: Issue, level: int, text: str, made_by: str) -> dict[str, Any]:
    return {"level": level, "made_by": made_by, "text": text, "receipts": list(issue.receipts)}


def _utc(time: str | None) -> str | None:
    """A time in UTC, as times are compared; None if it is not a time with a zone."""
    try:
        moment = None if time is None else datetime.fromisoformat(time)
        if moment is None or moment.tzinfo is None:
            return None
        # The first and the last day of the calendar have no other zone.
        return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None
