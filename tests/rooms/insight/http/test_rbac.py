"""Who may do what with the tickets: no token 401, no role 403, at the router and once more at the gate."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import ECKey, RSAKey

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.settings import load_settings
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.doors.tokens import SECRET, b64, raw_token, signed_by

SENSITIVE: dict[str, tuple[str, str, set[str], dict[str, Any]]] = {
    "tool.analysis.run": ("POST", "/analysis/run", {"analyst", "admin"}, {"dataset_id": 7, "question": "why?"}),
    "tool.cluster.run": ("POST", "/cluster/run", {"analyst", "admin"}, {"dataset_id": 7, "algorithm": "kmeans"}),
    "tool.history.list": ("GET", "/history/analyses", {"viewer", "admin"}, {"limit": 5, "offset": 0}),
    "tool.prompts.save": ("POST", "/prompts", {"admin"}, {"version": "v9", "template": "Answer."}),
}
"""Tool → its route, the roles of which one is enough, arguments that fit."""
OPEN = {
    "tool.embed.run": ("POST", "/embed/run", {"dataset_id": 7}),
    "tool.search.nn": ("GET", "/search/nn?dataset_id=7&q=x", None),
    "tool.reports.get": ("GET", "/reports/7", None),
    "tool.prompts.list": ("GET", "/prompts", None),
    "tool.prompts.load": ("GET", "/prompts/v9", None),
}
"""Tools that ask for a token and any role of the product."""
CLAIMS = {"sub": "eve", "roles": ["admin"], "exp": int(time.time()) + 86_400}


def knock(door: Doorway, tool: str, headers: dict[str, str]) -> Any:
    method, path, _, args = SENSITIVE[tool]
    return door.request(method, path, headers=headers, **({"json": args} if method == "POST" else {}))


@pytest.mark.promise("insight.rbac")
@pytest.mark.parametrize("tool", SENSITIVE)
def test_the_router_asks_for_the_roles_of_the_table(locked: Doorway, tool: str) -> None:
    roles = SENSITIVE[tool][2]
    for role in ("viewer", "analyst", "admin", "auditor", "Admin", "owner", "none"):
        answer = knock(locked, tool, bearer(*([] if role == "none" else [role])))
        if role in roles:
            assert answer.status_code not in {401, 403}
        else:
            details = problem(answer, 403, "rbac_denied")
            assert details["tool_name"] == tool
            assert locked.outcomes()[-1].receipt_id == answer.headers["x-tally-receipt"]


@pytest.mark.promise("insight.rbac")
@pytest.mark.parametrize("tool", SENSITIVE)
def test_the_gate_asks_for_the_same_roles_whatever_door_a_call_comes_by(locked: Doorway, tool: str) -> None:
    _, _, roles, args = SENSITIVE[tool]
    card = next(card for card in locked.gate.tools() if card.name == tool)
    assert card.roles == roles
    for role in ("viewer", "analyst", "admin"):
        answer = locked.post("/api/gate/call", {"tool": tool, "args": args}, headers=bearer(role))
        assert (answer.status_code == 403) == (role not in roles)
        if role not in roles:
            assert answer.json()["rejection"]["category"] == "rbac_denied"


@pytest.mark.promise("insight.rbac")
def test_the_other_tools_ask_for_a_token_and_any_role_of_the_product(locked: Doorway) -> None:
    for method, path, args in OPEN.values():
        more = {} if args is None else {"json": args}
        problem(locked.request(method, path, **more), 401, "rbac_denied")
        problem(locked.request(method, path, headers=bearer(), **more), 403, "rbac_denied")
        for role in EVERY_ROLE:
            assert locked.request(method, path, headers=bearer(role), **more).status_code not in {401, 403}, path
    cards = {card.name: card.roles for card in locked.gate.tools()}
    assert all(cards[tool] == EVERY_ROLE for tool in (*OPEN, "tool.ingest.upload"))


BAD = {
    "unsigned": lambda: f"{b64(json.dumps({'alg': 'none'}).encode())}.{b64(json.dumps(CLAIMS).encode())}.",
    "none in capitals": lambda: raw_token({"alg": "NONE", "typ": "JWT"}, CLAIMS),
    "expired": lambda: raw_token({"alg": "HS256"}, CLAIMS | {"exp": int(time.time()) - 3600}),
    "not yet": lambda: raw_token({"alg": "HS256"}, CLAIMS | {"nbf": int(time.time()) + 3600}),
    "for others": lambda: raw_token({"alg": "HS256"}, CLAIMS | {"aud": "somebody else"}),
    "another secret": lambda: raw_token({"alg": "HS256"}, CLAIMS, secret=b"x" * 32),
    "another algorithm": lambda: signed_by(RSAKey.generate_key(2048), "RS256", CLAIMS),
    "garbage": lambda: "a.b.c",
}


@pytest.mark.promise("insight.rbac")
@pytest.mark.parametrize("kind", BAD)
def test_a_token_that_does_not_hold_is_401_on_every_sensitive_route(locked: Doorway, kind: str) -> None:
    for tool in SENSITIVE:
        answer = knock(locked, tool, {"authorization": f"Bearer {BAD[kind]()}"})
        problem(answer, 401, "rbac_denied")
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.promise("insight.rbac")
@pytest.mark.parametrize(
    ("key", "algorithm"), [(RSAKey.generate_key(2048), "RS256"), (ECKey.generate_key("P-256"), "ES256")]
)
def test_a_public_key_verifies_its_own_algorithm_and_is_never_a_secret(
    open_door: OpenDoor, tmp_path: Path, key: Any, algorithm: str
) -> None:
    pem = key.as_pem(private=False)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "issuer.pem").write_bytes(pem)
    auth = {"enabled": True, "jwt_public_key_file": "issuer.pem", "audience": "tickets"}
    door = open_door("work", auth=auth)
    claims = CLAIMS | {"aud": "tickets"}
    good = {"authorization": f"Bearer {signed_by(key, algorithm, claims)}"}
    assert knock(door, "tool.history.list", good).status_code == 200
    confused = raw_token({"alg": "HS256"}, claims, secret=pem)
    others = signed_by(key, algorithm, CLAIMS | {"aud": "billing"})
    nobodys = signed_by(key, algorithm, CLAIMS)
    for bad in (confused, others, nobodys):
        problem(knock(door, "tool.history.list", {"authorization": f"Bearer {bad}"}), 401, "rbac_denied")


@pytest.mark.promise("insight.rbac")
@pytest.mark.parametrize("claims", [{"role": "viewer"}, {"roles": ["viewer", "x"]}])
def test_roles_are_a_list_or_one_word(locked: Doorway, claims: dict[str, Any]) -> None:
    token = raw_token({"alg": "HS256"}, {"sub": "eve", "exp": CLAIMS["exp"]} | claims)
    answer = knock(locked, "tool.history.list", {"authorization": f"Bearer {token}"})
    assert answer.status_code == 200


@pytest.mark.promise("insight.rbac")
def test_the_older_names_switch_roles_on_and_off(open_door: OpenDoor, tmp_path: Path) -> None:
    on = load_settings(tmp_path, {"APP_ENABLE_RBAC": "true", "APP_JWT_SECRET": SECRET}).auth
    problem(knock(open_door("on", auth=on.model_dump()), "tool.history.list", {}), 401, "rbac_denied")
    off = load_settings(tmp_path, {"APP_ENABLE_RBAC": "false", "APP_JWT_SECRET": SECRET}).auth
    assert knock(open_door("off", auth=off.model_dump()), "tool.history.list", {}).status_code == 200


@pytest.mark.promise("insight.rbac")
def test_an_answer_is_for_whoever_may_ask_or_see_what_was_asked(open_door: OpenDoor) -> None:
    door = open_door(auth=AUTH)
    problem(door.get("/analysis/7", headers=bearer()), 403, "rbac_denied")
    for role in ("viewer", "analyst", "admin"):
        problem(door.get("/analysis/7", headers=bearer(role)), 404, "downstream_error")
