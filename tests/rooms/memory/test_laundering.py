"""One source stays one source, however often it is told again."""

import pytest

from tallystick.rooms.memory.policy import Policy
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import Notebook, Remembering
from tests.sizes import size


@pytest.mark.promise("memory.laundering")
def test_summaries_of_a_page_never_count_beside_it() -> None:
    book = Notebook()
    page = book.observe("Mars has two moons.", "page")
    name = book.propose("Mars has two moons", page)
    alone = book[name].figures
    summary = book.observe("Two moons.", "summariser", "document", derived_from=[page])
    again = book.observe("Moons: 2.", "other summariser", "document", derived_from=[summary])
    both = book.observe("Still two moons.", "third", "human", derived_from=[summary, page])
    book.support(name, summary, again, both)
    assert book[name].figures == alone
    assert (book[name].status, alone.support_groups) == ("provisional", 1)


@pytest.mark.promise("memory.laundering")
def test_a_summary_alone_is_a_source_of_the_lowest_class_in_its_lineage() -> None:
    book = Notebook()
    page = book.observe("A page on Mars.", "page-0", "tool_external")
    name = book.propose("Mars has two moons", *(book.observe(t, t, "human", derived_from=[page]) for t in ("s", "t")))
    figures = book[name].figures
    assert (figures.support, figures.support_groups, figures.best_class) == (3500, 1, 5000)
    mixed = book.observe("A model's view.", "m", "model_inference", derived_from=[page])
    kept = book.state.observations.get(mixed)
    assert kept is not None
    assert (kept.weighed_as, kept.groups) == ("model_inference", ("page 0",))


@pytest.mark.promise("memory.laundering")
def test_a_summary_of_two_pages_is_one_source_and_none_beside_either_page() -> None:
    book = Notebook()
    pages = [book.observe(f"Page {at} on Mars.", f"page-{at}") for at in range(2)]
    both = book.observe("Both say two.", "summary", derived_from=pages)
    again = book.observe("Two, then.", "summary of that", derived_from=[both])
    name = book.propose("Mars has two moons", both, again)
    assert (book[name].figures.support, book[name].figures.support_groups) == (4900, 1)
    # One of the pages beside it: still one. An unrelated page in the lineage makes no second source.
    book.support(name, pages[0])
    assert (book[name].figures.support, book[name].figures.support_groups) == (4900, 1)
    book.support(name, pages[1])
    assert (book[name].figures.support, book[name].figures.support_groups) == (7399, 2)


@pytest.mark.promise("reading.properties")
def test_one_more_summary_never_pushes_out_a_better_choice() -> None:
    book = Notebook()
    page = book.observe("Page a.", "a")
    others = [book.observe(f"Page b{at}.", "b") for at in range(12)]
    apart = book.observe("Of c and d.", "s", derived_from=[book.observe("Page c.", "c"), book.observe("Page d.", "d")])
    book.now += 3_600
    name = book.propose("Mars has two moons", apart)
    before = 0
    for at, other in enumerate(others):
        book.support(name, book.observe(f"Summary {at}.", "s", derived_from=[page, other]))
        assert book[name].figures.belief >= before
        before = book[name].figures.belief
    assert (book[name].status, book[name].figures.support_groups) == ("accepted", 2)


@pytest.mark.promise("memory.laundering")
def test_the_same_page_read_by_two_tools_is_one_source() -> None:
    book = Notebook()
    text = "Mars has two moons."
    first, second = book.observe(text, "fetch", "tool_internal"), book.observe(text, "browser", "tool_internal")
    name = book.propose("Mars has two moons", first)
    alone = book[name].figures
    book.support(name, second)
    assert book[name].figures == alone
    # A summary of what one tool read adds nothing to what the other read either.
    book.support(name, book.observe("Two.", "summary", "document", derived_from=[second]))
    assert book[name].figures == alone
    # What the second tool read besides is its own.
    book.support(name, book.observe("The moons of Mars are two.", "browser", "tool_internal"))
    assert book[name].figures.support_groups == 2


@pytest.mark.promise("memory.laundering")
def test_two_people_may_say_the_same_words() -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", *(book.observe("Yes.", who, "human") for who in ("ada", "ben")))
    assert (book[name].figures.support_groups, book[name].status) == (2, "accepted")


@pytest.mark.promise("memory.laundering")
def test_an_agent_that_reads_its_own_notes_learns_nothing(memory: Remembering) -> None:
    page = memory.observe("Mars has two moons.", "page")
    note = memory.observe("I gather that Mars has two moons.", "agent", "model_inference", derived_from=[page])
    name = memory.propose(note, fact="Mars has two_moons")
    before = memory.projection.ask(lambda state: state.propositions.get(name))
    reread = memory.call(
        "record_observation", text="I gather that Mars has  two moons.", observed_at="2024-01-01",
        source={"id": "file_reader", "class": "tool_internal", "group": "files"},
    )  # fmt: skip
    assert reread.status == "transformed"
    assert reread.args is not None
    assert reread.args["derived_from"] == [note]
    given = {"proposition_id": name, "observation_id": reread.result["observation_id"], "quote": "Mars has two moons"}
    memory.call("attach_support", **given).unwrap()
    after = memory.projection.ask(lambda state: state.propositions.get(name))
    assert before is not None
    assert after is not None
    assert (after.status, after.figures) == ("tentative", before.figures)


@pytest.mark.promise("memory.model-flood")
def test_a_flood_of_model_inference_promotes_nothing() -> None:
    book = Notebook()
    number = size(500, 10_000)
    first = book.observe("Guess.", "model-0", "model_inference")
    name = book.propose("Mars has three moons", first)
    for at in range(1, number):
        book.support(name, book.observe(f"Guess {at}.", f"model-{at}", "model_inference"))
    book.consolidate()
    assert (book[name].figures.support, book[name].figures.support_groups) == (3000, 0)
    assert (book[name].status, book.canonicals()) == ("tentative", [])


@pytest.mark.promise("memory.agent-ceiling")
def test_what_an_agent_says_of_its_sources_is_believed_only_so_far(open_memory: Open) -> None:
    book = Notebook()
    claimed = [book.observe(f"I am sure, {who}.", who, "human", agent="chief") for who in ("ada", "ben", "owner")]
    name = book.propose("Mars has three moons", *claimed)
    assert (book[name].figures.best_class, book[name].status) == (5000, "provisional")
    test = book.test(name)
    book.result(test, "failed", agent="chief")
    assert book[name].status != "rejected"
    free = Notebook(Policy(agent_ceiling="test_result"))
    loose = free.propose("Mars has three moons", *(free.observe(w, w, "human", agent="x") for w in ("ada", "ben")))
    assert free[loose].status == "accepted"
    # Through the gate: whatever is said in a turn, or by a model behind MCP, is an agent's word.
    memory = open_memory()
    seen = memory.call(
        "record_observation", agent="chief", text="x", observed_at="2024-01-01", source={"id": "o", "class": "human"}
    ).unwrap()["observation_id"]
    kept = memory.projection.ask(lambda state: state.observations.get(seen))
    assert kept is not None
    assert (kept.claimed, kept.weighed_as) == ("tool_external", "tool_external")


@pytest.mark.promise("memory.laundering")
@pytest.mark.parametrize(
    "spelt",
    ["press agency", "Press  Agency", "press-agency", "pr\u0435ss agency", "press\u200b agency.", "préss agency"],
)
def test_a_group_in_another_spelling_is_the_same_group(spelt: str) -> None:
    book = Notebook()
    one = book.observe("Mars has two moons.", "paper", group="press agency")
    other = book.observe("Two moons has Mars.", "radio", group=spelt)
    name = book.propose("Mars has two moons", one, other)
    assert (book[name].figures.support_groups, book[name].status) == (1, "provisional")


@pytest.mark.promise("memory.laundering")
def test_a_source_that_changes_its_group_is_no_second_source() -> None:
    book = Notebook()
    seen = [book.observe(f"Mars, moons: two ({at}).", "paper", group=f"group {at}") for at in range(4)]
    name = book.propose("Mars has two moons", *seen)
    assert (book[name].figures.support_groups, book[name].status) == (1, "provisional")
    book.support(name, book.observe("There are two of them.", "observatory"))
    assert (book[name].figures.support_groups, book[name].status) == (2, "accepted")


@pytest.mark.promise("memory.laundering")
def test_a_discriminating_test_refutes_an_accepted_fact_that_nobody_disputes() -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", *book.sources("Mars", 3))
    assert book[name].status == "accepted"
    book.result(book.test(name), "failed")
    assert (book[name].status, book[name].rule) == ("rejected", "S1-failed-test")
