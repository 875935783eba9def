"""`/api/workspace`: the tree, files, the outline, patches and who may decide on them."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway, bearer, problem

SCENE = "Story/Scenes/SCN-arrival.md"
TEXT = "# Arrival\n\nRain fell.\n"
OUTLINE = "\ufeff# Outline\r\n\r\n## Act One\r\n\r\n### 1. Arrival\r\n\r\nPOV: Mira\r\n"


def write(door: Doorway, path: str, text: str) -> str:
    target = door.workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())
    return sha256(text.encode()).hexdigest()


def propose(door: Doorway, status: int = 201, **body: Any) -> Any:
    answer = door.post("/api/workspace/patches", {"path": SCENE, **body})
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.promise("studio.workspace-http")
def test_tree_and_file_are_as_they_are_on_disk(door: Doorway) -> None:
    digest = write(door, SCENE, TEXT)
    answer = door.get("/api/workspace/tree").json()
    assert answer["complete"]
    (story,) = (child for child in answer["root"]["children"] if child["name"] == "Story")
    (scene,) = story["children"][0]["children"]
    assert scene == {
        "name": "SCN-arrival.md", "path": SCENE, "kind": "file", "size": len(TEXT), "lines": 3, "sha256": digest,
    }  # fmt: skip
    file = door.get("/api/workspace/file", params={"path": SCENE}).json()
    assert file == {"path": SCENE, "sha256": digest, "lines": 3, "encoding": "utf-8", "text": TEXT}
    for path, status in (
        ("Story/none.md", 404), ("../x", 400), (".control-room/audit/secret.key", 400), ("tallystick.toml", 400), ("", 400),
        ("Story", 400),
    ):  # fmt: skip
        assert door.get("/api/workspace/file", params={"path": path}).status_code == status, path


@pytest.mark.promise("studio.outline", "studio.workspace-http")
def test_the_outline_is_its_file_byte_for_byte_and_is_changed_by_a_patch(door: Doorway) -> None:
    assert problem(door.get("/api/workspace/outline"), 404, "downstream_error")["hint"] == "outline_missing"
    digest = write(door, "Story/SCN-outline.md", OUTLINE)
    outline = door.get("/api/workspace/outline").json()
    assert outline["text"].encode() == (door.workspace / "Story/SCN-outline.md").read_bytes()
    assert outline["text"] == door.get("/api/workspace/file", params={"path": outline["path"]}).json()["text"]
    assert (outline["sha256"], outline["acts"]) == (digest, ["Act One"])
    assert [(beat["title"], beat["pov"]) for beat in outline["beats"]] == [("Arrival", "Mira")]
    body = {"base_sha256": digest, "text": "# Outline\n\n1. Salt\n"}
    patch = door.request("PUT", "/api/workspace/outline", json=body)
    assert patch.status_code == 201
    assert door.post(f"/api/workspace/patches/{patch.json()['patch_id']}/apply", headers=door.person).status_code == 200
    assert door.get("/api/workspace/outline").json()["text"] == "# Outline\n\n1. Salt\n"
    assert door.request("PUT", "/api/workspace/outline", json=body).status_code == 400
    late = {**body, "text": "# Outline\n\n1. Sand\n"}
    assert door.request("PUT", "/api/workspace/outline", json=late).status_code == 409


@pytest.mark.promise("studio.workspace-http", "studio.patch-proposal", "studio.snapshots")
def test_a_patch_is_proposed_shown_applied_and_undone(door: Doorway) -> None:
    digest = write(door, SCENE, TEXT)
    patch = propose(
        door, base_sha256=digest, edits=[{"start_line": 3, "end_line": 3, "text": "Snow fell.\n"}], note="winter"
    )
    assert "-Rain fell.\n+Snow fell.\n" in patch["diff"]
    assert (patch["state"], patch["changed_meanwhile"], patch["by"]) == ("proposed", False, "local")
    listed = door.get("/api/workspace/patches", params={"state": "proposed", "path": SCENE}).json()
    assert (listed["total"], listed["items"][0]["patch_id"], listed["limit"], listed["offset"]) == (
        1,
        patch["patch_id"],
        50,
        0,
    )
    target = f"/api/workspace/patches/{patch['patch_id']}"
    problem(door.post(f"{target}/apply"), 403, "rbac_denied")
    assert (door.workspace / SCENE).read_text(encoding="utf-8") == TEXT
    assert door.post(f"{target}/apply", headers=door.person).json()["state"] == "applied"
    assert (door.workspace / SCENE).read_text(encoding="utf-8") == "# Arrival\n\nSnow fell.\n"
    assert (
        problem(door.post(f"{target}/reject", headers=door.person), 409, "downstream_error")["hint"] == "patch_decided"
    )
    assert door.get(target).json()["state"] == "applied"
    history = door.get("/api/workspace/history", params={"path": SCENE}).json()
    assert (history["total"], history["items"][0]["before"]) == (1, digest)
    undo = door.post("/api/workspace/undo", {"path": SCENE}).json()
    assert undo["undoes"] == patch["patch_id"]
    door.post(f"/api/workspace/patches/{undo['patch_id']}/apply", headers=door.person)
    assert (door.workspace / SCENE).read_text(encoding="utf-8") == TEXT
    assert (
        problem(door.post("/api/workspace/undo", {"path": SCENE}), 409, "downstream_error")["hint"] == "nothing_to_undo"
    )


@pytest.mark.promise("studio.patch-conflict", "studio.workspace-http")
def test_a_changed_base_is_409_and_the_proposal_stays(door: Doorway) -> None:
    digest = write(door, SCENE, TEXT)
    patch = propose(door, base_sha256=digest, text="mine\n")
    write(door, SCENE, "theirs\n")
    refused = door.post(f"/api/workspace/patches/{patch['patch_id']}/apply", headers=door.person)
    assert problem(refused, 409, "downstream_error")["hint"] == "changed_meanwhile"
    shown = door.get(f"/api/workspace/patches/{patch['patch_id']}").json()
    assert (shown["state"], shown["changed_meanwhile"]) == ("proposed", True)
    assert "+mine" in shown["diff"]
    assert "+theirs" in shown["current_diff"]
    late = door.post("/api/workspace/patches", {"path": SCENE, "base_sha256": digest, "text": "also mine\n"})
    hint = problem(late, 409, "downstream_error")["hint"]
    assert hint.startswith("changed_meanwhile patch_")
    kept = door.get(f"/api/workspace/patches/{hint.split(' ')[1]}").json()
    assert "+also mine" in kept["diff"]
    rejected = door.post(f"/api/workspace/patches/{kept['patch_id']}/reject", {"reason": "no"}, headers=door.person)
    assert (rejected.json()["state"], rejected.json()["reason"]) == ("rejected", "no")
    assert (door.workspace / SCENE).read_text(encoding="utf-8") == "theirs\n"


@pytest.mark.promise("studio.patch-audit")
def test_every_decision_leaves_an_audit_record_without_the_text(door: Doorway) -> None:
    digest = write(door, SCENE, TEXT)
    first = propose(door, base_sha256=digest, text="a quiet secret\n")
    second = propose(door, base_sha256=digest, remove=True)
    door.post(f"/api/workspace/patches/{first['patch_id']}/apply", headers=door.person)
    door.post(f"/api/workspace/patches/{second['patch_id']}/reject", headers=door.person)
    notes = [receipt.flat()["audit"] for receipt in door.receipts() if receipt.header["kind"] == "note"]
    assert [note["action"] for note in notes] == ["patch.propose", "patch.propose", "patch.apply", "patch.reject"]
    assert {note["resource"] for note in notes} == {f"workspace/{SCENE}"}
    assert notes[2]["metadata"] == {"patch_id": first["patch_id"], "before": digest, "after": first["new_sha256"]}
    assert "quiet secret" not in str([receipt.flat() for receipt in door.receipts()])


@pytest.mark.promise("studio.workspace-http")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, ""), ({"path": SCENE}, 400, ""), ({"path": SCENE, "base_sha256": "x", "text": ""}, 400, ""),
        ({"path": SCENE, "base_sha256": "", "text": "x", "more": 1}, 400, ""), ({"path": SCENE, "base_sha256": ""}, 400, "change_invalid"),
        ({"path": SCENE, "base_sha256": "", "remove": True}, 404, "not_found"), ({"path": "../x", "base_sha256": "", "text": "x"}, 400, "path_outside"),
        ({"path": ".control-room/x", "base_sha256": "", "text": "x"}, 400, "path_protected"),
        ({"path": "NUL.md", "base_sha256": "", "text": "x"}, 400, "bad_path"), ({"path": "Canon.md", "base_sha256": "", "text": "x"}, 400, "path_protected"),
        ({"path": SCENE, "base_sha256": "", "diff": "x"}, 400, "diff_invalid"),
        ({"path": SCENE, "base_sha256": "", "edits": [{"start_line": 5, "end_line": 5, "text": "x"}]}, 400, "edit_invalid"),
        ({"path": SCENE, "base_sha256": "", "diff": "@@ -1 +1 @@\n-a\n+b\n"}, 409, "diff_mismatch"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_a_problem_with_its_code(well_used: Doorway, body: Any, status: int, code: str) -> None:
    answer = well_used.post("/api/workspace/patches", body)
    details = problem(answer, status, "downstream_error" if status in {404, 409} else "validation_error")
    assert details["hint"].startswith(code)
    assert not (well_used.workspace / "Story").exists()


@pytest.mark.promise("studio.workspace-http")
def test_unknown_patches_states_and_versions_are_problems(well_used: Doorway) -> None:
    problem(well_used.get("/api/workspace/patches/patch_00000000"), 404, "downstream_error")
    problem(well_used.get("/api/workspace/patches/..%2f..%2fx"), 404, "downstream_error")
    problem(well_used.get("/api/workspace/patches", params={"state": "maybe"}), 400, "validation_error")
    problem(well_used.post("/api/workspace/undo", {"path": SCENE, "to": "0" * 64}), 404, "downstream_error")
    for decision in ("apply", "reject"):
        answer = well_used.post(f"/api/workspace/patches/patch_00000000/{decision}", headers=well_used.person)
        problem(answer, 404, "downstream_error")


@pytest.mark.promise("studio.workspace-http")
def test_with_auth_on_a_token_is_needed_and_the_name_is_the_tokens(open_door: OpenDoor, tmp_path: Path) -> None:
    door = open_door(auth={"enabled": True, "jwt_secret": "s" * 40})
    problem(door.get("/api/workspace/tree"), 401, "rbac_denied")


@pytest.mark.promise("studio.patch-audit")
def test_who_proposes_and_who_decides_are_in_the_patch(locked: Doorway) -> None:
    ada, grace = bearer("person"), {**bearer("person", subject="grace"), **locked.person}
    made = locked.post("/api/workspace/patches", {"path": SCENE, "base_sha256": "", "text": TEXT}, headers=ada).json()
    done = locked.post(f"/api/workspace/patches/{made['patch_id']}/apply", headers=grace).json()
    assert (done["by"], done["decided_by"]) == ("ada", "grace")
