"""What an agent's word and an agent's citing are worth: never a fact by themselves, never the end of one."""

import pytest

from tallystick.rooms.memory.weigh.edges import holds_words
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import Notebook

AGENT = "helper"


@pytest.mark.promise("memory.agent-ceiling")
def test_what_an_agent_cites_counts_only_as_far_as_its_words_go() -> None:
    book = Notebook()
    greeting = book.observe("Good morning, please tidy the attic.", "owner", "human")
    decided = book.propose("owner decision wire 10000 EUR", greeting, agent=AGENT)
    assert (book[decided].status, book[decided].figures.owner) == ("tentative", False)
    said = book.observe("My name is Ada.", "owner", "human")
    named = book.propose("owner name Ada", said, agent=AGENT)
    assert (book[named].status, book[named].rule) == ("accepted", "S3-owner")
    # A trusted page that says nothing of it does not lend its class to what the agent made up.
    page = book.observe("The attic is tidy.", "manual")
    made_up = [book.observe(f"The code is 666, {at}.", f"s{at}", "tool_external", agent=AGENT) for at in range(3)]
    code = book.propose("bank code 666", page, *made_up, agent=AGENT)
    assert book[code].figures.best_class == 5000
    book.tell("attach_contradiction", agent=AGENT, proposition_id=named, observation_id=greeting)
    assert book[named].rule == "S3-owner"
    # The same page, cited by somebody who is no agent, counts as what it is.
    assert book[book.propose("bank door green", page)].figures.best_class == 7000


@pytest.mark.promise("memory.agent-ceiling")
def test_an_agent_takes_no_place_with_words_that_do_not_say_so() -> None:
    book = Notebook()
    ada = book.propose("owner name Ada", book.observe("My name is Ada.", "owner", "human"))
    greeting = book.observe("Good morning.", "owner", "human")
    other = book.propose("owner name Mallory", greeting, agent=AGENT, supersedes=[ada])
    book.consolidate()
    assert (book[ada].status, book[ada].superseded_by, book[other].supersedes) == ("accepted", None, ())
    renamed = book.observe("Call me Grace from now on.", "owner", "human")
    grace = book.propose("owner name Grace", renamed, agent=AGENT, supersedes=[ada])
    assert (book[grace].status, book[ada].superseded_by) == ("accepted", grace)


@pytest.mark.promise("memory.agent-ceiling")
def test_what_an_edge_counts_for_is_the_same_from_the_tables(open_memory: Open) -> None:
    memory = open_memory()
    greeting = memory.observe("Good morning.", "owner", "human")
    fact = {"subject": "owner", "predicate": "decision", "object": "sell", "observation_ids": [greeting]}
    name = memory.call("propose_proposition", agent=AGENT, **fact).unwrap()["proposition_id"]
    memory.bytes()
    memory.close()
    again = open_memory()
    assessment = again.room.queries.explain(name, now=again.now)
    assert assessment is not None
    assert assessment["standing"]["rule"] == "S8-tentative"
    assert assessment["standing"]["figures"]["support_groups"] == 0


@pytest.mark.promise("memory.agent-ceiling")
def test_all_that_one_agent_reports_is_one_source() -> None:
    book = Notebook()
    name = book.propose("owner name Ada", book.observe("My name is Ada.", "owner", "human"))
    home = book.propose("Ada lives_in Lisbon", *book.sources("Ada lives in Lisbon", 3, "human"))
    book.consolidate()
    for at in range(24):
        text = f"Neither Ada nor Lisbon, says {at}."
        seen = book.observe(text, f"witness {at % 8}", "document", agent=AGENT)
        for one in (name, home):
            book.tell("attach_contradiction", agent=AGENT, proposition_id=one, observation_id=seen)
    figures = book[home].figures
    assert (figures.contradiction, figures.contradiction_groups, book[home].status) == (5000, 1, "accepted")
    assert (book[name].status, len(book.canonicals())) == ("accepted", 2)
    # What it makes of several pages is in its own words as well.
    pages = book.sources("Some page", 6)
    for at, page in enumerate(pages):
        seen = book.observe(f"No Lisbon, {at}.", "notes", derived_from=[page], agent=AGENT)
        book.tell("attach_contradiction", agent=AGENT, proposition_id=home, observation_id=seen)
    assert book[home].figures.contradiction_groups == 1


@pytest.mark.promise("memory.owner")
def test_agents_alone_never_unsay_what_is_the_owners_to_say() -> None:
    book = Notebook()
    name = book.propose("owner name Ada", book.observe("My name is Ada.", "owner", "human"))
    for at in range(12):
        seen = book.observe(f"Ada is not the name, {at}.", "me", agent=f"agent {at}")
        book.tell("attach_contradiction", agent=f"agent {at}", proposition_id=name, observation_id=seen)
    # Pages that others brought, and that only an agent turns against it.
    for seen in book.sources("Ada is written here", 6):
        book.tell("attach_contradiction", agent=AGENT, proposition_id=name, observation_id=seen)
    assert book[name].figures.disbelief >= 8000
    assert (book[name].status, book[name].rule) == ("accepted", "S3-owner")
    book.contradict(name, *book.sources("The register says otherwise", 2, "human"))
    assert (book[name].status, book[name].rule) == ("rejected", "S2-disbelief")


@pytest.mark.promise("memory.agent-ceiling")
@pytest.mark.parametrize(
    ("later", "agent"),
    [("inconclusive", AGENT), ("inconclusive", None), ("passed", AGENT)],
)  # fmt: skip
def test_a_failed_test_stands_until_somebody_finds_otherwise(later: str, agent: str | None) -> None:
    book = Notebook()
    name = book.propose("bridge holds 10t", *book.sources("The bridge holds 10t", 6))
    test = book.test(name)
    book.result(test, "failed", "it broke")
    book.now += 60
    book.result(test, later, "hm", agent=agent)
    assert (book[name].status, book[name].rule) == ("rejected", "S1-failed-test")
    book.now += 60
    book.result(test, "passed", "it was mended, and holds")
    assert book[name].status == "accepted"


@pytest.mark.promise("memory.agent-ceiling")
def test_an_agent_does_not_make_a_test_toothless_by_naming_it_first(open_memory: Open) -> None:
    book = Notebook()
    name = book.propose("bridge holds 10t", *book.sources("The bridge holds 10t", 6))
    test = book.test(name, discriminating=False, agent=AGENT)
    book.result(test, "failed", "it broke")
    assert book[name].status != "rejected"
    book.test(name, discriminating=True, agent=AGENT)
    assert book[name].status != "rejected"
    book.test(name, discriminating=True)
    assert (book[name].status, book[name].rule) == ("rejected", "S1-failed-test")
    # Policy's own refutes, whoever names it.
    memory = open_memory()
    seen = memory.observe()
    fact = memory.propose(seen)
    args = {"proposition_id": fact, "method": "independent check", "expectation": "Ada lives_in Lisbon"}
    own = memory.call("propose_test", agent=AGENT, discriminating=False, **args).unwrap()["test_id"]
    told = {"test_id": own, "result": "failed", "report": "Nobody there.", "observed_at": "2024-01-01"}
    memory.call("execute_test_result_ingest", **told).unwrap()
    assert memory.status(fact) == "rejected"


@pytest.mark.promise("memory.agent-ceiling")
def test_how_a_test_was_meant_before_can_still_be_asked(open_memory: Open) -> None:
    memory = open_memory()
    fact = memory.propose(memory.observe())
    args = {"proposition_id": fact, "method": "look", "expectation": "seen"}
    memory.call("propose_test", agent=AGENT, **args).unwrap()
    before = memory.gate.ledger.size() - 1
    memory.call("propose_test", discriminating=True, **args).unwrap()
    for seq, discriminating in ((before, False), (memory.gate.ledger.size() - 1, True)):
        told = memory.room.queries.explain(fact, now=memory.now, as_of_seq=seq)
        assert told is not None
        assert [one["discriminating"] for one in told["tests"]] == [discriminating]


@pytest.mark.promise("memory.agent-ceiling")
def test_a_report_that_found_nothing_is_no_finding_elsewhere() -> None:
    book = Notebook()
    name = book.propose("pump colour blue", book.observe("The pump is blue.", "manual"))
    test = book.test(name)
    book.result(test, "inconclusive", "The lamp failed; is Ben admin?")
    trial = book.state.trials.get(test)
    assert trial is not None
    assert trial.observation_id is not None
    other = book.propose("Ben role admin", trial.observation_id)
    assert (book[other].figures.best_class, book[other].status) == (0, "tentative")


@pytest.mark.parametrize(
    ("text", "named", "held"),
    [
        ("My name is Ada.", "ada", True), ("We moved to New  York!", "new york", True), ("I use us-east.", "us_east", True),
        ("A house.", "us", False), ("Good morning.", "wire it", False), ("我住在里斯本。", "里斯本", True),
        ("Yes 👍", "👍", True), ("Yes.", "👍", False),
    ],
)  # fmt: skip
def test_words_are_looked_for_whole(text: str, named: str, *, held: bool) -> None:
    assert holds_words(text, named) is held
