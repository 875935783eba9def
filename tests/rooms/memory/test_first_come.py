"""Whoever comes first decides nothing: an agent cannot be quick and so take the weight from what others say."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.memory.stage import Stage
from tallystick.gate.session import Caller, Session
from tallystick.rooms.memory.ids import observation_id
from tallystick.rooms.memory.model import Figures
from tallystick.rooms.memory.propose.speakers import ANOTHER, Speaker
from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.assessment import assess
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import Notebook, Remembering
from tests.sizes import size

STANCES = ("attach_support", "attach_contradiction")
Cited = tuple[int, str, str | None]
"""Which observation, as what, and by which agent."""
OWNERS_WORD: dict[str, Any] = {"text": "My name is Ada.", "source": {"id": "owner", "class": "human"}}
PAGES: list[dict[str, Any]] = [
    {"text": f"Ada owns a mill, page {at}.", "source": {"id": f"gazette-{at}", "class": "document"}} for at in range(2)
]


def _standing(memory: Remembering, name: str) -> tuple[str, Figures]:
    found = memory.projection.ask(lambda state: state.propositions.get(name))
    assert found is not None
    return found.status, found.figures


@pytest.mark.promise("memory.first-come")
@pytest.mark.parametrize("first", ["mallory", None])
def test_an_agent_that_records_others_words_before_them_takes_nothing_from_them(
    memory: Remembering, first: str | None
) -> None:
    last = None if first else "mallory"
    held: dict[str | None, list[str]] = {}
    for who in (first, last):
        said = [
            memory.call("record_observation", agent=who, observed_at="2024-01-01", **one)
            for one in (OWNERS_WORD, *PAGES)
        ]
        held[who] = [one.unwrap()["observation_id"] for one in said]
        assert not any(one.result["duplicate"] for one in said)
    own, *pages = held[None]
    name = memory.propose(own, fact="owner name Ada")
    fact = memory.propose(*pages, fact="Ada owns mill")
    assert [memory.status(one) for one in (name, fact)] == ["accepted", "accepted"]
    # What the agent says it heard is its own word, as before.
    claimed = memory.propose(*held["mallory"], fact="Ada owns a mill")
    assert memory.status(claimed) != "accepted"


@pytest.mark.promise("memory.first-come")
def test_one_who_is_not_the_owner_does_not_take_the_owners_words_either() -> None:
    book = Notebook()
    book.observe("My name is Ada.", "owner", "human", by_owner=False)
    own = book.observe("My name is Ada.", "owner", "human")
    assert book[book.propose("owner name Ada", own)].status == "accepted"


@pytest.mark.promise("memory.first-come")
@pytest.mark.parametrize("written", ["2020-01-01", "2024-01-01T00:01:00Z"])
def test_a_note_that_is_recorded_before_what_was_read_before_it_takes_no_weight(
    memory: Remembering, written: str
) -> None:
    read_at = stamp_of(memory.now)
    memory.now += 60
    seen = []
    for one in PAGES:
        source = {"id": "m", "class": "model_inference"}
        memory.call(
            "record_observation", agent="mallory", text=one["text"], source=source, observed_at=written
        ).unwrap()
        page = memory.call("record_observation", **one, observed_at=read_at)
        assert page.args is None or "derived_from" not in page.args
        seen.append(page.unwrap()["observation_id"])
    assert memory.status(memory.propose(*seen, fact="Ada owns mill")) == "accepted"


@pytest.mark.promise("memory.first-come")
@given(st.randoms(use_true_random=False))
def test_whether_a_reading_is_a_note_read_back_depends_on_times_and_not_on_which_is_told_first(
    chance: random.Random,
) -> None:
    text, hour = "Ada owns a mill.", 3_600
    note = {"text": text, "source": {"id": "m", "class": chance.choice(["model_inference", "document"])}}
    agent = chance.choice([None, "mallory"])
    written, read = chance.randrange(1, 20), chance.randrange(1, 20)
    claimed = chance.randrange(1, 20)

    def run(told: int) -> object:
        """The page was read at one time, and is told at a later one, before or after the note is."""
        stage = Stage()
        begin = stage.now
        base = stage.observe("The mill, by its deed.", "deed")
        fact = stage.claim(("Ada", "owns", "mill"), base)
        if note["source"]["class"] == "document":
            note["derived_from"] = [base]
        events = sorted([(written, "note"), (told, "page")])
        for at, what in events:
            stage.now = begin + at * hour
            if what == "note":
                seen = stamp_of(begin + min(claimed, at) * hour)
                stage.propose("record_observation", {**note, "observed_at": seen}, agent=agent)
            else:
                page = {"id": "gazette", "class": "document"}
                seen = stamp_of(begin + read * hour)
                taken = stage.propose("record_observation", {"text": text, "source": page, "observed_at": seen})
                assert taken is not None
                name = observation_id(
                    text, "gazette", "document", "gazette", begin + read * hour, taken.get("derived_from", ())
                )
                stage.propose(
                    "attach_support", {"proposition_id": fact, "observation_id": name, "quote": "Ada owns a mill"}
                )
        found = stage.state.propositions.get(fact or "")
        assert found is not None
        assessment = assess(stage.state, found, begin + 100 * hour)
        return assessment.status, assessment.figures

    # Whoever tells at once and whoever tells later tell the same.
    later = [moment for moment in range(read, 40) if moment != written]
    assert len({run(moment) for moment in chance.sample(later, 3)} | {run(max(later))}) == 1


@pytest.mark.promise("memory.laundering", "memory.first-come")
def test_a_note_that_is_read_after_it_was_written_is_still_a_note(memory: Remembering) -> None:
    seen = []
    for one in PAGES:
        source = {"id": "m", "class": "model_inference"}
        # However old it says it is, and however new.
        memory.call(
            "record_observation", agent="m", text=one["text"], source=source, observed_at=stamp_of(memory.now + 200)
        )
        memory.now += 5
        seen.append(
            memory.call("record_observation", **one, observed_at=stamp_of(memory.now)).unwrap()["observation_id"]
        )
    assert memory.status(memory.propose(*seen, fact="Ada owns mill")) == "tentative"


@pytest.mark.promise("memory.first-come")
def test_two_results_in_the_same_words_and_second_are_two() -> None:
    statuses = []
    for order in (("failed", "passed"), ("passed", "failed")):
        book = Notebook()
        name = book.propose("pump ran ok", book.observe("The pump ran.", "log"))
        test = book.test(name)
        book.result(test, order[0], "run 77", agent="mallory")
        book.result(test, order[1], "run 77")
        trial = book.state.trials.get(test)
        assert trial is not None
        assert (trial.result, len(trial.result_ids)) == (order[1], 2)
        statuses.append(book[name].status)
    assert statuses == ["accepted", "rejected"]


@pytest.mark.promise("memory.first-come")
@pytest.mark.parametrize("stance", ["attach_support", "attach_contradiction"])
def test_nobody_is_bound_by_what_an_agent_says_that_words_mean(open_memory: Open, stance: str) -> None:
    free, late = open_memory("free"), open_memory("late")
    results = []
    for memory in (free, late):
        seen = [memory.observe(f"No, says {who}.", who) for who in ("ben", "cy")]
        name = memory.propose(memory.observe("Ada owns a mill.", "letters"), fact="Ada owns mill")
        if memory is late:
            for one in seen:
                memory.call(stance, agent="mallory", proposition_id=name, observation_id=one, quote="No").unwrap()
            between = memory.projection.ask(lambda state: state.seq)
        for one in seen:
            memory.call("attach_contradiction", proposition_id=name, observation_id=one, quote="No").unwrap()
        results.append(_standing(memory, name))
        # Once is enough for everyone.
        for agent in (None, "mallory", "other"):
            again = memory.call("attach_support", agent=agent, proposition_id=name, observation_id=seen[0], quote="No")
            assert again.rejection is not None
            assert again.rejection.code == "POLICY_VIOLATION"
    assert results[0] == results[1]
    # How it stood before is still told, and the tables are those that a rebuild makes.
    then = late.room.queries.explain(name, as_of_seq=between, now=late.now)
    now = late.room.queries.explain(name, now=late.now)
    assert then is not None
    assert now is not None
    assert {edge["by_agent"] for edge in then["edges"]} == {True, False}
    assert {edge["stance"] for edge in now["edges"]} == {"support", "contradiction"}
    before = late.bytes()
    late.projection.rebuild()
    assert late.bytes() == before


@pytest.mark.promise("memory.first-come")
def test_a_proposal_takes_back_what_an_agent_said_of_the_same_observation(memory: Remembering) -> None:
    first, second = memory.observe("Ada owns a mill.", "letters"), memory.observe("The mill is Ada's.", "ledger")
    name = memory.propose(first, fact="Ada owns mill")
    memory.call(
        "attach_contradiction", agent="mallory", proposition_id=name, observation_id=second, quote="mill"
    ).unwrap()
    memory.propose(first, second, fact="Ada owns mill")
    status, figures = _standing(memory, name)
    assert (status, figures.contradiction, figures.support_groups) == ("accepted", 0, 2)


@pytest.mark.promise("memory.first-come")
@given(st.randoms(use_true_random=False))
def test_no_order_of_what_is_recorded_and_cited_changes_anything(chance: random.Random) -> None:
    kinds = ["document", "human", "tool_external", "model_inference"]
    said = [
        (
            f"mill {chance.randrange(3)}",
            f"s{chance.randrange(3)}",
            chance.choice(kinds),
            chance.choice([None, "a", "b"]),
        )
        for _ in range(5)
    ]
    meant = {None: chance.random() < 0.5, "agents": chance.random() < 0.5}
    cited = [(at, who) for at in range(5) for who in (None, "a", "b") if chance.random() < 0.5]

    def run(chance: random.Random) -> tuple[str, str, Figures]:
        book = Notebook()
        base = book.observe("Ada owns a mill.", "first")
        name = book.propose("Ada owns mill", base)
        seen = {
            at: book.observe(said[at][0], said[at][1], said[at][2], agent=said[at][3])
            for at in chance.sample(range(5), 5)
        }
        for at, who in chance.sample(cited, len(cited)):
            tool = "attach_support" if meant[who if who is None else "agents"] else "attach_contradiction"
            book.tell(tool, agent=who, proposition_id=name, observation_id=seen[at])
        return book[name].status, book[name].rule, book[name].figures

    assert run(random.Random(1)) == run(chance)


@pytest.mark.promise("memory.first-come")
@pytest.mark.parametrize(
    "session",
    [
        Session(session_id="s1"),
        Session(session_id="s1", agent_id="Chief"),
        Session(session_id="s1", turn_id="turn_1"),
        Session(session_id="s1", caller=Caller(subject="m", channel="mcp", roles=frozenset({"agent"}))),
        Session(session_id="s1", caller=Caller(subject="ben", channel="http", roles=frozenset({"person"}))),
    ],
)
def test_the_id_that_is_answered_is_the_one_that_is_held(memory: Remembering, session: Session) -> None:
    held = set()
    for args in ({**OWNERS_WORD}, {**PAGES[0]}):
        said = memory.gate.call_sync("record_observation", {**args, "observed_at": "2024-01-01"}, session=session)
        again = memory.gate.call_sync("record_observation", {**args, "observed_at": "2024-01-01"}, session=session)
        assert again.unwrap() == {**said.unwrap(), "duplicate": True}
        held.add(said.unwrap()["observation_id"])
    found = memory.projection.ask(lambda state: state.observations.some(sorted(held)))
    assert found.keys() == held


def _through_the_rule(
    said: list[tuple[str, str, str, str | None]], cited: list[Cited], chance: random.Random
) -> object:
    """What comes of it when all is recorded, and then cited, in some order; the rule may refuse and change things."""
    stage = Stage()
    name = stage.claim(("Ada", "owns", "mill"), stage.observe("Ada owns a mill.", "first"))
    held = {at: stage.observe(*said[at][:3], agent=said[at][3]) for at in chance.sample(range(len(said)), len(said))}
    for at, stance, who in chance.sample(cited, len(cited)):
        args = {"proposition_id": name, "observation_id": held[at], "quote": "Ada owns mill"}
        stage.propose(stance, args, agent=who)
    assert name is not None
    found = stage.state.propositions.get(name)
    assert found is not None
    return found.status, found.rule, found.figures


@pytest.mark.promise("memory.first-come", "memory.states")
def test_the_rule_lets_in_the_same_in_every_order() -> None:
    kinds = ["document", "human", "tool_external", "tool_internal"]
    for seed in range(size(200, 5_000)):
        chance = random.Random(seed)
        said = [
            (f"Ada owns mill {chance.randrange(4)}", chance.choice(["owner", "s1", "s2"]), chance.choice(kinds), who)
            for who in chance.choices([None, None, "a", "b"], k=chance.randint(2, 8))
        ]
        said = list(dict.fromkeys(said))
        # Of several that are all agents, or all none, the first counts who says what an observation means.
        meant = {(at, agents): chance.choice(STANCES) for at in range(len(said)) for agents in (False, True)}
        cited = [
            (at, meant[at, who is not None], who)
            for at in chance.choices(range(len(said)), k=chance.randint(1, 8))
            for who in (chance.choice([None, "a", "b"]),)
        ]
        results = {_through_the_rule(said, cited, random.Random(order)) for order in range(3)}
        assert len(results) == 1, seed


@pytest.mark.promise("memory.source-identity", "memory.replay")
def test_what_was_recorded_under_a_token_before_keeps_its_id_and_is_one_source_now() -> None:
    book = Notebook()
    seen = [book.observe(f"The mill is Bob's, {who}.", who, "human", by_owner=False) for who in ("ann", "cyd")]
    held = [book.state.observations.get(name) for name in seen]
    assert [one.groups for one in held if one is not None] == [("caller:anonymous",)] * 2
    assert [one.weighed_as for one in held if one is not None] == ["tool_external"] * 2
    name = book.propose("the mill is Bob's", *seen)
    assert book[name].status != "accepted"
    assert Speaker(subject="ann", is_person=False).mark == ANOTHER
