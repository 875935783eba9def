"""The minutes of a round: what its issue says.

The facts come first and the words after them, each text in a fence that nothing in it can close. Lists and searches
show the beginning of an issue, so they show facts, and no agent meets another's reply through them.
"""

from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.conference.nouns import Conference, Retrieved, Round, Spoken
from tallystick.turns.result import Step
from tallystick.turns.transcript import fenced

TAG = "conference"


@record
class Minutes:
    """A round that has ended, with its words."""

    conference: Conference
    round: Round
    prompt: str
    retrieved: Retrieved
    spoken: tuple[Spoken, ...]

    @property
    def title(self) -> str:
        """As every round's issue is called."""
        return f"Conference {self.conference.conference_id} — Turn {self.round.number}"

    @property
    def tags(self) -> tuple[str, ...]:
        """What it is found by."""
        return (TAG,) if self.round.state == "closed" else (TAG, self.round.state.replace("_", "-"))

    def as_markdown(self) -> str:
        """The body of the issue."""
        parts = [
            "\n".join(f"- {label}: {value}" for label, value in self._facts() if value),
            f"## Prompt\n\n{fenced(self.prompt)}",
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


def _tools(steps: Sequence[Step]) -> Iterator[str]:
    calls = [step for step in steps if step.kind == "call"]
    if calls:
        yield "## Tools\n\n" + "\n".join(map(_call, calls))


def _call(step: Step) -> str:
    tool = (None if step.outcome is None else step.outcome.tool) or "no call"
    came = step.code or "ok"
    return f"- `{tool}`: {came}, receipt {step.receipt_id or 'none'}"


def _words(spoken: Spoken) -> str:
    who = f"## {spoken.name} ({spoken.agent_id})"
    if spoken.status == "accepted":
        return f"{who}\n\n{fenced(spoken.text or '')}\n\n- check: receipt {spoken.check_receipt}"
    if spoken.status == "unheard":
        return f"{who}: not heard\n\n- {spoken.code}: {spoken.reason}"
    lines = [f"- {spoken.code}: {spoken.reason}", f"- check: receipt {spoken.check_receipt}"]
    if spoken.nearest is not None:
        lines.insert(1, f"- nearest real line: {spoken.nearest.source} L{spoken.nearest.line}: {spoken.nearest.text}")
    return f"{who}: REJECTED, not an answer\n\n{fenced(spoken.refused_text or '')}\n\n" + "\n".join(lines)


def _is_rejected(spoken: Spoken) -> bool:
    return spoken.status == "rejected"
