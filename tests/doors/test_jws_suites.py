"""The strict token check against outside suites and our own cases."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tallystick.doors.identity.keys import has_roca_fingerprint, ring_of_text
from tallystick.doors.identity.tokens import verified_payload
from tallystick.errors import ConfigError

VECTORS = Path(__file__).parents[1] / "vectors"
TAKEN = {"HS256", "RS256", "ES256", "EdDSA"}
SUITES = ["json_web_signature_test.json", "json_web_key_test.json", "json_web_crypto_test.json"]

MISMARKED = {
    "invalidBase64Padding": "the file holds the token without its padding, which makes it a correct one; "
    "with padding it is refused (H06)"
}


def taken(key: Any, jws: Any) -> bool:
    """Whether a token is taken under a key; a key that stops the server takes none."""
    try:
        ring = ring_of_text(json.dumps(key))
    except ConfigError:
        return False
    return isinstance(verified_payload(jws if isinstance(jws, str) else json.dumps(jws), ring), bytes)


def exception(group: dict[str, Any], case: dict[str, Any]) -> str | None:
    """Why a case of the suite may come out otherwise."""
    key = group.get("public") or group["private"]
    algorithms = {each.get("alg") for each in key.get("keys", [key])}
    if case["result"] == "valid" and "jwe" in case:
        return "encrypted tokens are not taken"
    if case["result"] == "valid" and not algorithms <= TAKEN:
        return "an algorithm we do not take"
    if case["result"] == "valid" and "?" in str(case.get("jws")):
        return "the suite lets a decoder skip characters that are not base64url; ours refuses them"
    return MISMARKED.get(case["comment"])


@pytest.mark.promise("doors.jws-suites")
@pytest.mark.parametrize("name", SUITES)
def test_every_wycheproof_case_comes_out_as_marked_but_for_the_listed_reasons(data: Path, name: str) -> None:
    path = data / "wycheproof" / "dev" / name
    if not path.exists():
        pytest.skip(f"left out: wycheproof {name}, TALLY_DATA not there")
    tried = 0
    for group in json.loads(path.read_text())["testGroups"]:
        key = group.get("public") or group["private"]
        for case in group["tests"]:
            tried += 1
            found = taken(key, case.get("jws", case.get("jwe")))
            expected = case["result"] == "valid"
            assert (found == expected) == (exception(group, case) is None), (case["tcId"], case["comment"])
    assert tried


OWN = json.loads((VECTORS / "identity_jws.json").read_text())["cases"]


@pytest.mark.promise("doors.jws-suites", "doors.token-form", "doors.token-key-use")
@pytest.mark.parametrize("case", OWN, ids=[case["comment"] for case in OWN])
def test_our_own_cases_come_out_as_marked(case: dict[str, Any]) -> None:
    assert taken(case["key"], case["jws"]) == case["valid"]


@pytest.mark.promise("doors.jws-suites")
def test_an_rsa_key_of_the_flawed_generator_is_known_by_its_fingerprint() -> None:
    draw = random.Random(15361)
    product = 1
    for prime in (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101,
                  103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167):  # fmt: skip
        product *= prime
    for _ in range(20):
        flawed = draw.getrandbits(1800) * product + pow(65537, draw.getrandbits(64), product)
        assert has_roca_fingerprint(flawed)
        assert not has_roca_fingerprint(draw.getrandbits(2048) | 1)
