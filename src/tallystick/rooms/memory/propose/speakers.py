"""Who makes a proposal, and what that speaker may claim of a source.

The speaker decides what an observation weighs and what it is independent of, so it is part of the observation's id.
Otherwise whoever records some words first would decide what they weigh when somebody else says them. The class of a
source is capped by who calls, and everything that one caller reports is one independent source.
"""

from collections.abc import Collection, Mapping
from typing import Any

from tallystick.gate.role_names import OWNER_ROLE, PERSON_ROLE
from tallystick.gate.session import Session
from tallystick.records import record
from tallystick.rooms.memory.ids import agent_group, caller_group
from tallystick.rooms.memory.model import CLASSES, Event, SourceClass
from tallystick.rooms.memory.policy import Policy

MODELS_DOORS = frozenset({"mcp"})
"""Channels on which a model calls even outside a turn."""
NAMELESS = "turn"
"""The agent of a turn that has no name."""
ANOTHER = "another"
"""The mark of a caller who is no agent, no known person and not the owner."""


@record
class Speaker:
    """Who makes a proposal."""

    agent: str | None = None
    subject: str | None = None
    """The authenticated caller; None: the owner."""
    is_person: bool = True
    """Whether it is the owner, or a caller whose token belongs to one human being."""

    @property
    def is_program(self) -> bool:
        """Whether its claims are capped: an agent, or a caller not known to be a person."""
        return self.agent is not None or not self.is_person

    @property
    def is_owner(self) -> bool:
        """Whether it is the owner, without an agent."""
        return self.subject is None and self.agent is None

    @property
    def group(self) -> str | None:
        """The independence group of everything it reports; None: the owner states the groups."""
        if self.subject is not None:
            return caller_group(self.subject)
        return None if self.agent is None else agent_group(self.agent)

    @property
    def mark(self) -> str:
        """The part of an observation's id that identifies the speaker; empty for the owner."""
        if self.agent is not None:
            return agent_group(self.agent)
        if self.subject is None:
            return ""
        return caller_group(self.subject) if self.is_person else ANOTHER


OWNER = Speaker()


def speaker_in(session: Session | None) -> Speaker:
    """Return who proposes a call; without a session, the owner."""
    if session is None:
        return OWNER
    caller = session.caller
    agent = agent_of(caller.channel, session.agent_id, in_turn=session.turn_id is not None)
    return speaker_of(agent, caller.subject, caller.roles)


def proposer_of(event: Event) -> Speaker:
    """Return the speaker who proposed a recorded event."""
    if event.by_owner:
        return Speaker(agent=event.agent)
    return Speaker(agent=event.agent, subject=event.subject, is_person=event.is_person)


def speaker_of(agent: str | None, subject: str, roles: Collection[str]) -> Speaker:
    """Return the speaker, by the named agent and the authenticated caller."""
    if OWNER_ROLE in roles:
        return Speaker(agent=agent)
    return Speaker(agent=agent, subject=subject, is_person=PERSON_ROLE in roles)


def agent_of(channel: str, named: str | None, *, in_turn: bool) -> str | None:
    """Return the agent that speaks; None: no model does."""
    if named is None and in_turn:
        # The same for every turn: another turn is not another agent.
        named = NAMELESS
    return named or (channel if channel in MODELS_DOORS else None)


CAPPED = "the caller may not claim this class of source"
GROUPED = "all that one caller reports is one independent source"
_RANK = {name: rank for rank, name in enumerate(CLASSES)}


@record
class BoundClaim:
    """The arguments of a proposal with what the caller may claim, and why they differ from what was claimed."""

    args: Mapping[str, Any]
    reason: str = ""
    pointer: str | None = None


def lowest_class(*classes: SourceClass) -> SourceClass:
    """Return the least reliable class."""
    return max(classes, key=_RANK.__getitem__)


def highest_claim(claimed: SourceClass, by: Speaker, policy: Policy) -> SourceClass:
    """Return the claimed class, capped at the best that this speaker may claim."""
    if not by.is_program or "agent_ceiling" in policy.off:
        return claimed
    return lowest_class(claimed, policy.agent_ceiling)


def bind_source(args: Mapping[str, Any], by: Speaker, policy: Policy) -> BoundClaim:
    """Return the arguments with the source that the speaker may claim."""
    source: Mapping[str, str] | None = args.get("source")
    # A claimed test result is refused, not capped: it comes through a tool of its own.
    if source is None or by.is_owner or source["class"] == "test_result":
        return BoundClaim(args=args)
    claimed: SourceClass = source["class"]  # type: ignore[assignment]
    bound = {**source, "class": highest_claim(claimed, by, policy)}
    if by.subject is not None and by.group is not None:
        bound["group"] = by.group
    if bound == source:
        return BoundClaim(args=args)
    capped = bound["class"] != claimed
    return BoundClaim(
        args={**args, "source": bound},
        reason=CAPPED if capped else GROUPED,
        pointer="/source/class" if capped else "/source/group",
    )
