"""The result of a round: as HTTP and command line return it, and as the issue that documents it.

In the issue the question comes first, quoted, then the facts, then the replies, each in a fence that its content cannot
close. Lists and searches show the beginning of an issue: the question, and no agent's reply.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tallystick.agents.answers import Unanswered
from tallystick.agents.problem import Problem
from tallystick.gate.codes import Category
from tallystick.records import record
from tallystick.rooms.studio.conference.model import AgentReply, Conference, Retrieved, Round
from tallystick.turns.result import Step
from tallystick.turns.transcript import fenced

_STATUS = {
    "conference_unknown": 404,
    "round_unknown": 404,
    "agent_unknown": 404,
    "attendee_unknown": 404,
    "chief_mandatory": 409,
    "chief_first": 409,
    "agent_disabled": 409,
    "attendee_exists": 409,
    "attendees_too_many": 409,
    "round_running": 409,
    "round_over": 409,
}
TAG = "conference"


@record
class RoundResult:
    """A round that has ended, with its texts."""

    conference: Conference
    round: Round
    prompt: str
    retrieved: Retrieved
    spoken: tuple[AgentReply, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The JSON form: the stored record, and the texts beside it."""
        wire: dict[str, Any] = {"conferenceId": self.conference.conference_id, **self.round.as_dict()}
        wire["replies"] = [each.as_dict() for each in self.spoken if each.status != "abstained"]
        wire["cards"] = self.conference.with_round(self.round).cards()
        wire["steps"] = [step.as_dict() for step in self.retrieved.steps]
        if self.retrieved.advice is not None:
            wire["advice"] = self.retrieved.advice
        if self.retrieved.approval_id is not None:
            wire["held"] = {"approval_id": self.retrieved.approval_id}
        return wire

    @property
    def title(self) -> str:
        """The title of the round's issue."""
        return f"Conference {self.conference.conference_id} — Turn {self.round.number}"

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the round's issue."""
        return (TAG,) if self.round.state == "closed" else (TAG, self.round.state.replace("_", "-"))

    def as_markdown(self) -> str:
        """The body of the issue."""
        parts = [
            "\n".join(f"> {line}".rstrip() for line in self.prompt.splitlines()),
            "## Round\n\n" + "\n".join(f"- {label}: {value}" for label, value in self._facts() if value),
            *_tools(self.retrieved.steps),
            *(_words(each) for each in self.spoken if each.status != "abstained"),
        ]
        return "\n\n".join(parts) + "\n"

    def _facts(self) -> Iterator[tuple[str, str]]:
        held, conference = self.round, self.conference
        yield "conference", f"{conference.conference_id} {conference.name}".strip()
        yield "round", f"{held.number} ({held.round_id}), {held.state.replace('_', ' ')}"
        yield "begun", held.begun_at
        yield "ended", held.ended_at or ""
        yield "attendees", ", ".join(each.agent_id for each in conference.attendees)
        yield "muted", ", ".join(held.muted)
        yield "abstained", ", ".join(each.agent_id for each in self.spoken if each.status == "abstained")
        yield "rejected", ", ".join(f"{each.agent_id} ({each.code})" for each in self.spoken if _is_rejected(each))
        yield "receipts", ", ".join(held.receipts) or "none"
        yield "stop hook", held.stop_hook or ""
        yield "prompt sha256", held.prompt_sha256


def or_refusal(value: Conference | Problem) -> Conference | Unanswered:
    """A conference, or the problem as HTTP and the command line return it."""
    return refusal_of(value) if isinstance(value, Problem) else value


def refusal_of(problem: Problem) -> Unanswered:
    """A problem as HTTP and the command line return it."""
    status = _STATUS.get(problem.code, 400)
    category = Category.VALIDATION_ERROR if status == 400 else Category.DOWNSTREAM_ERROR  # noqa: PLR2004 - the status
    return Unanswered(code=problem.code, advice=problem.message, status=status, category=category)


def _tools(steps: Sequence[Step]) -> Iterator[str]:
    calls = [step for step in steps if step.kind == "call"]
    if calls:
        yield "## Tools\n\n" + "\n".join(map(_call, calls))


def _call(step: Step) -> str:
    tool = (None if step.outcome is None else step.outcome.tool) or "no call"
    came = step.code or "ok"
    return f"- `{tool}`: {came}, receipt {step.receipt_id or 'none'}"


def _words(spoken: AgentReply) -> str:
    who = f"## {spoken.name} ({spoken.agent_id})"
    if spoken.status == "accepted":
        unsure = "".join(f"- unsure: {sentence}\n" for sentence in spoken.unsure)
        return f"{who}\n\n{fenced(spoken.text or '')}\n\n{unsure}- check: receipt {spoken.check_receipt}"
    if spoken.status == "unheard":
        return f"{who}: not heard\n\n- {spoken.code}: {spoken.reason}"
    lines = [f"- {spoken.code}: {spoken.reason}", f"- check: receipt {spoken.check_receipt}"]
    if spoken.nearest is not None:
        lines.insert(1, f"- nearest real line: {spoken.nearest.source} L{spoken.nearest.line}: {spoken.nearest.text}")
    return f"{who}: REJECTED, not an answer\n\n{fenced(spoken.refused_text or '')}\n\n" + "\n".join(lines)


def _is_rejected(spoken: AgentReply) -> bool:
    return spoken.status == "rejected"
