"""`/api/memory/…`: the seed's proposal in, the seed's outcome out."""

import re
from typing import Any

import pytest

from tests.doors.http.doorway import Doorway, problem
from tests.doors.http.talking import call, finish, serve_agent
from tests.scripted_server import Says, ScriptedServer, Seen, Status

PATH = "/api/memory/proposals"


def observation(text: str = "Ada lives in Lisbon.", source: str = "letters", **more: Any) -> dict[str, Any]:
    payload = {
        "text": text, "source": {"id": source, "class": "document", "group": source},
        "observed_at": "2024-01-01T00:00:00Z", **more,
    }  # fmt: skip
    return {"tool_name": "record_observation", "payload": payload}


@pytest.mark.promise("memory.http")
def test_a_proposal_is_accepted_and_memory_holds_it(door: Doorway) -> None:
    seen = [door.post(PATH, observation(f"Ada lives in Lisbon, {who}.", who)).json() for who in ("diary", "letters")]
    assert [one["status"] for one in seen] == ["accepted", "accepted"]
    assert seen[0]["proposal"]["tool_name"] == "record_observation"
    ids = [one["result"]["observation_id"] for one in seen]
    made = door.post(
        PATH,
        {
            "tool_name": "propose_proposition",
            "payload": {"subject": "Ada", "predicate": "born on", "object": "Lisbon", "observation_ids": ids},
        },
    ).json()
    assert made["status"] == "transformed"
    assert made["proposal"]["payload"]["predicate"] == "born_on"
    name = made["result"]["proposition_id"]
    shown = door.get(f"/api/memory/propositions/{name}").json()
    assert (shown["id"], shown["status"], shown["figures"]["support_groups"]) == (name, "accepted", 2)
    listed = door.get("/api/memory/propositions?status=accepted&subject=ADA").json()
    assert (listed["total"], listed["items"][0]["id"]) == (1, name)
    assert door.get("/api/memory/propositions?status=rejected").json()["total"] == 0
    status = door.get("/api/memory/status").json()
    assert (status["counts"]["observations"], status["states"]["accepted"]) == (2, 1)


MANY = f"{PATH}/many"


@pytest.mark.promise("memory.lists", "memory.http")
def test_a_list_is_proposed_in_order_and_every_one_is_answered(door: Doorway) -> None:
    listed = [observation(f"Ada lives in Lisbon, {who}.", who) for who in ("diary", "letters")]
    ids = [one["result"]["observation_id"] for one in door.post(MANY, {"proposals": listed}).json()["outcomes"]]
    fact = {"subject": "Ada", "predicate": "born_on", "object": "Lisbon"}
    more = observation("It was sunny.", "diary")
    told = door.post(
        MANY,
        {
            "proposals": [
                more,
                {"tool_name": "propose_proposition", "payload": {**fact, "observation_ids": ids}},
                {"tool_name": "file_reader", "payload": {}},
                {"tool_name": "propose_proposition", "payload": {**fact, "observation_ids": ["obs_none"]}},
                {"tool_name": "record_observation", "payload": {**more["payload"], "status": "accepted"}},
                more,
            ],
            "session": "import-1",
        },
    ).json()["outcomes"]
    statuses = [one["status"] for one in told]
    assert statuses == ["accepted", "transformed", "rejected", "rejected", "rejected", "transformed"]
    assert [one["rejection"]["code"] for one in told if one["status"] == "rejected"] == [
        "INVALID_TOOL_NAME", "MISSING_PROVENANCE", "DIRECT_CANONICAL_WRITE_FORBIDDEN",
    ]  # fmt: skip
    assert len({one["receipt_id"] for one in told}) == len(told)
    name = told[1]["result"]["proposition_id"]
    assert door.get(f"/api/memory/propositions/{name}").json()["status"] == "accepted"
    receipts = door.get("/api/audit/sessions/import-1/receipts").json()
    outcomes = {one["receipt_id"] for one in receipts["items"] if one["kind"] == "outcome"}
    assert {one["receipt_id"] for one in told} <= outcomes


@pytest.mark.promise("memory.lists")
@pytest.mark.parametrize("body", [{}, {"proposals": []}, {"proposals": [{"tool_name": "x"}]}, [observation()]])
def test_what_is_no_list_of_proposals_proposes_nothing(door: Doorway, body: Any) -> None:
    problem(door.post(MANY, body), 400, "validation_error")
    assert door.get("/api/memory/status").json()["counts"]["observations"] == 0


@pytest.mark.promise("memory.lists")
def test_a_list_in_an_agents_name_is_that_agents_word(door: Doorway) -> None:
    body = {"proposals": [observation("My name is Ada.", "owner")], "agent": "mallory"}
    (told,) = door.post(MANY, body).json()["outcomes"]
    shown = door.get(f"/api/memory/observations/{told['result']['observation_id']}").json()
    assert (shown["agent"], shown["weighed_as"]) == ("mallory", "tool_external")


@pytest.mark.promise("memory.http", "reading.present")
def test_a_proposition_has_one_form_and_its_present_standing_wherever_it_is_read(door: Doorway) -> None:
    # Observed long ago, proposed now: weighed at the log's time, read at the present one.
    old = "2024-01-01T00:00:00Z"
    given = [observation(f"Ada is in Lisbon, {who}.", who, at=old) for who in ("diary", "letters")]
    ids = [door.post(PATH, one).json()["result"]["observation_id"] for one in given]
    claim = {"subject": "Ada", "predicate": "is_in", "object": "Lisbon", "volatility": "high", "at": old}
    made = door.post(PATH, {"tool_name": "propose_proposition", "payload": {**claim, "observation_ids": ids}}).json()
    name = made["result"]["proposition_id"]
    one = door.get(f"/api/memory/propositions/{name}").json()
    (listed,) = door.get("/api/memory/propositions").json()["items"]
    (fact,) = door.get("/api/memory/recall", params={"query": "Ada Lisbon"}).json()["facts"]
    told = door.get(f"/api/memory/propositions/{name}/explain").json()
    said = {**told["proposition"], **told["standing"]}
    for shown in (one, listed, fact):
        same = {key: value for key, value in shown.items() if key in said and key != "at"}
        assert same == {key: said[key] for key in same}
        assert (shown["class"], shown["status"]) == ("descriptive", "deprecated")
        assert "kind" not in shown
    assert one["last_weighed"] == {"status": "accepted", "at": old}
    status = door.get("/api/memory/status").json()
    assert (status["states"]["accepted"], status["due"]) == (1, 1)


@pytest.mark.promise("memory.http")
def test_everything_memory_holds_can_be_listed(door: Doorway) -> None:
    seen = [
        door.post(PATH, observation(f"Ada, {at}. " + "x" * 700, "letters", episode_id="trip")).json() for at in range(3)
    ]
    ids = [one["result"]["observation_id"] for one in seen]
    entity = {"name": "Ada", "aliases": ["A. L."], "observation_ids": ids[:1]}
    door.post(PATH, {"tool_name": "create_or_link_entity_candidate", "payload": entity})
    claim = {"subject": "Ada", "predicate": "likes", "object": "tea", "observation_ids": ids[:1]}
    made = door.post(PATH, {"tool_name": "propose_proposition", "payload": claim}).json()["result"]
    door.post(PATH, {"tool_name": "propose_test", "payload": {**made, "method": "ask", "expectation": "yes"}})

    def items(name: str, **params: Any) -> list[dict[str, Any]]:
        found = door.get(f"/api/memory/{name}", params=params).json()
        assert found.keys() == {"items", "total", "limit", "offset"}
        shown: list[dict[str, Any]] = found["items"]
        return shown

    assert [one["id"] for one in items("observations", limit=2)] == ids[:0:-1]
    assert [(one["name"], one["aliases"]) for one in items("entities")] == [("Ada", ["A. L."])]
    assert [(one["id"], one["closed_at"]) for one in items("episodes")] == [("trip", None)]
    assert [(one["id"], one["classes"]) for one in items("sources")] == [("letters", ["document"])]
    (test,) = items("tests")
    assert (test["method"], test["result"], test["at"][-1]) == ("ask", None, "Z")
    (cut,) = items("observations", offset=2)
    whole = door.get(f"/api/memory/observations/{cut['id']}").json()
    assert (cut["truncated"], whole["truncated"], whole["text"][:600]) == (True, False, cut["text"])
    problem(door.get("/api/memory/observations/obs_0"), 404, "validation_error")


SOLD = "Ann sold the mill to Bob."


def reads(seen: Seen, quote: str) -> Any:
    """A model that proposes what it was shown, with this quote."""
    name = re.findall(r"obs_[0-9a-f]{32}", seen.text)[-1]
    claim = {"subject": "Bob", "predicate": "owns", "object": "the mill", "observation_ids": [name]}
    args = {**claim, "quotes": [{"observation_id": name, "quote": quote}]}
    words = call("propose_proposition", args).words
    assert callable(words)
    return words(seen)


@pytest.mark.promise("memory.http", "reading.scribe")
def test_a_text_is_recorded_and_read_by_an_agents_model(door: Doorway) -> None:
    told = {"text": SOLD, "source": "diary", "class": "human", "agent": "critic"}
    script = [Says(lambda seen: reads(seen, "sold the mill to Bob")), finish(), Says("Done.")]
    with ScriptedServer(*script) as server:
        serve_agent(door.workspace, server)
        made = door.post("/api/memory/texts", told).json()
    assert (made["refusals"], made["unheard"], len(made["observation_ids"])) == ([], None, 1)
    (name,) = made["proposition_ids"]
    explained = door.get(f"/api/memory/propositions/{name}/explain").json()
    assert explained["edges"][0]["quote"] == "sold the mill to Bob"
    # The text is whose it is; the proposal is the agent's.
    seen = door.gate.ledger.find(explained["edges"][0]["observation"]["receipt_id"])
    said = door.gate.ledger.find(explained["proposition"]["receipt_id"])
    assert seen is not None
    assert said is not None
    assert (seen.header.get("agent_id"), said.header["agent_id"]) == (None, "critic")


@pytest.mark.promise("memory.http", "reading.scribe", "memory.quotes")
def test_a_model_that_makes_up_its_quote_or_falls_silent_leaves_the_text_recorded(door: Doorway) -> None:
    told = {"text": SOLD, "source": "diary", "class": "human", "agent": "critic"}
    with ScriptedServer(Says(lambda seen: reads(seen, "gave the mill to Bob")), always=Status(500)) as server:
        serve_agent(door.workspace, server)
        made = door.post("/api/memory/texts", told).json()
    assert (len(made["observation_ids"]), made["proposition_ids"]) == (1, [])
    assert "MISSING_PROVENANCE" in {one["code"] for one in made["refusals"]}
    with ScriptedServer(always=Status(500)) as server:
        serve_agent(door.workspace, server)
        made = door.post("/api/memory/texts", {**told, "text": "Ann sold the boat."}).json()
    assert (len(made["observation_ids"]), made["unheard"]["code"]) == (1, "endpoint_failed")


@pytest.mark.promise("memory.http", "reading.scribe")
def test_without_an_agent_rules_read_a_text_and_without_a_model_nobody_does(door: Doorway) -> None:
    told = {"text": "Carol lives in Rome.", "source": "diary", "class": "human"}
    made = door.post("/api/memory/texts", told).json()
    assert (len(made["observation_ids"]), len(made["proposition_ids"])) == (1, 1)
    for agent, status in (("critic", 409), ("nobody", 404)):
        assert door.post("/api/memory/texts", {**told, "agent": agent}).status_code == status
    problem(door.post("/api/memory/texts", {**told, "text": "  "}), 400, "validation_error")
    assert door.get("/api/memory/status").json()["counts"]["observations"] == 1


@pytest.mark.promise("memory.http", "memory.five-codes")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"tool_name": "write_canonical", "payload": {}}, "INVALID_TOOL_NAME"),
        ({"tool_name": "file_reader", "payload": {"file_path": "x"}}, "INVALID_TOOL_NAME"),
        ({"tool_name": "record_observation", "payload": {}}, "MISSING_PROVENANCE"),
        (observation(text=""), "INVALID_PAYLOAD"),
        ({"tool_name": "record_observation"}, "INVALID_PAYLOAD"),
        ({"tool_name": 7, "payload": {}}, "INVALID_PAYLOAD"),
        (observation(status="accepted"), "DIRECT_CANONICAL_WRITE_FORBIDDEN"),
        (observation(at="1990-01-01"), "POLICY_VIOLATION"),
    ],
)
def test_a_refusal_has_one_of_the_five_codes_and_a_receipt(door: Doorway, body: dict[str, Any], code: str) -> None:
    door.post(PATH, observation("First.")).json()
    answer = door.post(PATH, body)
    assert answer.status_code in {400, 404}
    refused = answer.json()
    assert refused["status"] == "rejected"
    assert refused["rejection"]["code"] == code
    assert refused["rejection"]["reason"]
    receipt = door.gate.ledger.find(refused["receipt_id"])
    assert receipt is not None
    assert receipt.header["outcome"]["status"] == "rejected"


@pytest.mark.promise("memory.http")
def test_what_is_not_there_and_whoever_has_no_token_is_told_so(door: Doorway, locked: Doorway) -> None:
    problem(door.get("/api/memory/propositions/prop_0"), 404, "validation_error")
    problem(door.get("/api/memory/propositions?status=true"), 400, "validation_error")
    assert locked.post(PATH, observation()).status_code == 401
    for path in (
        "status", "propositions", "propositions/prop_0", "observations", "observations/obs_0", "entities", "tests",
        "episodes", "sources",
    ):  # fmt: skip
        assert locked.get(f"/api/memory/{path}").status_code == 401
