"""Who sits at a table, what a card shows, and how a round may go on."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.problem import Problem
from tallystick.agents.roster import DEFAULT_AGENTS, Roster
from tallystick.rooms.studio.conference.attendees import ACTIONS, MOST, Attendees, change_attendees, invite
from tallystick.rooms.studio.conference.model import Attendee, card_of, card_wire
from tallystick.rooms.studio.conference.states import LOOKS, NEXT, Card, RoundState, is_over, may_become
from tallystick.turns.agent import CHIEF, Agent

ROSTER = Roster()
IDS = [agent.agent_id for agent in DEFAULT_AGENTS]


def seats(*agents: str) -> Attendees:
    made = invite([CHIEF, *agents], ROSTER)
    assert isinstance(made, tuple)
    return made


def code(value: Attendees | Problem) -> str:
    assert isinstance(value, Problem)
    return value.code


@pytest.mark.promise("studio.conference-chief")
def test_without_names_everyone_who_is_switched_on_is_invited_the_chief_first() -> None:
    muted = Roster(agents=tuple(replace(each, enabled=each.agent_id != "critic") for each in reversed(DEFAULT_AGENTS)))
    made = invite(None, muted)
    assert isinstance(made, tuple)
    assert made[0].agent_id == CHIEF
    assert {each.agent_id for each in made} == set(IDS) - {"critic"}


@pytest.mark.promise("studio.conference-chief")
def test_a_conference_without_the_chief_is_refused() -> None:
    assert code(invite(["writer", "critic"], ROSTER)) == "chief_mandatory"
    assert code(invite([], ROSTER)) == "chief_mandatory"
    named_late = invite(["writer", CHIEF], ROSTER)
    assert isinstance(named_late, tuple)
    assert [each.agent_id for each in named_late] == [CHIEF, "writer"]


@pytest.mark.promise("studio.conference-chief")
@given(
    st.lists(
        st.tuples(st.sampled_from(ACTIONS), st.lists(st.sampled_from([*IDS, "nobody"]), min_size=1, max_size=7)),
        max_size=12,
    )
)
def test_whatever_is_done_to_a_table_the_chief_sits_first_unmuted_and_everyone_sits_once(
    steps: list[tuple[str, list[str]]],
) -> None:
    table = seats("writer", "critic")
    for action, agents in steps:
        after = change_attendees(table, next(each for each in ACTIONS if each == action), agents, ROSTER)
        if isinstance(after, Problem):
            continue
        table = after
        ids = [each.agent_id for each in table]
        assert table[0] == Attendee(agent_id=CHIEF)
        assert len(set(ids)) == len(ids)
        assert set(ids) <= set(IDS)


@pytest.mark.promise("studio.conference-roster")
def test_agents_come_and_go_and_are_muted_and_put_in_order() -> None:
    table = change_attendees(seats("writer"), "add", ["critic", "editor"], ROSTER)
    assert isinstance(table, tuple)
    table = change_attendees(table, "order", [CHIEF, "editor", "critic", "writer"], ROSTER)
    assert isinstance(table, tuple)
    table = change_attendees(table, "mute", ["critic"], ROSTER)
    assert isinstance(table, tuple)
    assert [(each.agent_id, each.muted) for each in table] == [
        (CHIEF, False), ("editor", False), ("critic", True), ("writer", False),
    ]  # fmt: skip
    table = change_attendees(table, "unmute", ["critic"], ROSTER)
    assert isinstance(table, tuple)
    assert not any(each.muted for each in table)
    table = change_attendees(table, "remove", ["critic", "writer"], ROSTER)
    assert isinstance(table, tuple)
    assert [each.agent_id for each in table] == [CHIEF, "editor"]


@pytest.mark.promise("studio.conference-roster")
def test_what_cannot_be_done_to_a_table_has_a_fixed_code() -> None:
    off = ROSTER.change(replace(next(each for each in DEFAULT_AGENTS if each.agent_id == "editor"), enabled=False))
    assert isinstance(off, Roster)
    table = seats("writer", "critic")
    assert code(change_attendees(table, "add", ["nobody"], off)) == "agent_unknown"
    assert code(change_attendees(table, "add", ["editor"], off)) == "agent_disabled"
    assert code(change_attendees(table, "add", ["writer"], off)) == "attendee_exists"
    assert code(change_attendees(table, "mute", ["editor"], off)) == "attendee_unknown"
    assert code(change_attendees(table, "mute", [CHIEF], off)) == "chief_mandatory"
    assert code(change_attendees(table, "remove", [CHIEF], off)) == "chief_mandatory"
    assert code(change_attendees(table, "order", ["writer", CHIEF], off)) == "order_incomplete"
    assert code(change_attendees(table, "order", ["writer", CHIEF, "critic"], off)) == "chief_first"
    many = [Agent(agent_id=f"a{n}", name="A", role="r", purpose="p") for n in range(MOST)]
    crowd = Roster(agents=(*DEFAULT_AGENTS, *many))
    assert code(invite([CHIEF, *(each.agent_id for each in many)], crowd)) == "attendees_too_many"


@pytest.mark.promise("studio.conference-cards")
def test_cards_are_those_of_the_seed_with_their_subtitles_and_colours() -> None:
    assert {card: (look.subtitle, look.colour) for card, look in LOOKS.items()} == {
        "moderator": ("Moderator", "green"),
        "participant": ("Participant", "default"),
        "abstained": ("Abstained", "yellow"),
        "muted": ("Muted", "red"),
    }
    assert set(get_args(Card)) == set(LOOKS)
    assert card_of(Attendee(agent_id=CHIEF)) == "moderator"
    assert card_of(Attendee(agent_id=CHIEF), "abstained") == "abstained"
    assert card_of(Attendee(agent_id="critic")) == "participant"
    assert card_of(Attendee(agent_id="critic"), "rejected") == "participant"
    assert card_of(Attendee(agent_id="critic", muted=True), "abstained") == "muted"
    assert card_wire("critic", "muted")["colour"] == "red"


@pytest.mark.promise("studio.conference-states")
def test_a_round_ends_once_and_only_a_running_one_is_cancelled() -> None:
    states = get_args(RoundState)
    assert set(NEXT) == set(states)
    ends = {"closed", "stopped", "cancelled", "broken_off"}
    allowed = {("running", end) for end in (*ends, "cancelling")} | {("cancelling", end) for end in ends}
    assert {(one, other) for one in states for other in states if may_become(one, other)} == allowed
    assert [state for state in states if is_over(state)] == ["closed", "stopped", "cancelled", "broken_off"]
