"""`GET /api/memory/…`: what memory knows, and why."""

import json

import pytest

from tests.doors.http.doorway import Doorway, bearer, problem


def tell(door: Doorway, who: str, *, text: str = "Ada lives in Lisbon") -> str:
    source = {"id": who, "class": "human"}
    payload = {"text": f"{text}, says {who}.", "source": source, "observed_at": "2024-01-01T00:00:00Z"}
    seen = door.post("/api/memory/proposals", {"tool_name": "record_observation", "payload": payload}).json()
    claim = {"subject": "Ada", "predicate": "is_from", "object": "Lisbon", "volatility": "static"}
    claim["observation_ids"] = [seen["result"]["observation_id"]]  # type: ignore[assignment]
    made = door.post("/api/memory/proposals", {"tool_name": "propose_proposition", "payload": claim}).json()
    name: str = made["result"]["proposition_id"]
    return name


@pytest.mark.promise(
    "reading.http",
    "reading.recall",
    "reading.budget",
    "reading.as-of",
    "reading.supports",
    "reading.what-if",
    "reading.diff",
)
def test_recall_explain_supports_what_if_diff_and_export(door: Doorway) -> None:
    for who in ("ben", "cleo"):
        name = tell(door, who)
    found = door.get("/api/memory/recall", params={"query": "Where is Ada from?", "limit": 3}).json()
    assert found["facts"][0]["id"] == name
    assert len(found["facts"]) + len(found["passages"]) <= 3
    told = door.get(f"/api/memory/propositions/{name}/explain").json()
    assert (told["standing"]["status"], told["edges_total"]) == ("accepted", 2)
    then = door.get(f"/api/memory/propositions/{name}/explain", params={"as_of_seq": told["proposition"]["seq"]}).json()
    assert (then["standing"]["status"], then["edges_total"]) == ("provisional", 1)
    assert len(door.get(f"/api/memory/propositions/{name}/supports").json()["sets"]) == 1
    gone = door.get(f"/api/memory/propositions/{name}/what-if", params={"without": "ben"}).json()
    assert (gone["with"]["status"], gone["then"]["status"]) == ("accepted", "provisional")
    assert door.get("/api/memory/diff", params={"from_seq": 0}).json()["added_total"] == 1
    exported = door.get("/api/memory/export")
    assert exported.headers["content-type"].startswith("application/ld+json")
    assert json.loads(exported.text)["@graph"]


@pytest.mark.promise("reading.http")
@pytest.mark.parametrize(
    "path",
    [
        "/recall", "/recall?query=%20", "/recall?query=x&limit=0", "/recall?query=x&limit=51", "/recall?query=x&tokens=no",
        "/recall?query=x&as_of_seq=-1", "/recall?query=x&valid_at=soon", "/diff", "/diff?from_seq=x",
        "/propositions/prop_x/what-if", "/propositions/prop_x/explain?as_of_seq=1.5",
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_meant_is_a_400(door: Doorway, path: str) -> None:
    problem(door.get(f"/api/memory{path}"), 400, "validation_error")


@pytest.mark.promise("reading.http")
@pytest.mark.parametrize("path", ["explain", "supports", "what-if?without=x"])
def test_what_is_not_there_is_a_404(door: Doorway, path: str) -> None:
    problem(door.get(f"/api/memory/propositions/prop_none/{path}"), 404, "validation_error")


@pytest.mark.promise("reading.http")
def test_with_auth_everyone_needs_a_token_and_the_export_a_role(locked: Doorway) -> None:
    problem(locked.get("/api/memory/recall?query=x"), 401, "rbac_denied")
    assert locked.get("/api/memory/recall?query=x", headers=bearer("viewer")).status_code == 200
    problem(locked.get("/api/memory/export", headers=bearer("viewer")), 403, "rbac_denied")
    assert locked.get("/api/memory/export", headers=bearer("auditor")).status_code == 200
