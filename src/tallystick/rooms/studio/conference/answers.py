"""What comes of a conference as the doors tell it: a round with its words, or why there was none."""

from typing import Any

from tallystick.agents.answers import Unanswered
from tallystick.agents.problem import Problem
from tallystick.gate.codes import Category
from tallystick.records import record
from tallystick.rooms.studio.conference.nouns import Conference, Retrieved, Round, Spoken

_STATUS = {
    "conference_unknown": 404, "round_unknown": 404, "agent_unknown": 404, "attendee_unknown": 404,
    "chief_mandatory": 409, "chief_first": 409, "agent_disabled": 409, "attendee_exists": 409,
    "attendees_too_many": 409, "round_running": 409, "round_over": 409,
}  # fmt: skip


@record
class Held:
    """A round that has ended, with its words."""

    conference: Conference
    round: Round
    prompt: str
    retrieved: Retrieved
    spoken: tuple[Spoken, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The wire form: the record, and the words beside it."""
        wire: dict[str, Any] = {"conferenceId": self.conference.conference_id, **self.round.as_dict()}
        wire["replies"] = [each.as_dict() for each in self.spoken if each.status != "abstained"]
        wire["cards"] = self.conference.with_round(self.round).cards()
        wire["steps"] = [step.as_dict() for step in self.retrieved.steps]
        if self.retrieved.advice is not None:
            wire["advice"] = self.retrieved.advice
        if self.retrieved.approval_id is not None:
            wire["held"] = {"approval_id": self.retrieved.approval_id}
        return wire


def good(value: Conference | Problem) -> Conference | Unanswered:
    """A conference, or the problem as the doors tell it."""
    return refused(value) if isinstance(value, Problem) else value


def refused(problem: Problem) -> Unanswered:
    """A problem as the doors tell it."""
    status = _STATUS.get(problem.code, 400)
    category = Category.VALIDATION_ERROR if status == 400 else Category.DOWNSTREAM_ERROR  # noqa: PLR2004 - the status
    return Unanswered(code=problem.code, advice=problem.message, status=status, category=category)
