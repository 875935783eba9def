"""The attendees of a conference: add, remove, mute, and the order of speaking. Pure; a refusal is a value.

The Chief of Staff always attends, first and never muted: without the tool phase there is no round.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster
from tallystick.rooms.studio.conference.model import Attendee
from tallystick.turns.agent import CHIEF

Action = Literal["add", "remove", "mute", "unmute", "order"]
ACTIONS: tuple[Action, ...] = ("add", "remove", "mute", "unmute", "order")
MOST = 24
"""Attendees: each costs one model call a round."""
Attendees = tuple[Attendee, ...]

CHIEF_MANDATORY = Problem(
    code="chief_mandatory",
    message=f"The Chief of Staff ('{CHIEF}') is at every conference: invite it; it cannot be removed or muted.",
)


def invite(agents: Sequence[str] | None, roster: Roster) -> Attendees | Problem:
    """The attendees of a new conference.

    Args:
        agents: Who is invited, in the order of speaking; None: every agent that is switched on.
        roster: The agents there are.
    """
    if agents is None:
        return tuple(Attendee(agent_id=each.agent_id) for each in roster.list(enabled_only=True)[:MOST])
    if CHIEF not in agents:
        return CHIEF_MANDATORY
    seats: Attendees = (Attendee(agent_id=CHIEF),)
    for agent_id in agents:
        if agent_id == CHIEF:
            continue
        more = _added(seats, agent_id, roster)
        if isinstance(more, Problem):
            return more
        seats = more
    return seats


def change_attendees(seats: Attendees, action: Action, agents: Sequence[str], roster: Roster) -> Attendees | Problem:
    """The attendees after a change.

    Args:
        seats: As they are.
        action: What is to be done.
        agents: With whom; for `order` everyone, in the order wanted.
        roster: The agents there are.
    """
    if action == "order":
        return _ordered(seats, agents)
    for agent_id in agents:
        after = _added(seats, agent_id, roster) if action == "add" else _moved(seats, action, agent_id)
        if isinstance(after, Problem):
            return after
        seats = after
    return seats


def attendees_problem(seats: Attendees) -> Problem | None:
    """The problem with a stored list of attendees, if any."""
    if not seats or seats[0] != Attendee(agent_id=CHIEF):
        return CHIEF_MANDATORY
    if len({each.agent_id for each in seats}) != len(seats):
        return Problem(code="attendee_exists", message="An agent is listed twice.")
    return None


def _added(seats: Attendees, agent_id: str, roster: Roster) -> Attendees | Problem:
    agent = roster.get(agent_id)
    if agent is None:
        known = ", ".join(each.agent_id for each in roster.list(enabled_only=True))
        return Problem(code="agent_unknown", message=f"There is no agent '{agent_id:.60}'. There are: {known}.")
    if not agent.enabled:
        return Problem(code="agent_disabled", message=f"'{agent_id}' is switched off. Switch it on, or leave it out.")
    if any(each.agent_id == agent_id for each in seats):
        return Problem(code="attendee_exists", message=f"'{agent_id}' attends already.")
    if len(seats) >= MOST:
        return Problem(
            code="attendees_too_many", message=f"A conference has {MOST} attendees at most. Remove one first."
        )
    return (*seats, Attendee(agent_id=agent_id))


def _moved(seats: Attendees, action: Action, agent_id: str) -> Attendees | Problem:
    if agent_id == CHIEF and action in {"remove", "mute"}:
        return CHIEF_MANDATORY
    if all(each.agent_id != agent_id for each in seats):
        there = ", ".join(each.agent_id for each in seats)
        return Problem(code="attendee_unknown", message=f"'{agent_id:.60}' does not attend. Attendees: {there}.")
    if action == "remove":
        return tuple(each for each in seats if each.agent_id != agent_id)
    return tuple(replace(each, muted=action == "mute") if each.agent_id == agent_id else each for each in seats)


def _ordered(seats: Attendees, agents: Sequence[str]) -> Attendees | Problem:
    by_id = {each.agent_id: each for each in seats}
    if sorted(agents) != sorted(by_id):
        names = ", ".join(by_id)
        return Problem(code="order_incomplete", message=f"Name every attendee once: {names}.")
    if agents[0] != CHIEF:
        return Problem(code="chief_first", message=f"The Chief of Staff ('{CHIEF}') speaks first: name it first.")
    return tuple(by_id[agent_id] for agent_id in agents)
