"""Contradiction lowers or contests; it never erases, and the history says why."""

import pytest

from tests.rooms.memory.remembering import DAY, Notebook


@pytest.mark.promise("memory.contradiction")
@pytest.mark.parametrize("kind", ["human", "document", "tool_external", "model_inference", "tool_internal"])
def test_one_bad_source_changes_nothing_against_eight_good_ones_but_is_shown(kind: str) -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", *book.sources("two", 8))
    book.consolidate()
    before = book[name]
    liar = book.observe("Mars has nine moons.", "liar", kind)
    book.contradict(name, liar)
    book.consolidate()
    after = book[name]
    assert (before.status, after.status) == ("accepted", "accepted")
    assert after.canonical_id == before.canonical_id is not None
    assert after.figures.contradiction > 0
    assert [edge.observation_id for edge in book.state.edges_of(name) if edge.stance == "contradiction"] == [liar]


@pytest.mark.promise("memory.contradiction")
def test_two_documents_against_two_are_contested_and_a_test_is_proposed_that_can_reject() -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", *book.sources("two", 2))
    book.consolidate()
    assert book[name].canonical_id is not None
    book.contradict(name, *book.sources("nine", 2))
    assert (book[name].status, book[name].rule, book[name].canonical_id) == ("contested", "S4-conflict", None)
    (test,) = book.state.evidence(name).trials.values()
    assert (test.proposed_by, test.discriminating, test.result) == ("policy", True, None)
    book.result(test.id, "failed", "Looked through the telescope: there are nine.")
    assert (book[name].status, book[name].rule) == ("rejected", "S1-failed-test")
    changes = book.history(name)
    assert [(one.before, one.after) for one in changes] == [
        (None, "accepted"), ("accepted", "contested"), ("contested", "rejected"),
    ]  # fmt: skip
    assert all(one.evidence_ids and one.policy == book.state.policy.digest for one in changes)
    assert [one.words.split(":")[0] for one in changes] == ["Accepted", "Contested", "Rejected"]
    # Nothing was erased.
    assert len(book.state.edges_of(name)) == 5


@pytest.mark.promise("memory.contradiction")
def test_disbelief_from_two_sources_rejects_and_from_one_does_not() -> None:
    book = Notebook()
    weak = book.observe("Perhaps.", "rumour", "tool_external")
    name = book.propose("Mars has nine moons", weak)
    for at in range(3):
        book.contradict(name, book.observe(f"No, for reason {at}.", "astronomer", "human"))
    assert book[name].figures.disbelief >= 8000
    assert book[name].status != "rejected"
    book.contradict(name, book.observe("No indeed.", "second astronomer", "human"))
    assert (book[name].status, book[name].rule) == ("rejected", "S2-disbelief")


@pytest.mark.promise("memory.tests")
def test_the_newest_result_of_a_test_counts_and_one_that_passes_supports() -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", book.observe("Two.", "page"))
    test = book.test(name)
    book.result(test, "failed", "clouds")
    assert book[name].status == "rejected"
    book.now += 60
    book.result(test, "passed", "clear sky")
    assert book[name].status != "rejected"
    assert book[name].figures.support_groups == 2
    weak = book.test(name, "ask around", discriminating=False)
    book.result(weak, "failed", "nobody knew")
    assert book[name].status != "rejected"
    book.result(weak, "inconclusive", "still nobody")
    assert len(book.state.edges_of(name)) == 4
    kept = book.state.observations.get(book.state.evidence(name).trials[weak].observation_id or "")
    assert kept is not None
    assert (kept.weighed_as, kept.groups) == ("test_result", ("ask around",))


@pytest.mark.promise("memory.decay")
def test_what_is_old_is_deprecated_and_its_record_retired() -> None:
    book = Notebook()
    name = book.propose("shop opens at_nine", *book.sources("nine", 3), volatility="high")
    lasting = book.propose("shop stands_in Lisbon", *book.sources("Lisbon", 3), volatility="static")
    book.consolidate()
    assert len(book.canonicals()) == 2
    book.now += 3 * DAY
    book.consolidate()
    assert (book[name].status, book[lasting].status) == ("deprecated", "accepted")
    assert [one.proposition_id for one in book.canonicals()] == [lasting]
    assert book.history(name)[-1].cause == "age"
    (gone,) = [one for one in book.state.canonicals.ordered() if one.proposition_id == name]
    assert gone.retired_why is not None
    book.support(name, *book.sources("nine again", 2))
    book.consolidate()
    assert (book[name].status, len(book.canonicals())) == ("accepted", 2)
    assert len([one for one in book.state.canonicals.ordered() if one.proposition_id == name]) == 2


@pytest.mark.promise("memory.decay")
def test_a_contradiction_ages_too_and_belief_recovers() -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", *book.sources("two", 2), volatility="static")
    moving = book.propose("shop opens at_nine", *book.sources("nine", 3), volatility="low")
    book.contradict(moving, *book.sources("ten", 3))
    assert book[moving].status == "contested"
    book.now += 21 * DAY
    book.support(moving, *book.sources("nine, seen today", 2))
    assert (book[moving].status, book[name].status) == ("accepted", "accepted")
