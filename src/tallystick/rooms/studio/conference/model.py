"""The records of a conference.

Two kinds, kept apart on purpose: `AgentReply` and `Retrieved` hold texts and exist in memory for one round; `Round` and
`ReplyRecord` hold ids and digests and are stored.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any, Literal

from tallystick.records import record
from tallystick.rooms.studio.conference.states import LOOKS, Card, RoundState, is_over
from tallystick.turns.agent import CHIEF
from tallystick.turns.result import Injected, Step

Status = Literal["accepted", "rejected", "abstained", "unheard"]
"""The outcome of an agent's turn; `unheard`: the model could not be asked, or the agent is gone."""


@record
class Attendee:
    """An agent in a conference."""

    agent_id: str
    muted: bool = False

    @property
    def is_chief(self) -> bool:
        """Whether this is the Chief of Staff."""
        return self.agent_id == CHIEF


@record
class NearestLine:
    """The line most similar to a refused quote."""

    source: str
    line: int
    text: str


@record
class AgentReply:
    """An agent's reply in the second phase, with its text."""

    agent_id: str
    name: str
    role: str
    status: Status
    turn_id: str = ""
    text: str | None = None
    """The accepted text; a refused text is in `refused_text`, so that it is not shown by mistake."""
    refused_text: str | None = None
    evidence: str | None = None
    code: str | None = None
    """Why there is no accepted text: the code of the check, or of the model error."""
    reason: str | None = None
    nearest: NearestLine | None = None
    receipts: tuple[str, ...] = ()
    """Receipts of the tool phase that the answer cites."""
    check_receipt: str | None = None
    """The receipt of its check; None if nothing was checked."""
    unsure: tuple[str, ...] = ()
    """Sentences of an accepted text whose support the check could not decide."""
    prompt_sha256: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The JSON form; `rejected` only for refused replies."""
        wire: dict[str, Any] = {
            "agent_id": self.agent_id,
            "name": self.name,
            "role": self.role,
            "status": self.status,
            "text": self.text,
            "evidence": self.evidence,
            "receipts": list(self.receipts),
            "check_receipt": self.check_receipt,
            "turn_id": self.turn_id,
            "prompt_sha256": self.prompt_sha256,
        }
        if self.unsure:
            wire["unsure"] = list(self.unsure)
        if self.code is not None:
            wire |= {"code": self.code, "reason": self.reason}
        if self.refused_text is not None:
            nearest = None if self.nearest is None else asdict(self.nearest)
            wire["rejected"] = {"text": self.refused_text, "code": self.code, "reason": self.reason, "nearest": nearest}
        return wire


@record
class ReplyRecord:
    """The stored record of a reply: ids and digests."""

    agent_id: str
    status: Status
    turn_id: str
    prompt_sha256: str
    """Digest of the messages sent to the model, to prove later what they were."""
    reply_sha256: str | None = None
    code: str | None = None
    check_receipt: str | None = None

    @classmethod
    def of(cls, spoken: AgentReply) -> "ReplyRecord":
        """Make the record of a reply, without its text."""
        said = spoken.text or spoken.refused_text
        return cls(
            agent_id=spoken.agent_id,
            status=spoken.status,
            turn_id=spoken.turn_id,
            code=spoken.code,
            prompt_sha256=spoken.prompt_sha256,
            check_receipt=spoken.check_receipt,
            reply_sha256=None if said is None else digest(said),
        )


@record
class Retrieved:
    """The results of the tool phase; never stored."""

    turn_id: str = ""
    results: tuple[Injected, ...] = ()
    steps: tuple[Step, ...] = ()
    receipts: tuple[str, ...] = ()
    stop_hook: str | None = None
    """Why the round ends after the tool phase; None if it continues."""
    advice: str | None = None
    """What to do about it."""
    approval_id: str | None = None
    """The call that waits for a person, if that is why."""
    prompt_sha256: str = ""


@record
class Round:
    """The stored record of a round: ids and digests, no texts."""

    number: int
    round_id: str
    state: RoundState
    begun_at: str
    prompt_sha256: str
    """Digest of the user's prompt."""
    ended_at: str | None = None
    tool_turn_id: str | None = None
    tool_prompt_sha256: str | None = None
    receipts: tuple[str, ...] = ()
    """Of the tool phase, in order."""
    stop_hook: str | None = None
    replies: tuple[ReplyRecord, ...] = ()
    muted: tuple[str, ...] = ()
    """The muted agents, who were skipped."""
    issue_id: str | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return is_over(self.state)

    def as_dict(self) -> dict[str, Any]:
        """The wire form, and the form on disk."""
        wire = asdict(self)
        wire["receipts"], wire["muted"] = list(self.receipts), list(self.muted)
        wire["replies"] = [asdict(given) for given in self.replies]
        return wire


@record
class Conference:
    """The attendees in order, and the rounds."""

    conference_id: str
    name: str
    created_at: str
    created_by: str
    """The subject of its owner."""
    attendees: tuple[Attendee, ...]
    """The Chief of Staff first."""
    rounds: tuple[Round, ...] = ()

    def seat(self, agent_id: str) -> Attendee | None:
        """An agent's seat."""
        return next((each for each in self.attendees if each.agent_id == agent_id), None)

    def round(self, number: int) -> Round | None:
        """A round by its number, from 1."""
        return self.rounds[number - 1] if 1 <= number <= len(self.rounds) else None

    def with_round(self, changed: Round) -> "Conference":
        """The conference with a changed or new round."""
        kept = [changed if each.number == changed.number else each for each in self.rounds]
        rounds = kept if changed.number <= len(kept) else [*kept, changed]
        return replace(self, rounds=tuple(rounds))

    def cards(self) -> list[dict[str, Any]]:
        """Every attendee's card, as the last round left it."""
        last = self.rounds[-1].replies if self.rounds else ()
        came = {given.agent_id: given.status for given in last}
        return [card_wire(each.agent_id, card_of(each, came.get(each.agent_id))) for each in self.attendees]

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "conferenceId": self.conference_id,
            "name": self.name,
            "created_at": self.created_at,
            "created_by": self.created_by,
            "attendees": self.cards(),
            "rounds": [each.as_dict() for each in self.rounds],
        }


def card_of(attendee: Attendee, status: Status | None = None) -> Card:
    """The card state of an attendee after its turn."""
    if attendee.muted:
        return "muted"
    if status == "abstained":
        return "abstained"
    return "moderator" if attendee.is_chief else "participant"


def card_wire(agent_id: str, card: Card, **more: Any) -> dict[str, Any]:
    """A card as pages and terminals show it."""
    look = LOOKS[card]
    shown: Mapping[str, Any] = {"subtitle": look.subtitle, "colour": look.colour, "tooltip": look.tooltip}
    return {"agent_id": agent_id, "state": card, **shown, **more}


def digest(text: str) -> str:
    """The digest of a text, half characters and all."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
