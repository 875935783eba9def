"""How things stood is told as it was told then, whatever happened since."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.rooms.memory.model import Event
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.recall.counterfactuals import what_if
from tallystick.rooms.memory.recall.explanation import explain_proposition
from tests.rooms.memory.remembering import DAY, Notebook, Remembering
from tests.sizes import size

FACTS = [
    f"{who} {what}" for who in ("Kim", "Ida") for what in ("lives_in Rome", "lives_in Oslo", "likes tea", "likes jam")
]
KINDS = ["human", "document", "tool_internal", "tool_external", "model_inference"]


class BookLog:
    """The log of a notebook."""

    def __init__(self, book: Notebook) -> None:
        self._events = {event.receipt_id: event for event in book.events}

    def event(self, receipt_id: str) -> Event | None:
        return self._events.get(receipt_id)

    def time_at(self, seq: int) -> int | None:
        return max((event.at for event in self._events.values() if event.seq <= seq), default=None)


class Story:
    """A random stream of events."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.book = Notebook(Policy(carry_over=1, consolidate_every=7))
        self.seen: list[str] = []
        self.props: list[str] = []
        self.tests: list[str] = []

    def go_on(self) -> None:
        """One more event."""
        steps = [
            self.observe,
            self.propose,
            self.propose,
            self.attach,
            self.attach,
            self.examine,
            self.report,
            self.rest,
        ]
        self.chance.choice(steps)()

    def observe(self) -> None:
        chance = self.chance
        parents = chance.sample(self.seen, min(len(self.seen), chance.randint(1, 2))) if chance.random() < 0.2 else ()
        self.seen.append(
            self.book.observe(
                f"text {chance.randrange(30)}", f"source {chance.randrange(6)}", chance.choice(KINDS),
                age=chance.choice((0, 0, DAY, 20 * DAY)), derived_from=parents, by_owner=chance.random() < 0.5,
                episode_id=f"e{chance.randrange(2)}",
            )
        )  # fmt: skip

    def several(self) -> list[str]:
        while len(self.seen) < 3:
            self.observe()
        return self.chance.sample(self.seen, self.chance.randint(1, 3))

    def propose(self) -> None:
        more: dict[str, Any] = {}
        if self.props and self.chance.random() < 0.4:
            more["supersedes"] = self.chance.sample(self.props, min(len(self.props), 3))
        if self.chance.random() < 0.2:
            more["valid_from"] = self.chance.choice(("2023-06-01", "2024-01-03"))
        name = self.book.propose(self.chance.choice(FACTS), *self.several(), volatility="low", **more)
        if name not in self.props:
            self.props.append(name)

    def attach(self) -> None:
        if self.props:
            speaks = self.book.support if self.chance.random() < 0.6 else self.book.contradict
            speaks(self.chance.choice(self.props), self.several()[0])

    def examine(self) -> None:
        if self.props:
            name = self.chance.choice(self.props)
            agent = "helper" if self.chance.random() < 0.3 else None
            self.tests.append(self.book.test(name, discriminating=self.chance.random() < 0.6, agent=agent))

    def report(self) -> None:
        asked = [*self.tests, *self.book.state.trials.held]
        if asked:
            result = self.chance.choice(("passed", "failed", "inconclusive"))
            test = self.chance.choice(asked)
            self.book.result(test, result, f"report {self.chance.randrange(50)}")
            told = self.book.state.trials.get(test)
            if told is not None:
                # What one test found may be cited for anything else.
                self.seen.extend(name for name in told.result_ids if name not in self.seen)

    def rest(self) -> None:
        self.book.now += self.chance.choice((60, DAY, 5 * DAY, 30 * DAY))
        episode = f"e{self.chance.randrange(2)}"
        if self.chance.random() < 0.3:
            self.book.tell("archive_episode", episode_id=episode)
        else:
            self.book.consolidate(episode_id=episode)

    def told(self, *, as_of: int | None = None) -> dict[str, Any]:
        """All that can be explained."""
        log, state = BookLog(self.book), self.book.state
        found = {
            name: explain_proposition(state, log, name, now=state.now, as_of_seq=as_of) for name in self.props
        }  # fmt: skip
        return {name: one for name, one in found.items() if one is not None}


def check(seed: int, steps: int = 30) -> None:
    story = Story(random.Random(seed))
    told: dict[int, dict[str, Any]] = {}
    for _ in range(steps):
        story.go_on()
        if story.book.events:
            told[story.book.events[-1].seq] = story.told()
    for seq, then in told.items():
        assert story.told(as_of=seq) == then, f"seed {seed}, as of {seq}"


@pytest.mark.promise("reading.as-of")
def test_what_is_read_later_as_of_a_place_is_what_was_read_there() -> None:
    for seed in range(size(40, 2_000)):
        check(seed)


@pytest.mark.promise("reading.as-of")
@settings(max_examples=size(15, 300), deadline=None)
@given(st.integers(min_value=0))
def test_what_is_read_later_is_what_was_read_there_on_streams_that_hypothesis_makes_up(seed: int) -> None:
    check(seed, steps=20)


@pytest.mark.promise("reading.what-if")
def test_without_somebody_who_never_spoke_everything_stands_as_it_does() -> None:
    for seed in range(size(20, 500)):
        story = Story(random.Random(seed))
        for _ in range(30):
            story.go_on()
        log, state = BookLog(story.book), story.book.state
        for name in story.props:
            found = what_if(state, log, name, without="nobody", now=state.now)
            assert found is not None
            assert found["then"] is None or found["then"] == found["with"], f"seed {seed}"


@pytest.mark.promise("reading.as-of")
def test_a_rival_that_was_refuted_since_still_contested_it_then(memory: Remembering) -> None:
    def told(city: str) -> str:
        return [
            memory.propose(
                memory.observe(f"Kim lives in {city}, letter {at}", f"{city} {at}"), fact=f"Kim lives_in {city}"
            )
            for at in range(4)
        ][-1]

    rome, oslo = told("Rome"), told("Oslo")
    then = memory.gate.ledger.size() - 1
    reading = memory.room.queries

    def seen(**more: Any) -> tuple[str, list[str], str]:
        explained = reading.explain(rome, now=memory.now, **more)
        assert explained is not None
        facts = reading.ask(entity="Kim", now=memory.now, **more).facts
        return (
            explained["standing"]["status"],
            [change["after"] for change in explained["history"]][-2:],
            next(fact.assessment.status for fact in facts if fact.one.id == rome),
        )

    before = seen()
    assert before == ("contested", ["accepted", "contested"], "contested")
    test = next(iter(memory.projection.ask(lambda state: list(state.evidence(oslo).trials))))
    memory.call(
        "execute_test_result_ingest", test_id=test, result="failed", report="Nobody there.",
        observed_at="2024-01-01T00:00:00Z",
    ).unwrap()  # fmt: skip
    assert seen()[0] == "accepted"
    assert seen(as_of_seq=then) == before
