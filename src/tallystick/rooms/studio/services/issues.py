"""Issues of an open workspace: what chats become, who changed what, and what a model makes of what agents remember."""

import asyncio
from pathlib import Path
from typing import Any

from tallystick.agents.answers import Unanswered
from tallystick.agents.chat import Chat
from tallystick.agents.conversation import Conversation
from tallystick.agents.problem import Problem
from tallystick.agents.wire import OFFLINE
from tallystick.app.audit_notes import demand_ledger, note_change
from tallystick.app.gate import Gate
from tallystick.app.room_context import options_of
from tallystick.gate.session import Caller, valid_session_id
from tallystick.records import record
from tallystick.rooms.studio import MANIFEST
from tallystick.rooms.studio.issues.levels import BOUNDS, form_of
from tallystick.rooms.studio.issues.memory_file import HIGHEST
from tallystick.rooms.studio.issues.model import By, Change, Issue, Link, NewIssue, Priority
from tallystick.rooms.studio.issues.tracker import IssueTracker, open_tracker
from tallystick.settings import Settings
from tallystick.storage.agents import Registry
from tallystick.storage.issue_links import link_issue
from tallystick.storage.transcripts import Transcripts

SESSION = "issues"
"""The session of the audit records."""
CHAT_INTEREST = 4
"""How much an agent cares about an issue that was made of its own conversation."""
NO_CHAT = Problem(code="session_unknown", message="You have no such session. Give the sessionId of a chat.")
NOTHING_TO_WORD = Problem(
    code="words_invalid", message="The agent remembers the whole transcript of this issue; there is nothing to shorten."
)
NO_MODEL = Problem(
    code="model_missing",
    message="The agent has no model, so the rule-made text stays. `tally agents set-endpoint` gives it one.",
)
MOVES = ("close", "reopen", "freeze", "unfreeze")


@record
class FromChat:
    """Which conversation becomes an issue."""

    session_id: str
    title: str | None = None
    """None: the first thing that was asked."""
    tags: tuple[str, ...] = ()
    priority: Priority = "normal"
    assigned_to: str | None = None


@record
class Linked:
    """A session linked to an issue."""

    issue_id: str
    receipts: list[str]
    """Those the session has so far."""


class IssueService:
    """Issues joined with the ledger, the transcripts and the agents of a workspace."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.tracker = tracker_of(gate.workspace, gate.settings)
        self._transcripts = Transcripts(gate.workspace)

    def check_agent(self, agent_id: str) -> Problem | None:
        """Check that an id is an agent's of the workspace."""
        return Registry(self._gate.workspace).load().check_agent(agent_id)

    def from_chat(self, asked: FromChat, *, caller: Caller) -> Issue | Problem:
        """Create an issue from a conversation, and link its receipts.

        Args:
            asked: Which one.
            caller: Whose; nobody makes an issue of what another said.
        """
        found = self._transcripts.turns(asked.session_id) if valid_session_id(asked.session_id) else []
        turns = [turn for turn in found if turn.get("subject") == caller.subject]
        if not turns:
            return NO_CHAT
        demand_ledger(self._gate)
        receipts = dict.fromkeys(receipt for turn in turns for receipt in turn.get("receipts", ()))
        links = (Link(kind="session", id=asked.session_id), *(Link(kind="receipt", id=each) for each in receipts))
        issue = self.tracker.issues.create(
            NewIssue(
                title=asked.title or _title(turns),
                body=_transcript(turns),
                opened_by=caller.subject,
                tags=("chat", *asked.tags),
                priority=asked.priority,
                assigned_to=asked.assigned_to,
                links=links,
            )
        )
        if isinstance(issue, Issue):
            link_issue(self._gate.workspace, self._gate.ledger, asked.session_id, issue.issue_id)
            for agent_id in dict.fromkeys(str(turn.get("agent_id")) for turn in turns):
                self.tracker.memory.remember(agent_id, issue.issue_id, interest=CHAT_INTEREST)
        return issue

    def link(self, session_id: str, name: str, *, by: By) -> Linked | Problem:
        """Link a session into an issue: its receipts into the audit folder, itself among the issue's links.

        Args:
            session_id: Which session.
            name: The issue's id or number.
            by: Whether a person wants it; nobody else goes on with a frozen issue.
        """
        issue = self.tracker.issues.change(name, Change(links=(Link(kind="session", id=session_id),)), by=by)
        if isinstance(issue, Problem):
            return issue
        receipts = link_issue(self._gate.workspace, self._gate.ledger, session_id, issue.issue_id)
        return Linked(issue_id=issue.issue_id, receipts=receipts)

    def move(self, name: str, move: str, *, author: str, by: By, caller: Caller, reason: str = "") -> Issue | Problem:
        """Close, reopen, freeze or unfreeze an issue; the ledger says who did.

        Args:
            name: The issue's id or number.
            move: One of `MOVES`.
            author: Who wants it.
            by: Whether that is a person.
            caller: Who called.
            reason: Why.
        """
        demand_ledger(self._gate)
        moves = self.tracker.issues
        how = {"close": moves.close, "reopen": moves.reopen, "freeze": moves.freeze, "unfreeze": moves.unfreeze}[move]
        moved = how(name, author=author, by=by, reason=reason)
        if isinstance(moved, Issue):
            note_change(
                self._gate,
                caller,
                f"issue.{move}",
                f"issues/{moved.issue_id}",
                {"author": author, "by": by},
                session=SESSION,
            )
        return moved

    async def reword(
        self, conversation: Conversation, agent_id: str, name: str, *, caller: Caller
    ) -> dict[str, Any] | Problem | Unanswered:
        """Let an agent's model reword the agent's memory of an issue; on failure the rule-made text stays.

        Args:
            conversation: The agents.
            agent_id: Whose memory; the agent's own model is asked.
            name: The issue's id or number.
            caller: On whose behalf.
        """
        kept = self.tracker.memory.words(agent_id, name)
        if isinstance(kept, Problem):
            return kept
        issue = self.tracker.issues.get(name)
        if issue is None or kept["level"] >= HIGHEST:
            return NOTHING_TO_WORD
        to = await asyncio.to_thread(conversation.crew.recipient, agent_id)
        if isinstance(to, Unanswered):
            return to
        if to.endpoint.provider == OFFLINE:
            return NO_MODEL
        message = _wish(issue, kept["level"])
        said = await conversation.chat(Chat(message=message, caller=caller, agent_id=agent_id, skip_tools=True))
        if isinstance(said, Unanswered):
            return said
        return self.tracker.memory.keep_words(agent_id, name, said.result.reply or "")


def tracker_of(workspace: Path, settings: Settings) -> IssueTracker:
    """The issues of a workspace, whether or not its gate is open."""
    return open_tracker(workspace, options_of(MANIFEST, settings).issues)


def _title(turns: list[dict[str, Any]]) -> str:
    first = next((" ".join(str(turn["message"]).split()) for turn in turns if turn.get("message")), "A conversation")
    return first if len(first) <= 120 else first[:119].rstrip() + "…"  # noqa: PLR2004 - a line of a list


def _transcript(turns: list[dict[str, Any]]) -> str:
    parts: list[str] = []
    for turn in turns:
        agent = turn.get("agent_id")
        parts.append(f"## User, {turn.get('at')}\n\n{turn.get('message')}")
        reply = turn.get("reply")
        said = reply if reply is not None else f"(no reply: {turn.get('code') or 'none'})"
        parts.append(f"## {agent}\n\n{said}")
        if turn.get("receipts"):
            parts.append(f"Receipts: {', '.join(turn['receipts'])}")
    return "\n\n".join(parts)


def _wish(issue: Issue, level: int) -> str:
    shape = "one single line" if level == 1 else "plain sentences"
    return (
        f"Summarise the following record for your own memory in {shape}, at most {BOUNDS[level]} characters. "
        "Keep names, numbers, decisions and what is still open. Add nothing. Answer with the summary only.\n\n"
        f"{form_of(issue, HIGHEST)}"
    )
