"""Who calls decides what a source may claim to be, and how many independent sources there are."""

import random
from typing import Any

import pytest

from tests.doors.http.doorway import Doorway, bearer
from tests.sizes import size

PATH = "/api/memory/proposals"
OLD = "2024-01-01T00:00:00Z"
FACT = {"subject": "Mallory", "predicate": "owns", "object": "the mill", "volatility": "static"}


def propose(door: Doorway, who: dict[str, str], tool: str, **payload: Any) -> Any:
    answer = door.post(PATH, {"tool_name": tool, "payload": payload}, headers=who)
    assert answer.status_code in {200, 400}, answer.text
    return answer.json()


def observe(door: Doorway, who: dict[str, str], source: str, kind: str = "human", text: str = "", **more: Any) -> Any:
    words = text or f"Mallory owns the mill, says {source}."
    return propose(
        door, who, "record_observation", text=words, source={"id": source, "class": kind}, observed_at=OLD, **more
    )


def status(door: Doorway, told: Any) -> str:
    name = told["result"]["proposition_id"]
    found: str = door.get(f"/api/memory/propositions/{name}", headers=bearer("viewer")).json()["status"]
    return found


def stored(door: Doorway, told: Any) -> dict[str, Any]:
    name = told["result"]["observation_id"]
    found: dict[str, Any] = door.get(f"/api/memory/observations/{name}", headers=bearer("viewer")).json()
    return found


def fact(door: Doorway, who: dict[str, str], *seen: Any) -> Any:
    ids = [one["result"]["observation_id"] for one in seen]
    return propose(door, who, "propose_proposition", **FACT, observation_ids=ids)


@pytest.mark.promise("memory.source-identity")
@pytest.mark.parametrize("role", ["agent", "admin", "person"])
def test_two_people_that_one_token_made_up_do_not_make_a_fact(locked: Doorway, role: str) -> None:
    who = bearer(role, subject="mallory")
    seen = [observe(locked, who, source) for source in ("ann", "bob", "cyd")]
    assert status(locked, fact(locked, who, *seen)) != "accepted"
    assert {tuple(stored(locked, one)["groups"]) for one in seen} == {("caller:mallory",)}


@pytest.mark.promise("memory.source-identity")
def test_a_class_that_the_caller_may_not_claim_is_capped_and_the_receipt_says_why(locked: Doorway) -> None:
    told = observe(locked, bearer("agent", subject="robot"), "ann")
    assert told["status"] == "transformed"
    assert told["proposal"]["payload"]["source"] == {"id": "ann", "class": "tool_external", "group": "caller:robot"}
    seen = stored(locked, told)
    assert (seen["claimed_class"], seen["weighed_as"]) == ("tool_external", "tool_external")
    receipt = locked.gate.ledger.find(told["receipt_id"])
    assert receipt is not None
    outcome = receipt.header["outcome"]
    assert outcome["status"] == "transformed"
    assert outcome["reason"] == "the caller may not claim this class of source"
    assert outcome["pointer"] == "/source/class"
    assert receipt.inputs is not None
    assert receipt.inputs["args"]["source"]["class"] == "human"
    low = stored(locked, observe(locked, bearer("agent", subject="robot"), "guess", "model_inference"))
    assert low["claimed_class"] == "model_inference"


@pytest.mark.promise("memory.source-identity")
@pytest.mark.parametrize(
    "subject", ["ghp_" + "a1B2" * 9, "auth0|5f7c8ec7c33c6c004bbafe82", "x" * 256, "Ада Л.", "a  b"]
)
def test_a_caller_of_any_name_is_recorded_under_the_id_that_is_answered(locked: Doorway, subject: str) -> None:
    told = observe(locked, bearer("person", subject=subject), "me")
    (group,) = stored(locked, told)["groups"]
    assert group == told["proposal"]["payload"]["source"]["group"]
    assert "ghp_" not in group


@pytest.mark.promise("memory.source-identity")
def test_an_agent_is_capped_under_every_identity(locked: Doorway, door: Doorway) -> None:
    person = bearer("person", subject="ada")
    body = {"text": "Mallory owns the mill.", "source": {"id": "ada", "class": "human"}, "observed_at": OLD}
    asked = {"tool_name": "record_observation", "payload": body, "agent": "helper"}
    for where, headers in ((locked, person), (door, {})):
        told = where.post(PATH, asked, headers=headers).json()
        assert told["status"] == "transformed"
        assert told["proposal"]["payload"]["source"]["class"] == "tool_external"


@pytest.mark.promise("memory.source-identity")
def test_two_authenticated_people_corroborate_each_other(locked: Doorway) -> None:
    ada, bob = bearer("person", subject="ada"), bearer("person", subject="bob")
    # The same words of the same source: they differ in who says them.
    seen = [observe(locked, who, "me", text="Mallory owns the mill.") for who in (ada, bob)]
    assert [stored(locked, one)["weighed_as"] for one in seen] == ["human", "human"]
    assert [stored(locked, one)["groups"] for one in seen] == [["caller:ada"], ["caller:bob"]]
    assert status(locked, fact(locked, bob, *seen)) == "accepted"


@pytest.mark.promise("memory.source-identity", "memory.owner")
def test_the_owner_says_what_it_said_before(door: Doorway) -> None:
    payload = {"text": "My name is Ada.", "source": {"id": "owner", "class": "human"}, "observed_at": OLD}
    seen = door.post(PATH, {"tool_name": "record_observation", "payload": payload}).json()
    assert seen["status"] == "accepted"
    claim = {"subject": "owner", "predicate": "name", "object": "Ada"}
    ids = [seen["result"]["observation_id"]]
    made = door.post(PATH, {"tool_name": "propose_proposition", "payload": {**claim, "observation_ids": ids}}).json()
    name = made["result"]["proposition_id"]
    assert door.get(f"/api/memory/propositions/{name}").json()["status"] == "accepted"
    two = [door.post(PATH, {"tool_name": "record_observation", "payload": {
        "text": f"Mallory owns the mill, says {who}.", "source": {"id": who, "class": "human"}, "observed_at": OLD,
    }}).json() for who in ("ann", "bob")]  # fmt: skip
    assert [one["status"] for one in two] == ["accepted", "accepted"]
    ids = [one["result"]["observation_id"] for one in two]
    made = door.post(PATH, {"tool_name": "propose_proposition", "payload": {**FACT, "observation_ids": ids}}).json()
    name = made["result"]["proposition_id"]
    assert door.get(f"/api/memory/propositions/{name}").json()["status"] == "accepted"


@pytest.mark.promise("memory.source-identity")
def test_no_sequence_of_proposals_by_one_token_makes_an_accepted_fact(locked: Doorway) -> None:
    ada, bob = bearer("person", subject="ada"), bearer("person", subject="bob")
    others = [observe(locked, who, "diary", text="It rained on Monday.") for who in (ada, bob)]
    for number in range(size(6, 60)):
        chance = random.Random(number)
        who = bearer(chance.choice(["agent", "person", "admin"]), subject=f"mallory-{number}")
        _attack(locked, who, chance, [one["result"]["observation_id"] for one in others], f"mill {number}")
    listed = locked.get("/api/memory/propositions?status=accepted", headers=bearer("viewer")).json()
    assert listed["items"] == []


def _attack(door: Doorway, who: dict[str, str], chance: random.Random, ids: list[str], what: str) -> None:
    """Everything one caller can do to be believed: sources, classes, groups, agents, summaries, tests, citations."""
    ids, claims, tests = list(ids), list[str](), list[str]()
    for step in range(size(25, 60)):
        act = chance.choice(["observe", "observe", "derive", "claim", "support", "test", "pass", "consolidate"])
        if act in {"observe", "derive"}:
            source = {"id": chance.choice(["ann", "bob", "owner", "local"]), "class": chance.choice(CLASSES)}
            if chance.random() < 0.5:
                source["group"] = chance.choice(["caller:ada", "caller:bob", "agent:x", f"g{step}"])
            more = {"derived_from": chance.sample(ids, min(2, len(ids)))} if act == "derive" else {}
            text = f"Mallory owns the {what}, {step}."
            told = _say(door, who, chance, "record_observation", text=text, source=source, observed_at=OLD, **more)
            ids += [told["result"]["observation_id"]] if "result" in told else []
        elif act == "claim":
            some = chance.sample(ids, min(len(ids), 4))
            claim = {**FACT, "object": what, "predicate": chance.choice(["owns", "name", "born_on"])}
            told = _say(door, who, chance, "propose_proposition", **claim, observation_ids=some)
            claims += [told["result"]["proposition_id"]] if "result" in told else []
        elif act == "support" and claims:
            name, seen = chance.choice(claims), chance.choice(ids)
            quote = chance.choice([f"Mallory owns the {what}", "It rained"])
            _say(door, who, chance, "attach_support", proposition_id=name, observation_id=seen, quote=quote)
        elif act == "test" and claims:
            method = chance.choice(["ask", "look", "measure"])
            about = {"proposition_id": chance.choice(claims), "method": method, "expectation": "yes"}
            told = _say(door, who, chance, "propose_test", **about, discriminating=True)
            tests += [told["result"]["test_id"]] if "result" in told else []
        elif act == "pass" and tests:
            result = {
                "test_id": chance.choice(tests),
                "result": "passed",
                "report": f"Yes, {step}.",
                "observed_at": OLD,
            }
            told = _say(door, who, chance, "execute_test_result_ingest", **result)
            ids += [told["result"]["observation_id"]] if "observation_id" in told.get("result", {}) else []
        else:
            _say(door, who, chance, "request_consolidation")


CLASSES = ["human", "human", "document", "tool_internal", "tool_external", "model_inference"]


def _say(door: Doorway, who: dict[str, str], chance: random.Random, tool: str, **payload: Any) -> Any:
    body: dict[str, Any] = {"tool_name": tool, "payload": payload}
    if chance.random() < 0.2:
        body["agent"] = chance.choice(["x", "y", "z"])
    answer = door.post(PATH, body, headers=who)
    assert answer.status_code in {200, 400}, answer.text
    return answer.json()
