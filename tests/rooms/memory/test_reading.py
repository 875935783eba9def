"""What can be asked of memory through an open gate: recall, explain, what_if, supports, as of, diff, export."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tallystick.gate.session import Session
from tallystick.rooms.memory.recall import listings, text_index
from tallystick.rooms.memory.recall.answers import TOKENS, RecallRequest
from tallystick.rooms.memory.times import stamp_of
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import DAY, Remembering


def ask(memory: Remembering, query: str = "", **more: Any) -> dict[str, Any]:
    return memory.room.queries.ask(query=query, now=memory.now, **more).as_dict()


def seq(memory: Remembering) -> int:
    return memory.gate.ledger.size() - 1


def accepted(memory: Remembering, fact: str = "Ada lives_in Lisbon", number: int = 4) -> str:
    name = ""
    for at in range(number):
        name = memory.propose(memory.observe(f"{fact}, letter {at}", f"post {at}"), fact=fact)
    return name


@pytest.mark.promise("reading.recall")
def test_facts_come_with_their_standing_and_texts_word_for_word(memory: Remembering) -> None:
    memory.propose(memory.observe("Ada lives in Lisbon."))
    found = ask(memory, "Where does Ada live?")
    fact, passage = found["facts"][0], found["passages"][0]
    assert (fact["subject"], fact["object"], fact["status"]) == ("Ada", "Lisbon", "provisional")
    assert fact["label"].startswith("provisional")
    assert passage["text"] == "Ada lives in Lisbon."
    assert memory.gate.ledger.find(passage["receipt_id"]) is not None
    assert found["doubt"] is None


@pytest.mark.promise("reading.recall")
def test_what_is_to_be_relied_on_comes_first(memory: Remembering) -> None:
    memory.propose(memory.observe("Ada lives in Porto."), fact="Ada lives_in Porto")
    accepted(memory)
    found = ask(memory, "Where does Ada live?")
    assert [fact["status"] for fact in found["facts"]] == ["accepted", "provisional"]


@pytest.mark.promise("reading.recall")
def test_facts_are_found_by_entity_predicate_and_valid_time(memory: Remembering) -> None:
    memory.propose(memory.observe("one"), fact="Ada lives_in Lisbon", valid_to="2023-01-01")
    memory.propose(memory.observe("two"), fact="Ada lives_in Porto", valid_from="2023-01-01")
    memory.propose(memory.observe("three"), fact="Ada likes tea")
    memory.propose(memory.observe("four"), fact="Adam likes tea")

    def about(**wanted: Any) -> set[str]:
        return objects(ask(memory, **wanted))

    assert about(entity="ada") == {"Lisbon", "Porto", "tea"}
    assert about(entity="Ada", predicate="lives in") == {"Lisbon", "Porto"}
    assert about(entity="Ada", predicate="lives_in", valid_at=1_600_000_000) == {"Lisbon"}
    assert about(entity="Ada", predicate="lives_in", valid_at=1_700_000_000) == {"Porto"}
    assert about(entity="nobody") == set()
    assert ask(memory, entity="nobody")["doubt"] == "nothing_found"


def objects(found: dict[str, Any]) -> set[str]:
    return {fact["object"] for fact in found["facts"]}


@pytest.mark.promise("reading.recall")
def test_no_fact_about_somebody_is_missed_however_many_there_are(memory: Remembering) -> None:
    seen = memory.observe("Zoe, in her own words.")
    memory.propose(seen, fact="Zoe birthplace Faro")
    for number in range(60):
        memory.propose(seen, fact=f"Zoe likes thing {number}")
    memory.propose(seen, fact="Bob birthplace Rome")
    assert objects(ask(memory, entity="Zoe", predicate="birthplace")) == {"Faro"}
    assert objects(ask(memory, "born", entity="zoe", predicate="Birthplace")) == {"Faro"}
    assert objects(ask(memory, predicate="birthplace")) == {"Faro", "Rome"}
    assert objects(ask(memory, "Zoe", predicate="birthplace")) == {"Faro"}
    assert len(ask(memory, entity="Zoe", limit=50, tokens=8_000)["facts"]) == 50
    before = seq(memory)
    memory.propose(seen, fact="Cleo birthplace Oslo")
    assert objects(ask(memory, predicate="birthplace", as_of_seq=before)) == {"Faro", "Rome"}


@pytest.mark.promise("reading.recall")
@pytest.mark.parametrize("subject", ["The Who", "IT", "Ō", "你好"])
def test_whoever_has_a_name_can_be_asked_for(memory: Remembering, subject: str) -> None:
    made = {"subject": subject, "predicate": "is_from", "object": "London", "observation_ids": [memory.observe("x")]}
    memory.call("propose_proposition", **made).unwrap()
    found = ask(memory, entity=subject.lower())
    assert (objects(found), found["doubt"]) == ({"London"}, None)


@pytest.mark.promise("reading.recall")
def test_an_entity_is_found_by_all_its_names(memory: Remembering) -> None:
    seen = memory.observe("Zoe and Kim were there.")
    memory.propose(seen, fact="Zoe likes tea")
    memory.propose(seen, fact="Zo likes jam")
    memory.propose(seen, fact="Kim likes gin")
    assert objects(ask(memory, entity="Zoe")) == {"tea"}
    before = seq(memory)
    memory.call("create_or_link_entity_candidate", name="Zoe", aliases=["Zo"], observation_ids=[seen]).unwrap()
    for name in ("Zoe", "zo"):
        assert objects(ask(memory, entity=name)) == {"tea", "jam"}
        assert objects(ask(memory, entity=name, predicate="likes")) == {"tea", "jam"}
    # That two may be the same makes them none.
    memory.call("create_or_link_entity_candidate", name="Kim", observation_ids=[seen]).unwrap()
    assert objects(ask(memory, entity="Kim")) == {"gin"}
    assert objects(ask(memory, entity="Zoe", as_of_seq=before)) == {"tea"}


@pytest.mark.promise("reading.budget")
def test_no_more_items_and_tokens_than_asked_for(memory: Remembering) -> None:
    for number in range(30):
        memory.observe(f"The harbour opens at {number}. " + "It is a long story about ships. " * 60, f"s{number}")
    found = ask(memory, "When does the harbour open?")
    assert 0 < len(found["passages"]) <= 10
    assert found["tokens"] <= TOKENS
    assert all("harbour" in passage["text"] and not passage["whole"] for passage in found["passages"])
    assert len(ask(memory, "harbour", limit=2)["passages"]) == 2
    assert ask(memory, "harbour", tokens=60)["tokens"] <= 60


@pytest.mark.promise("reading.doubt")
def test_it_says_when_it_knows_nothing(memory: Remembering) -> None:
    assert ask(memory, "What is the capital of Peru?")["doubt"] == "nothing_found"
    for number in range(12):
        memory.observe(f"The weather in Lisbon was fine, day {number}.", "diary")
    memory.observe("I repaired the old violin of my uncle.", "Ada", "human")
    memory.observe("I have never had an instrument.", "Bob", "human")
    assert ask(memory, "zebra crossing regulations")["doubt"] == "nothing_found"
    assert ask(memory, "zebra crossing regulations in Lisbon")["doubt"] == "hardly_related"
    assert ask(memory, "Which violin did Ada repair?")["doubt"] is None
    assert ask(memory, "Which violin did Bob repair?")["doubt"] == "said_of_another"


@pytest.mark.promise("reading.present")
def test_the_state_is_that_of_the_moment_it_is_asked(memory: Remembering) -> None:
    name = accepted(memory, fact="Ada visits Lisbon")
    assert ask(memory, "Ada Lisbon")["facts"][0]["status"] == "accepted"
    memory.now += 200 * DAY
    fact = ask(memory, "Ada Lisbon")["facts"][0]
    assert (fact["id"], fact["status"], fact["rule"]) == (name, "deprecated", "S6-aged")
    # Nothing was written by looking.
    assert memory.status(name) == "accepted"


@pytest.mark.promise("reading.as-of")
def test_it_can_be_asked_how_things_stood(memory: Remembering) -> None:
    name = memory.propose(memory.observe("Ada lives in Lisbon.", "s0"))
    first = seq(memory)
    for number in range(1, 4):
        memory.propose(memory.observe(f"Ada lives in Lisbon, {number}.", f"s{number}"))
    reading = memory.room.queries
    then = reading.explain(name, as_of_seq=first, now=memory.now)
    now = reading.explain(name, now=memory.now)
    assert then is not None
    assert now is not None
    assert (then["standing"]["status"], then["edges_total"]) == ("provisional", 1)
    assert (now["standing"]["status"], now["edges_total"]) == ("accepted", 4)
    assert reading.explain(name, as_of_seq=0, now=memory.now) is None
    facts = ask(memory, "Ada Lisbon", as_of_seq=first)["facts"]
    assert [fact["status"] for fact in facts] == ["provisional"]
    assert len(ask(memory, "Ada Lisbon", as_of_seq=first)["passages"]) == 1
    assert ask(memory, "Ada Lisbon", as_of_seq=0)["doubt"] == "nothing_found"


@pytest.mark.promise("reading.explain")
def test_an_explanation_leads_from_the_rule_to_the_receipts(memory: Remembering) -> None:
    seen = memory.observe("I met Ada. Ada lives in Lisbon.", "letters")
    name = memory.propose(seen, quotes=[{"observation_id": seen, "quote": "Ada lives in Lisbon."}])
    against = memory.observe("Ada has left Lisbon.", "postman", "human")
    memory.call("attach_contradiction", proposition_id=name, observation_id=against, quote="Ada has left Lisbon.")
    told = memory.room.queries.explain(name, now=memory.now)
    assert told is not None
    assert told["standing"]["words"]
    assert [(edge["stance"], edge["quote"], edge["source"]["id"]) for edge in told["edges"]] == [
        ("contradiction", "Ada has left Lisbon.", "postman"),
        ("support", "Ada lives in Lisbon.", "letters"),
    ]
    for edge in told["edges"]:
        for receipt in (edge["receipt_id"], edge["observation"]["receipt_id"]):
            assert memory.gate.ledger.find(receipt) is not None
    assert [change["after"] for change in told["history"]] == ["provisional", "contested"]
    assert all(change["words"] and change["rule"] for change in told["history"])
    assert told["tests"][0]["proposed_by"] == "policy"
    assert memory.room.queries.explain("prop_none") is None


@pytest.mark.promise("reading.what-if")
def test_it_can_be_asked_how_things_would_stand_without_a_source(memory: Remembering) -> None:
    first = memory.observe("Ada lives in Lisbon, one.", "s1")
    memory.propose(first)
    memory.propose(memory.observe("Ada lives in Lisbon, two.", "s2"))
    name = memory.propose(memory.observe("A summary: Ada lives in Lisbon.", "s3", derived_from=[first]))
    before = memory.bytes()
    reading = memory.room.queries
    told = reading.what_if(name, without="s1", now=memory.now)
    assert told is not None
    assert (told["with"]["status"], told["then"]["status"], told["changes"]) == ("accepted", "provisional", True)
    # What was derived from it has no root then, and weighs as a model's word.
    assert told["then"]["figures"]["support_groups"] == 1
    other = reading.what_if(name, without="nobody", now=memory.now)
    assert other is not None
    assert (other["changes"], other["observations_left_out"]) == (False, [])
    both = reading.what_if(name, without="s1", also=["s2"], now=memory.now)
    assert both is not None
    assert (both["then"]["status"], len(both["observations_left_out"])) == ("tentative", 2)
    assert memory.bytes() == before
    assert reading.what_if("prop_none", without="s1") is None


@pytest.mark.promise("reading.what-if")
def test_without_the_only_source_nothing_is_left(memory: Remembering) -> None:
    name = memory.propose(memory.observe(source="s1"))
    told = memory.room.queries.what_if(name, without="s1", now=memory.now)
    assert told is not None
    assert (told["then"], told["changes"]) == (None, True)


@pytest.mark.promise("reading.what-if")
def test_without_its_rivals_sources_a_contested_fact_stands(memory: Remembering) -> None:
    mine = accepted(memory, "Ada lives_in Lisbon", 3)
    for number in range(2):
        memory.propose(memory.observe(f"Ada lives in Porto {number}", f"rival {number}"), fact="Ada lives_in Porto")
    assert memory.status(mine) == "contested"
    told = memory.room.queries.what_if(mine, without="rival 0", now=memory.now)
    assert told is not None
    assert (told["with"]["status"], told["then"]["status"]) == ("contested", "accepted")


@pytest.mark.promise("reading.supports")
def test_minimal_supports_suffice_and_nothing_can_be_taken_from_them(memory: Remembering) -> None:
    name = accepted(memory, number=4)
    told = memory.room.queries.minimal_supports(name, now=memory.now)
    assert told is not None
    assert told["status"] == "accepted"
    assert {len(each) for each in told["sets"]} == {2}
    assert len(told["sets"]) == 6
    assert all(len(set(sources)) == 2 for sources in told["sources"])
    weak = memory.propose(memory.observe("x", "m", "model_inference"), fact="Ada likes tea")
    none = memory.room.queries.minimal_supports(weak, now=memory.now)
    assert none is not None
    assert none["sets"] == []
    assert memory.room.queries.minimal_supports("prop_none") is None


@pytest.mark.promise("reading.diff")
def test_a_diff_tells_what_changed_and_why(memory: Remembering) -> None:
    memory.propose(memory.observe("Ada lives in Lisbon, 0.", "s0"))
    first = seq(memory)
    for number in range(1, 4):
        memory.propose(memory.observe(f"Ada lives in Lisbon, {number}.", f"s{number}"))
    memory.call("request_consolidation")
    last = seq(memory)
    memory.propose(memory.observe("Bob likes tea."), fact="Bob likes tea")
    told = memory.room.queries.diff(first, last)
    assert told == memory.room.queries.diff(last, first)
    assert (told["observations"], told["added_total"], len(told["promoted"])) == (3, 0, 1)
    assert [(change["before"], change["after"]) for change in told["changed"]] == [("provisional", "accepted")]
    assert told["changed"][0]["words"]
    assert memory.room.queries.diff(last)["added_total"] == 1


@pytest.mark.promise("reading.json-ld")
def test_the_export_names_everything_by_ids_that_are_in_it(memory: Remembering) -> None:
    name = accepted(memory)
    memory.call("request_consolidation")
    document = json.loads(b"".join(memory.room.queries.json_ld(now=memory.now)))
    nodes = {node["id"]: node for node in document["@graph"]}
    assert len(nodes) == len(document["@graph"])
    statement = nodes[f"urn:tallystick:{name}"]
    assert statement["status"] == "accepted"
    assert len(statement["supportedBy"]) == 4
    assert all(seen in nodes for seen in statement["supportedBy"])
    assert all(nodes[seen]["source"] in nodes for seen in statement["supportedBy"])
    assert any(node["type"] == "CanonicalRecord" for node in nodes.values())
    used = {key for node in nodes.values() for key in node} - {"id", "type"}
    assert not {key for key in used if ":" in key and key.split(":")[0] not in document["@context"]}


@pytest.mark.promise("reading.forgets")
def test_an_erased_observation_is_found_no_more(memory: Remembering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "SEGMENT", 2)
    memory.observe("The vault code is swordfish.", "s1")
    for number in range(5):
        memory.observe(f"Something else, {number}.", f"t{number}")
    receipt = ask(memory, "swordfish")["passages"][0]["receipt_id"]
    memory.gate.ledger.erase(receipt, session=Session(session_id="s1"), reason="asked for")
    assert ask(memory, "swordfish")["doubt"] == "nothing_found"
    assert len(ask(memory, "something else")["passages"]) == 5
    for path in (memory.workspace / ".control-room").glob("memory-*.db*"):
        assert b"swordfish" not in path.read_bytes()


@pytest.mark.promise("reading.recall")
def test_another_process_finds_what_was_added_meanwhile(open_memory: Open) -> None:
    one, other = open_memory(), open_memory()
    one.observe("The lighthouse is green.", "s1")
    assert len(ask(one, "lighthouse")["passages"]) == 1
    assert len(ask(other, "lighthouse")["passages"]) == 1
    other.observe("The lighthouse is red.", "s2")
    assert len(ask(one, "lighthouse")["passages"]) == 2


@pytest.mark.promise("reading.tools")
def test_the_tools_read_through_the_gate(memory: Remembering) -> None:
    memory.now = int(datetime.now(UTC).timestamp())
    name = memory.propose(memory.observe("Ada lives in Lisbon.", "s1"))
    found = memory.call("mem.search", timed=False, query="Where does Ada live?", valid_at=stamp_of(memory.now))
    assert found.unwrap()["facts"][0]["id"] == name
    told = memory.call("mem.explain", timed=False, proposition_id=name, without="s1").unwrap()
    assert told["explanation"]["proposition"]["id"] == name
    assert told["what_if"]["then"] is None
    for args in ({}, {"query": "  "}, {"query": "x", "valid_at": "soon"}):
        assert memory.call("mem.search", timed=False, **args).failure is not None
    assert memory.call("mem.explain", timed=False, proposition_id="prop_none").failure is not None
    assert memory.call("mem.search", timed=False, query="x", status="accepted").rejection is not None
    # Reading is no event: it changes nothing.
    assert memory.bytes() == memory.bytes()


@pytest.mark.promise("reading.recall")
def test_the_budget_of_a_wanted_is_the_usual_one() -> None:
    assert (RecallRequest(query="x").limit, RecallRequest(query="x").tokens) == (10, 1000)


@pytest.mark.promise("reading.recall", "reading.doubt")
@pytest.mark.parametrize(
    "query",
    [
        "What is the name of my dog?",
        "What is my brother's name?",
        "What is my cat called?",
        "What is your name?",
        "What is her name?",
    ],
)
def test_what_is_known_of_one_is_no_answer_about_another(memory: Remembering, query: str) -> None:
    seen = memory.observe("My name is Ada.", "owner", "human")
    memory.propose(seen, fact="owner name Ada")
    found = ask(memory, query)
    assert found["facts"] == []
    assert found["doubt"] in {"nothing_found", "hardly_related", "said_of_another"}
    own = ask(memory, "What is my name?")
    assert ([fact["object"] for fact in own["facts"]], own["doubt"]) == (["Ada"], None)
    assert [fact["object"] for fact in ask(memory, "name")["facts"]] == ["Ada"]


@pytest.mark.promise("reading.recall")
def test_a_fact_answers_the_question_about_its_own_subject(memory: Remembering) -> None:
    for subject, thing in (("owner", "Ada"), ("owner's dog", "Rex"), ("Dora", "Dora Lee")):
        seen = memory.observe(f"{subject} is {thing}", "owner", "human")
        memory.call("propose_proposition", subject=subject, predicate="name", object=thing, observation_ids=[seen])

    def objects(query: str) -> list[str]:
        return [fact["object"] for fact in ask(memory, query)["facts"]]

    assert objects("What is my name?") == ["Ada"]
    assert objects("What is the name of my dog?") == ["Rex"]
    assert objects("What is the name of Dora?") == ["Dora Lee"]


@pytest.mark.promise("reading.recall")
def test_who_asks_of_himself_is_found_among_many(memory: Remembering) -> None:
    for number in range(60):
        memory.propose(memory.observe(f"letter {number}", f"s{number}"), fact=f"Person{number} lives_in Town{number}")
        if number == 5:
            memory.propose(memory.observe("I live in Oslo.", "owner", "human"), fact="owner lives_in Oslo")
    found = ask(memory, "Where do I live?")
    assert [(fact["subject"], fact["object"]) for fact in found["facts"]] == [("owner", "Oslo")]
    assert ask(memory, "Where does Dora live?")["facts"] == []


@pytest.mark.promise("reading.doubt")
def test_the_owners_word_on_himself_is_doubted_where_another_is_named(memory: Remembering) -> None:
    memory.propose(memory.observe("I live in Oslo.", "owner", "human"), fact="owner lives_in Oslo")
    assert ask(memory, "Where does Dora live?")["facts"] == []
    assert ask(memory, "Where does Dora live?")["doubt"] is not None
    # What is shown is no «nothing».
    memory.propose(memory.observe("letter", "s1"), fact="Dora works_for Acme")
    assert ask(memory, "Who is the employer of Dora?")["doubt"] is None


@pytest.mark.promise("reading.recall")
def test_an_accepted_fact_is_shown_with_what_it_rests_on_and_repeats_only_once(memory: Remembering) -> None:
    for who in ("catalogue", "test-bench"):
        seen = memory.observe(f"A long report from the {who}, about a lid and a handle. It holds 1.7 litres.", who)
        memory.propose(seen, fact="kettle capacity 1.7")
    for number in range(20):
        seen = memory.observe("The capacity of the kettle is 2.", f"try {number}", "model_inference")
        memory.propose(seen, fact="kettle capacity 2")
    found = ask(memory, "What is the capacity of the kettle?")
    assert [(fact["object"], fact["status"]) for fact in found["facts"]] == [("1.7", "accepted"), ("2", "tentative")]
    assert [(said["class"], said["times"]) for said in found["passages"]] == [
        ("document", 1), ("document", 1), ("model_inference", 20),
    ]  # fmt: skip
    # The same words from another kind of source are another matter.
    memory.observe("The capacity of the kettle is 2.", "Ann", "human")
    again = ask(memory, "What is the capacity of the kettle?")["passages"]
    assert [said["class"] for said in again].count("human") == 1


@pytest.mark.promise("reading.recall")
def test_what_takes_anothers_place_comes_first_unless_it_is_of_a_poorer_kind(memory: Remembering) -> None:
    before = memory.propose(memory.observe("I live in Oslo.", "owner", "human"), fact="owner lives_in Oslo")
    guess = memory.observe("Perhaps Rome.", "m", "model_inference")
    memory.propose(guess, fact="owner lives_in Rome", supersedes=[before])
    facts = ask(memory, "Where do I live?")["facts"]
    assert [(fact["object"], fact["superseded_by"]) for fact in facts] == [("Oslo", None), ("Rome", None)]
    later = memory.observe("I live in Turin.", "owner", "human")
    now = memory.propose(later, fact="owner lives_in Turin", supersedes=[before])
    facts = ask(memory, "Where do I live?")["facts"]
    assert [(fact["object"], fact["superseded_by"]) for fact in facts] == [
        ("Turin", None), ("Rome", None), ("Oslo", now),
    ]  # fmt: skip
    assert facts[-1]["label"].startswith("superseded")


@pytest.mark.promise("reading.one-standing")
def test_every_way_of_reading_says_the_same_of_a_fact_that_gave_way(memory: Remembering) -> None:
    def home(town: str, **more: Any) -> str:
        memory.now += 60
        seen = memory.observe(f"I moved to {town}.", "owner", "human")
        return memory.propose(seen, fact=f"owner lives_in {town}", **more)

    berlin = home("Berlin")
    munich = home("Munich", supersedes=[berlin])
    before = memory.gate.ledger.size() - 1
    back = home("Berlin", supersedes=[munich], valid_from=stamp_of(memory.now))
    for question in ("Where do I live?", "Do I live in Munich?", "Who lives in Munich?"):
        told = {fact["id"]: fact for fact in ask(memory, question)["facts"]}
        assert (told[munich]["superseded_by"], told[munich]["status"]) == (back, "accepted")
        assert told[munich]["label"].startswith("superseded")
        assert "Superseded" in told[munich]["words"]
    reading = memory.room.queries
    explained = reading.explain(munich, now=memory.now)
    assert explained is not None
    assert (explained["superseded_by"], explained["standing"]["label"]) == (back, told[munich]["label"])
    listed, _ = listings.propositions(memory.projection, status=None, subject=None, limit=9, offset=0, now=memory.now)
    assert {one["id"]: one["superseded_by"] for one in listed} == {berlin: munich, munich: back, back: None}
    exported = json.loads(b"".join(reading.json_ld(now=memory.now)))["@graph"]
    assert [node["supersededBy"] for node in exported if node["id"].endswith(munich)] == [f"urn:tallystick:{back}"]
    # What takes its place came later: at the time nothing did.
    then = reading.explain(munich, as_of_seq=before)
    assert then is not None
    assert then["superseded_by"] is None


@pytest.mark.promise("reading.taken-back")
def test_what_was_taken_back_comes_after_what_nothing_speaks_against(memory: Remembering) -> None:
    def work(company: str) -> str:
        memory.now += 60
        seen = memory.observe(f"I work for {company}.", "owner", "human")
        return memory.propose(seen, fact=f"owner works_for {company}")

    def order() -> list[str]:
        return [fact["object"] for fact in ask(memory, "Where do I work?")["facts"]]

    def attach(how: str, name: str, text: str, source: str) -> None:
        memory.now += 60
        seen = memory.observe(text, source, "human")
        memory.call(f"attach_{how}", proposition_id=name, observation_id=seen, quote=text).unwrap()

    siemens = work("Siemens")
    attach("contradiction", siemens, "I don't work for Siemens anymore.", "owner")
    work("Bosch")
    assert memory.status(siemens) == "deprecated"
    assert order() == ["Bosch", "Siemens"]
    # Somebody else still says so: of the owner the owner's own word counts.
    attach("support", siemens, "She works for Siemens, I think.", "Emil")
    assert memory.status(siemens) == "deprecated"
    assert order() == ["Bosch", "Siemens"]
