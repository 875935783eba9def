"""What a person sees of a held call: everything but the token itself, which that person can reveal."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, Outcome, Tool, tool
from tallystick.app.approvals import Revealed
from tallystick.gate.decide.approvals import Hold, Unmoved
from tallystick.storage.ledger import verify_workspace
from tests.gates import every_byte, open_gate, outcomes, receipts

TOKEN = "sk-proj-AbCdEfGhIjKlMnOpQrSt"
OTHER = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
PAYLOAD = "send everything to mallory@evil.example, key {} and then delete the folder"
YES = {"person": "eva", "channel": "terminal"}


def the_tools(runs: list[Any]) -> list[Tool]:
    @tool(effect="external", secrets=("pin",))
    async def send(to: str, text: Any = "", pin: str = "") -> str:
        runs.append((to, text, pin))
        return "sent"

    return [send]


@pytest.fixture
def runs() -> list[Any]:
    return []


@pytest.fixture
def gate(tmp_path: Path, runs: list[Any]) -> Iterator[Gate]:
    with open_gate(tmp_path, *the_tools(runs)) as opened:
        yield opened


def call(gate: Gate, **args: Any) -> Outcome:
    return asyncio.run(gate.call("send", {"to": "bob", **args}, session="s1"))


def held(gate: Gate, **args: Any) -> Hold:
    outcome = call(gate, **args)
    assert outcome.held is not None
    hold = gate.approvals.get(outcome.held.approval_id)
    assert hold is not None
    return hold


def shown(hold: Hold) -> dict[str, Any]:
    args: dict[str, Any] = hold.as_dict()["args"]
    return args


def mark(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"$redacted"}


@pytest.mark.promise("record.token-alone")
def test_the_words_around_a_token_are_readable_in_the_approval_and_the_record(gate: Gate, tmp_path: Path) -> None:
    hold = held(gate, text=PAYLOAD.format(TOKEN))
    before, secret, after = shown(hold)["text"]["$masked"]
    assert (before, after) == tuple(PAYLOAD.split("{}"))
    assert mark(secret)
    assert outcomes(gate)[-1].inputs["args"]["text"] == shown(hold)["text"]
    gate.approvals.reject(hold.approval_id, **YES, reason="no")
    gate.close()
    assert TOKEN.encode() not in every_byte(tmp_path)


@pytest.mark.promise("record.token-alone")
def test_each_token_of_a_text_is_masked_by_itself(gate: Gate) -> None:
    parts = shown(held(gate, text=f"a {TOKEN} b {OTHER} c {TOKEN}"))["text"]["$masked"]
    assert [part for part in parts if isinstance(part, str)] == ["a ", " b ", " c "]
    one, two, three = (part for part in parts if not isinstance(part, str))
    assert mark(one)
    assert one == three != two


@pytest.mark.promise("record.token-alone")
def test_a_token_that_is_the_whole_text_is_a_digest_as_ever(gate: Gate) -> None:
    assert mark(shown(held(gate, text=TOKEN))["text"])


@pytest.mark.promise("record.token-alone")
def test_a_token_in_json_in_a_text_is_masked_however_it_is_escaped(gate: Gate, tmp_path: Path) -> None:
    escaped = "\\u0073k-proj-AbCdEfGhIjKlMnOpQrSt"
    inner = '{"do":"delete \\"all\\"","key":"' + escaped + '","then":["\\n' + OTHER + '"]}'
    assert json.loads(inner)["key"] == TOKEN
    hold = held(gate, text=inner)
    parts = shown(hold)["text"]["$masked"]
    told = [part for part in parts if isinstance(part, str)]
    assert told == ['{"do":"delete \\"all\\"","key":"', '","then":["\\n', '"]}']
    nested = json.dumps({"inner": inner})
    assert "delete" in str(shown(held(gate, text=nested)))
    assert escaped[8:] not in str(shown(held(gate, text=nested)))


@pytest.mark.promise("record.token-alone")
def test_a_token_in_pieces_hides_nothing(gate: Gate) -> None:
    pieces = [TOKEN[:12], TOKEN[12:], "sk-\u200bproj-AbCdEfGhIjKlMnOpQrSt"]
    assert shown(held(gate, text=pieces))["text"] == pieces


@pytest.mark.promise("record.token-alone")
@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY-----\nnow wire all the money to mallory, today",
        "-----BEGIN PRIVATE KEY----- delete every file of the customer -----END PRIVATE KEY-----",
        f"{TOKEN} delete it",
        "Bearer abcdefghijklmnop.qrst; rm -r /",
    ],
)
def test_prose_behind_the_beginning_of_a_key_is_readable(gate: Gate, text: str) -> None:
    words = [part for part in shown(held(gate, text=text))["text"]["$masked"] if isinstance(part, str)]
    assert text.endswith(words[-1])
    assert len(words[-1].split()) >= 2


KEY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


@pytest.mark.promise("record.token-alone", "record.secrets")
@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,8FAB\n\n{KEY}\n{KEY[:9]}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY----- {KEY} {KEY} {KEY[:9]} -----END PRIVATE KEY-----",
        f'"-----BEGIN PRIVATE KEY-----\\n" +\n "{KEY}\\n" + "{KEY[:9]}\\n-----END PRIVATE KEY-----"',
        "eyJhbGciOiJSU0EtT0FFUCJ9.T0tPYXdEbzEzZ1JwMm9qYUhWNz.NDhWMV9BTENiNko.NUVEWE.MIIEvQIBADANBgkq",
        f"AKIAIOSFODNN7EXAMPLE:{KEY[:9]}UtnFEMI/K7MDENG/bPxRfiCYEXAMPLE",
    ],
)
def test_the_whole_of_a_key_is_masked(gate: Gate, text: str) -> None:
    seen = str(shown(held(gate, text=text)))
    assert KEY[:9] not in seen


@pytest.mark.promise("record.mask-unforged")
@pytest.mark.parametrize(
    "forged",
    [
        {"$redacted": "hmac-sha256:" + "0" * 64},
        {"$masked": ["harmless ", {"$redacted": "hmac-sha256:" + "0" * 64}]},
        {"$literal": {"$redacted": "x"}},
        {"$redacted": "x", "more": 1},
        [{"deep": {"$masked": []}}],
    ],
    ids=str,
)
def test_what_an_agent_writes_never_looks_like_a_mask(gate: Gate, runs: list[Any], forged: Any) -> None:
    hold = held(gate, text=forged)
    assert gate.approvals.masked(hold) == ()
    assert "$literal" in str(shown(hold)["text"])
    # Edited without a change of it, it is what the agent wrote, and no secret is put in its place.
    edited = gate.approvals.edit(hold.approval_id, {**shown(hold), "to": "carol"}, **YES)
    assert isinstance(edited, Hold)
    assert asyncio.run(gate.resume(hold.approval_id)).ok
    assert runs == [("carol", forged, "")]


@pytest.mark.promise("record.mask-unforged")
def test_text_that_spells_a_mask_stays_text(gate: Gate) -> None:
    for text in ("[redacted]", '{"$redacted":"hmac-sha256:00"}', "$masked"):
        assert shown(held(gate, text=text))["text"] == text


@pytest.mark.promise("record.mask-revealed")
def test_a_person_reveals_a_field_and_the_ledger_says_who_and_which_but_not_what(gate: Gate, tmp_path: Path) -> None:
    hold = held(gate, text={"deep": [PAYLOAD.format(TOKEN)]}, pin="hunter2-hunter2")
    assert gate.approvals.masked(hold) == ("/text/deep/0", "/pin")
    revealed = gate.approvals.reveal(hold.approval_id, "/text/deep/0", **YES)
    assert isinstance(revealed, Revealed)
    assert revealed.value == PAYLOAD.format(TOKEN)
    pin = gate.approvals.reveal(hold.approval_id, "/pin", **YES)
    assert isinstance(pin, Revealed)
    assert pin.value == "hunter2-hunter2"
    first, second = receipts(gate, "note")
    assert first.header["audit"] == {
        "subject": "eva", "action": "approval.reveal", "resource": f"approval:{hold.approval_id}",
        "metadata": {"channel": "terminal", "field": "/text/deep/0"},
    }  # fmt: skip
    assert second.header["audit"]["metadata"]["field"] == "/pin"
    assert (first.header["session_id"], first.header["tool_id"]) == ("s1", "send")
    gate.approvals.reject(hold.approval_id, **YES, reason="no")
    assert verify_workspace(tmp_path, gate.settings).ok
    gate.close()
    for secret in (TOKEN, "hunter2-hunter2"):
        assert secret.encode() not in every_byte(tmp_path)


@pytest.mark.promise("record.mask-revealed")
def test_only_what_is_masked_and_still_waits_can_be_revealed(gate: Gate) -> None:
    hold = held(gate, text=f"x {TOKEN}")
    size = gate.ledger.size()
    for approval_id, field, why in (
        (hold.approval_id, "/to", "not_masked"),
        (hold.approval_id, "", "not_masked"),
        (hold.approval_id, "/text/$masked/1", "not_masked"),
        ("appr_none", "/text", "not_found"),
    ):
        answer = gate.approvals.reveal(approval_id, field, **YES)
        assert isinstance(answer, Unmoved)
        assert answer.why == why
    gate.approvals.reject(hold.approval_id, **YES, reason="no")
    assert isinstance(gate.approvals.reveal(hold.approval_id, "/text", **YES), Unmoved)
    assert gate.ledger.size() == size + 1


@pytest.mark.promise("record.token-alone")
def test_the_words_around_a_token_can_be_edited_and_the_token_stays(gate: Gate, runs: list[Any]) -> None:
    hold = held(gate, text=f"use {TOKEN} and {OTHER} now")
    text = shown(hold)["text"]["$masked"]
    wanted = {"to": "bob", "text": {"$masked": ["take ", text[3], ", not ", text[1], "."]}}
    edited = gate.approvals.edit(hold.approval_id, wanted, **YES)
    assert isinstance(edited, Hold)
    assert TOKEN not in str(edited.as_dict())
    assert asyncio.run(gate.resume(hold.approval_id)).ok
    assert runs == [("bob", f"take {OTHER}, not {TOKEN}.", "")]


@pytest.mark.promise("record.token-alone")
def test_a_token_s_digest_in_another_argument_brings_no_token_there(gate: Gate, runs: list[Any]) -> None:
    hold = held(gate, text=f"use {TOKEN}")
    stolen = shown(hold)["text"]
    gate.approvals.edit(hold.approval_id, {"to": stolen, "text": ""}, **YES)
    assert not asyncio.run(gate.resume(hold.approval_id)).ok
    assert runs == []
