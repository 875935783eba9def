"""`/api/memory/…`: the seed's proposal in, the seed's outcome out."""

from typing import Any

import pytest

from tests.doors.http.doorway import Doorway, problem

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
    for path in ("/api/memory/status", "/api/memory/propositions", "/api/memory/propositions/prop_0"):
        assert locked.get(path).status_code == 401
