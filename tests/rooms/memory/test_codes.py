"""Every rejection has one of five codes; nothing of it reaches memory, and all of it stands in the ledger."""

from typing import Any

import pytest

from tallystick.rooms.memory.tools.payloads import MAX_TEXT
from tests.gates import outcomes
from tests.rooms.memory.remembering import DAY, Remembering, stamp_of

OBSERVATION = {
    "text": "Ada lives in Lisbon.",
    "source": {"id": "letters", "class": "document", "group": "letters"},
    "observed_at": "2024-01-01T00:00:00Z",
}
NOBODY = "obs_" + "0" * 32
NOTHING = "prop_" + "0" * 32
PROPOSITION = {"subject": "Ada", "predicate": "lives_in", "object": "Lisbon", "observation_ids": [NOBODY]}


def without(given: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}


@pytest.mark.promise("memory.five-codes")
@pytest.mark.parametrize(
    "tool", ["write_memory", "record_observations", "RECORD_OBSERVATION", "", "propose proposition"]
)
def test_a_tool_that_is_none_of_the_nine_is_an_invalid_tool_name(memory: Remembering, tool: str) -> None:
    assert memory.code(tool, **OBSERVATION) == "INVALID_TOOL_NAME"


@pytest.mark.promise("memory.five-codes", "memory.bad-input")
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("record_observation", without(OBSERVATION, "text")),
        ("record_observation", without(OBSERVATION, "observed_at")),
        ("record_observation", {**OBSERVATION, "text": ""}),
        ("record_observation", {**OBSERVATION, "text": "  \n\t "}),
        ("record_observation", {**OBSERVATION, "text": "x" * (MAX_TEXT + 1)}),
        ("record_observation", {**OBSERVATION, "text": "x" * 1_000_000}),
        ("record_observation", {**OBSERVATION, "text": 7}),
        ("record_observation", {**OBSERVATION, "observed_at": "yesterday"}),
        ("record_observation", {**OBSERVATION, "observed_at": "2024-13-45T00:00:00Z"}),
        ("record_observation", {**OBSERVATION, "observed_at": 1_700_000_000}),
        ("record_observation", {**OBSERVATION, "observed_at": "9999-12-31T23:59:59-23:59"}),
        ("record_observation", {**OBSERVATION, "at": "soon"}),
        ("record_observation", {**OBSERVATION, "source": {"id": "x", "class": "oracle"}}),
        ("record_observation", {**OBSERVATION, "source": {"id": "x"}}),
        ("record_observation", {**OBSERVATION, "source": {"id": "a\x00b", "class": "human"}}),
        ("record_observation", {**OBSERVATION, "weight": 3}),
        ("propose_proposition", {**PROPOSITION, "volatility": "never"}),
        ("propose_proposition", {**PROPOSITION, "class": "poetic"}),
        ("propose_proposition", {**PROPOSITION, "valid_from": "2024-02-01", "valid_to": "2024-01-01"}),
        ("propose_proposition", {**PROPOSITION, "observation_ids": [NOBODY] * 101}),
        ("propose_proposition", without(PROPOSITION, "object")),
        ("attach_support", {"proposition_id": NOTHING, "observation_id": NOBODY}),
        ("execute_test_result_ingest", {"test_id": "x", "result": "maybe", "report": "r", "observed_at": "2024-01-01"}),
        ("archive_episode", {}),
        ("request_consolidation", {"episode_id": 3}),
    ],
)  # fmt: skip
def test_a_payload_that_is_not_as_published_is_invalid(memory: Remembering, tool: str, args: dict[str, Any]) -> None:
    assert memory.code(tool, **args) == "INVALID_PAYLOAD"


@pytest.mark.promise("memory.five-codes", "memory.bad-input")
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("record_observation", without(OBSERVATION, "source")),
        ("record_observation", {**OBSERVATION, "derived_from": [NOBODY]}),
        ("propose_proposition", without(PROPOSITION, "observation_ids")),
        ("propose_proposition", {**PROPOSITION, "observation_ids": []}),
        ("propose_proposition", PROPOSITION),
        ("propose_proposition", {**PROPOSITION, "supersedes": [NOTHING]}),
        ("create_or_link_entity_candidate", {"name": "Ada"}),
        ("create_or_link_entity_candidate", {"name": "Ada", "observation_ids": [NOBODY]}),
        ("attach_support", {"proposition_id": NOTHING, "quote": "x"}),
        ("attach_support", {"proposition_id": NOTHING, "observation_id": NOBODY, "quote": "x"}),
        ("attach_contradiction", {"proposition_id": NOTHING, "observation_id": NOBODY, "quote": "x"}),
        ("propose_test", {"proposition_id": NOTHING, "method": "look", "expectation": "x"}),
        ("propose_test", {"method": "look", "expectation": "x"}),
        ("execute_test_result_ingest", {"test_id": "t", "result": "passed", "report": "r", "observed_at": "2024-01-01"}),
        ("archive_episode", {"episode_id": "never-begun"}),
        ("request_consolidation", {"episode_id": "never-begun"}),
    ],
)  # fmt: skip
def test_what_names_nothing_that_memory_holds_has_no_provenance(
    memory: Remembering, tool: str, args: dict[str, Any]
) -> None:
    assert memory.code(tool, **args) == "MISSING_PROVENANCE"


@pytest.mark.promise("memory.quotes", "memory.bad-input")
@pytest.mark.parametrize(
    "quote", ["Ada lives in Porto", "ada lives in lisbon", "Ada lives in Lis", "lives in Lisbon. She", "…"]
)
def test_a_quote_must_stand_in_its_observation(memory: Remembering, quote: str) -> None:
    seen, other = memory.observe(), memory.observe("Ada moved.", "gossip")
    args = {**PROPOSITION, "observation_ids": [seen], "quotes": [{"observation_id": seen, "quote": quote}]}
    assert memory.code("propose_proposition", **args) == "MISSING_PROVENANCE"
    elsewhere = [{"observation_id": other, "quote": "Ada moved"}]
    assert memory.code("propose_proposition", **{**args, "quotes": elsewhere}) == "MISSING_PROVENANCE"
    name = memory.propose(seen)
    third = memory.observe("Ada lives in Lisbon, again.", "diary")
    for tool in ("attach_support", "attach_contradiction"):
        given = {"proposition_id": name, "observation_id": third, "quote": quote}
        assert memory.code(tool, **given) == "MISSING_PROVENANCE"
    fits = {"proposition_id": name, "observation_id": third, "quote": "Ada  lives in\nLisbon"}
    assert memory.code("attach_support", **fits) is None


@pytest.mark.promise("memory.quotes", "memory.bad-input")
def test_a_false_quote_does_not_pass_beside_a_true_one(memory: Remembering) -> None:
    seen = memory.observe()
    true, false = ({"observation_id": seen, "quote": text} for text in ("lives in Lisbon", "lives in Porto"))
    args = {**PROPOSITION, "observation_ids": [seen]}
    for quotes in ([true, false], [false, true]):
        assert memory.code("propose_proposition", **{**args, "quotes": quotes}) == "MISSING_PROVENANCE"
    both = [true, {**true, "quote": "Ada lives"}]
    assert memory.code("propose_proposition", **{**args, "quotes": both}) is None


@pytest.mark.promise("memory.bad-input")
def test_nobody_says_that_something_is_a_duplicate_but_memory(memory: Remembering) -> None:
    assert memory.code("record_observation", **OBSERVATION, duplicate_of="obs_nothing") == "MISSING_PROVENANCE"
    other = memory.observe("Something else.")
    assert memory.code("record_observation", **OBSERVATION, duplicate_of=other) == "MISSING_PROVENANCE"
    first = memory.call("record_observation", **OBSERVATION).unwrap()
    assert first["duplicate"] is False
    again = memory.call("record_observation", **OBSERVATION, duplicate_of=first["observation_id"]).unwrap()
    assert again == {**first, "duplicate": True}


@pytest.mark.promise("memory.bad-input")
def test_nothing_gets_into_a_closed_episode(memory: Remembering) -> None:
    seen = memory.observe(episode_id="trip")
    memory.call("archive_episode", episode_id="trip").unwrap()
    given = {**PROPOSITION, "observation_ids": [seen]}
    assert memory.code("propose_proposition", **given, episode_id="trip") == "POLICY_VIOLATION"
    made = memory.call("propose_proposition", **given)
    assert (made.status, made.args["episode_id"]) == ("transformed", "default")
    name = made.unwrap()["proposition_id"]
    assert memory.projection.ask(lambda state: getattr(state.propositions.get(name), "episode_id", None)) == "default"


@pytest.mark.promise("memory.rivals", "memory.bad-input")
def test_nothing_takes_the_place_of_what_is_about_something_else(memory: Remembering) -> None:
    seen, more = memory.observe(), memory.observe("Ada likes tea.", "diary")
    name = memory.propose(seen)
    for fact in ({"predicate": "likes"}, {"subject": "Bob"}):
        args = {**PROPOSITION, **fact, "observation_ids": [more], "supersedes": [name]}
        assert memory.code("propose_proposition", **args) == "POLICY_VIOLATION"


@pytest.mark.promise("memory.five-codes", "memory.bad-input")
def test_what_policy_forbids_is_a_violation(memory: Remembering) -> None:
    seen = memory.observe(episode_id="trip")
    name = memory.propose(seen)
    quote = {"proposition_id": name, "observation_id": seen, "quote": "Ada lives in Lisbon"}
    # The same observation twice, on either side, or as a proposition that was made of it.
    assert memory.code("attach_support", **quote) == "POLICY_VIOLATION"
    assert memory.code("attach_contradiction", **quote) == "POLICY_VIOLATION"
    assert memory.code("propose_proposition", **{**PROPOSITION, "observation_ids": [seen]}) == "POLICY_VIOLATION"
    # What speaks against it does not come over to the other side in the company of something new.
    against, new = memory.observe("Ada never lived in Lisbon.", "b"), memory.observe("Ada? In Lisbon.", "c")
    memory.call("attach_contradiction", proposition_id=name, observation_id=against, quote="Ada never").unwrap()
    for ids in ([against], [against, new]):
        given = {**PROPOSITION, "observation_ids": ids}
        assert memory.code("propose_proposition", **given) == "POLICY_VIOLATION"
    assert memory.code("propose_proposition", **{**PROPOSITION, "observation_ids": [seen, new]}) is None
    # A test result that comes without a test.
    claimed = {**OBSERVATION, "source": {"id": "lab", "class": "test_result"}}
    assert memory.code("record_observation", **claimed) == "POLICY_VIOLATION"
    # Log time going back, or running ahead of the clock.
    assert memory.code("record_observation", **OBSERVATION, at="2023-12-31T23:59:59Z") == "POLICY_VIOLATION"
    assert memory.code("record_observation", **OBSERVATION, at="2999-01-01T00:00:00Z") == "POLICY_VIOLATION"
    # What was observed may lie in the past, but not ahead.
    assert memory.code("record_observation", **{**OBSERVATION, "observed_at": "1815-12-10"}) is None
    ahead = {**OBSERVATION, "observed_at": stamp_of(memory.now + DAY)}
    assert memory.code("record_observation", **ahead) == "POLICY_VIOLATION"
    # A closed episode; the one that never ends.
    assert memory.code("archive_episode", episode_id="default") == "POLICY_VIOLATION"
    assert memory.code("archive_episode", episode_id="trip") is None
    for tool, args in (
        ("record_observation", {**OBSERVATION, "text": "late", "episode_id": "trip"}),
        ("archive_episode", {"episode_id": "trip"}),
        ("request_consolidation", {"episode_id": "trip"}),
    ):
        assert memory.code(tool, **args) == "POLICY_VIOLATION"


@pytest.mark.promise("memory.bad-input")
def test_a_clock_that_was_set_back_writes_nothing(memory: Remembering, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.observe()
    monkeypatch.setattr(memory.gate._parts, "now_ms", lambda: (memory.now - DAY) * 1000)
    assert memory.code("record_observation", **{**OBSERVATION, "text": "x"}, timed=False) == "POLICY_VIOLATION"
    monkeypatch.setattr(memory.gate._parts, "now_ms", lambda: memory.now * 1000)
    assert memory.code("record_observation", **{**OBSERVATION, "text": "x"}, timed=False) is None


@pytest.mark.promise("memory.tests-matter")
def test_there_is_no_test_of_what_nobody_doubts(memory: Remembering) -> None:
    seen = [memory.observe(f"Ada lives in Lisbon, says {who}.", who) for who in ("diary", "letters")]
    name = memory.propose(*seen)
    assert memory.status(name) == "accepted"
    asked = {"proposition_id": name, "method": "ask her", "expectation": "she says so"}
    assert memory.code("propose_test", **asked) == "POLICY_VIOLATION"
    against = memory.observe("Ada lives in Porto.", "gossip")
    quote = "Ada lives in Porto"
    assert memory.code("attach_contradiction", proposition_id=name, observation_id=against, quote=quote) is None
    assert memory.code("propose_test", **asked) is None


@pytest.mark.promise("memory.tests-matter")
def test_what_grew_old_can_be_tested_though_nothing_has_touched_it_since(memory: Remembering) -> None:
    seen = [memory.observe(f"Ada is in Lisbon, says {who}.", who) for who in ("diary", "letters")]
    name = memory.propose(*seen, fact="Ada is_in Lisbon", volatility="high")
    asked = {"proposition_id": name, "method": "ask her", "expectation": "she says so"}
    assert memory.code("propose_test", **asked) == "POLICY_VIOLATION"
    memory.now += 30 * DAY
    assert memory.status(name) == "accepted"
    assert memory.code("propose_test", **asked) is None


@pytest.mark.promise("memory.tests")
@pytest.mark.parametrize("discriminating", [True, False])
def test_a_test_may_say_whether_it_tells(memory: Remembering, *, discriminating: bool) -> None:
    name = memory.propose(memory.observe())
    asked = {"proposition_id": name, "method": "ask her", "expectation": "she says so"}
    test = memory.call("propose_test", **asked, discriminating=discriminating).unwrap()["test_id"]
    told = {"test_id": test, "result": "failed", "report": "She says no.", "observed_at": stamp_of(memory.now)}
    assert memory.code("execute_test_result_ingest", **told, proposition_id=NOTHING) == "MISSING_PROVENANCE"
    assert memory.code("execute_test_result_ingest", **told) is None
    assert (memory.status(name) == "rejected") is discriminating


@pytest.mark.promise("memory.owned-keys", "memory.five-codes")
@pytest.mark.parametrize(
    "key",
    ["status", "state", "confidence", "score", "tier", "canonical", "promote", "direct_write", "Status", "STATE",
     " score ", "direct-write", "Direct Write", "directWrite", "isCanonical", "canonical_id", "belief"],
)  # fmt: skip
def test_a_field_of_policys_is_refused_at_any_depth(memory: Remembering, key: str) -> None:
    for args in (
        {**OBSERVATION, key: "accepted"},
        {**OBSERVATION, "source": {**OBSERVATION["source"], key: 1}},
        {**OBSERVATION, "extra": [{"a": [{"b": {key: None}}]}]},
    ):
        assert memory.code("record_observation", **args) == "DIRECT_CANONICAL_WRITE_FORBIDDEN"
    quotes = [{"observation_id": NOBODY, "quote": "x", key: True}]
    assert memory.code("propose_proposition", **PROPOSITION, quotes=quotes) == "DIRECT_CANONICAL_WRITE_FORBIDDEN"
    for tool in ("attach_support", "propose_test", "archive_episode", "request_consolidation"):
        assert memory.code(tool, **{key: "x"}) == "DIRECT_CANONICAL_WRITE_FORBIDDEN"


@pytest.mark.promise("memory.rejected-changes-nothing")
def test_a_rejected_proposal_changes_no_byte_of_memory_and_is_in_the_ledger(memory: Remembering) -> None:
    seen = memory.observe()
    name = memory.propose(seen)
    before, count = memory.bytes(), len(outcomes(memory.gate))
    refused = [
        ("no_such_tool", {}),
        ("record_observation", {**OBSERVATION, "status": "accepted"}),
        ("record_observation", {**OBSERVATION, "text": ""}),
        ("record_observation", {**OBSERVATION, "derived_from": [NOBODY]}),
        ("record_observation", {**OBSERVATION, "at": "2020-01-01"}),
        ("attach_support", {"proposition_id": name, "observation_id": seen, "quote": "Ada"}),
        ("attach_contradiction", {"proposition_id": name, "observation_id": NOBODY, "quote": "Ada"}),
        ("execute_test_result_ingest", {"test_id": "t", "result": "failed", "report": "r", "observed_at": "2024-01-01"}),
    ]  # fmt: skip
    for tool, args in refused:
        assert memory.call(tool, **args).status == "rejected"
    assert memory.bytes() == before
    recorded = outcomes(memory.gate)[count:]
    assert [receipt.header["outcome"]["status"] for receipt in recorded] == ["rejected"] * len(refused)
    assert all(receipt.header["outcome"]["code"] for receipt in recorded)


@pytest.mark.promise("memory.transformed")
def test_what_is_put_into_one_form_is_transformed_and_stored_so(memory: Remembering) -> None:
    first = memory.observe("Ada lives in Lisbon.")
    same = memory.call(
        "record_observation",
        text="  Ada lives in Lisbon.\r\n", observed_at="2024-01-01T01:00:00+01:00",
        source={"id": "letters", "class": "document", "group": "letters"},
    )  # fmt: skip
    assert same.status == "transformed"
    assert same.args is not None
    assert (same.args["text"], same.args["observed_at"]) == ("Ada lives in Lisbon.", "2024-01-01T00:00:00Z")
    assert (same.args["duplicate_of"], same.result["observation_id"]) == (first, first)
    second = memory.observe("Cafe\u0301", "menu")
    made = memory.call(
        "propose_proposition", subject=" Ada  L. ", predicate="Likes-To drink", object="Caf\u00e9",
        observation_ids=[second, first, second],
    )  # fmt: skip
    assert made.status == "transformed"
    assert made.args is not None
    assert made.args["observation_ids"] == sorted([first, second])
    assert (made.args["subject"], made.args["predicate"]) == ("Ada L.", "likes_to_drink")
    assert memory.call("request_consolidation").status == "accepted"


@pytest.mark.promise("memory.bad-input")
def test_nothing_is_derived_from_itself(memory: Remembering) -> None:
    """An id is the hash of what it names, its parents among it: a circle would have to know its own hash."""
    first = memory.observe()
    child = memory.observe("In short: Lisbon.", "model", "model_inference", derived_from=[first])
    again = memory.observe(derived_from=[child])
    assert len({first, child, again}) == 3
    assert memory.code("record_observation", **OBSERVATION, derived_from=[NOBODY, first]) == "MISSING_PROVENANCE"
