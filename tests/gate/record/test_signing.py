import hmac
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.record.canonical import canonical_plain
from tallystick.gate.record.signing import ALGORITHM, HmacKey

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "record_hmac.json").read_text())
KEY = HmacKey(bytes(range(32)))

text = st.text()
flat = st.text() | st.integers(-(2**53) + 1, 2**53 - 1) | st.booleans() | st.none()
names = st.sampled_from(["signature", "signature_alg", "prev", "seq", "status", 'a"signature_alg":"b', "z"]) | st.text(
    st.characters(max_codepoint=127), min_size=1
)
nested = st.dictionaries(names, flat, max_size=4)
early = st.sampled_from(["agent_id", "approval", "audit", "caller", "context", "links", "outcome", "policy_digest"])
late = st.sampled_from(["task_id", "ticket_id", "timestamp", "tool_id", "tool_version", "turn_id", "zone"])
headers = st.builds(
    lambda before, after, seq: {**before, **after, "seq": seq, "signature_alg": ALGORITHM},
    st.dictionaries(early, nested | flat),
    st.dictionaries(late, text | st.sampled_from(['"signature_alg":', '","signature_alg":"x'])),
    st.integers(0, 2**40),
)


@pytest.mark.promise("record.signature")
@given(headers)
def test_a_signed_header_is_the_canonical_form_of_the_header_with_its_signature(header: dict[str, Any]) -> None:
    body = canonical_plain(header)
    stored, signature = KEY.sign(body)
    assert stored == rfc8785.dumps({**header, "signature": signature})
    assert signature == hmac.new(bytes(range(32)), rfc8785.dumps(header), "sha256").hexdigest()
    assert KEY.signed(stored)


@pytest.mark.promise("record.signature")
@given(headers, st.data())
def test_no_byte_of_a_signed_header_can_be_changed(header: dict[str, Any], data: st.DataObject) -> None:
    stored = KEY.sign(canonical_plain(header))[0]
    at = data.draw(st.integers(0, len(stored) - 1))
    changed = bytearray(stored)
    changed[at] ^= data.draw(st.integers(1, 255))
    assert not KEY.signed(bytes(changed))


@given(st.binary(max_size=300))
def test_no_bytes_whatever_are_signed_by_accident(junk: bytes) -> None:
    assert not KEY.signed(junk)
    assert not KEY.signed(b'"signature":"' + junk + b'","signature_alg":')


def test_another_key_did_not_sign() -> None:
    stored = KEY.sign(canonical_plain({"signature_alg": ALGORITHM}))[0]
    assert not HmacKey(bytes(32)).signed(stored)


def test_a_key_is_named_by_what_it_is() -> None:
    assert KEY.key_id == HmacKey(bytes(range(32))).key_id
    assert KEY.key_id != HmacKey(bytes(32)).key_id
    assert len(KEY.key_id) == 16
    assert bytes.fromhex(KEY.key_id) == KEY.raw_id


def test_derived_keys_differ_by_their_purpose_and_from_their_source() -> None:
    keys = {KEY.key_id, KEY.derive("head").key_id, KEY.derive("redaction").key_id, KEY.derive("").key_id}
    assert len(keys) == 4
    assert KEY.derive("head").mac(b"x") == HmacKey(bytes(range(32))).derive("head").mac(b"x")


@given(st.binary(max_size=200), st.binary(max_size=300))
def test_the_mac_is_hmac_sha256(secret: bytes, data: bytes) -> None:
    assert HmacKey(secret).mac(data) == hmac.new(secret, data, "sha256").digest()


@pytest.mark.promise("record.wycheproof")
@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["what"])
def test_published_examples(case: dict[str, str]) -> None:
    assert HmacKey(bytes.fromhex(case["key"])).mac(bytes.fromhex(case["data"])).hex() == case["mac"]


@pytest.mark.promise("record.wycheproof")
def test_hmac_as_wycheproof_has_it(data: Path) -> None:
    suite = data / "wycheproof" / "dev" / "hmac_sha256_test.json"
    if not suite.exists():
        pytest.skip("left out: wycheproof HMAC-SHA256, TALLY_DATA not there")
    wrong = []
    for group in orjson.loads(suite.read_bytes())["testGroups"]:
        for case in group["tests"]:
            mac = HmacKey(bytes.fromhex(case["key"])).mac(bytes.fromhex(case["msg"]))
            if (mac[: group["tagSize"] // 8].hex() == case["tag"]) != (case["result"] == "valid"):
                wrong.append(case["tcId"])
    assert not wrong
