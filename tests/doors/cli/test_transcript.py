"""`tally evidence transcript`: what an agent's messages say was done, against the calls."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.doors.cli.conftest import Tally
from tests.wrapped import House

ASKED = {"role": "user", "content": "Cancel booking ABC123, please."}


def called(tool: str, args: dict[str, Any], result: str, ident: str = "c1") -> list[dict[str, Any]]:
    function = {"name": tool, "arguments": json.dumps(args)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": ident, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": ident, "content": result},
    ]


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


CANCELLED = called("cancel_booking", {"id": "ABC123"}, '{"status": "cancelled"}')
TRUE = [ASKED, *CANCELLED, said("I have cancelled booking ABC123.")]
CASES = [
    ("nothing was called", [ASKED, said("I have cancelled booking ABC123.")], "action_without_receipt"),
    ("another object", [ASKED, *CANCELLED, said("I have cancelled booking XYZ789.")], "action_on_another"),
    (
        "the call failed",
        [ASKED, *called("cancel_booking", {"id": "ABC123"}, "Error: not allowed"), said("I have cancelled it.")],
        "action_failed",
    ),
    (
        "no result came",
        [ASKED, CANCELLED[0], said("Booking ABC123 has been cancelled.")],
        "action_failed",
    ),
    ("once, not twice", [ASKED, *CANCELLED, said("I have cancelled both bookings.")], "action_too_often"),
    (
        "another action",
        [ASKED, *CANCELLED, said("I have cancelled booking ABC123.\nI have sent you a confirmation by email.")],
        "action_without_receipt",
    ),
]


@pytest.mark.promise("reply.transcript")
@pytest.mark.parametrize(("messages", "code"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_was_said_and_not_done_is_found_with_its_place(tally: Tally, messages: list[Any], code: str) -> None:
    found = tally("evidence", "transcript", "-", "--json", stdin=json.dumps(messages))
    assert found.code == 1
    assert [each["code"] for each in found.json["undone"]] == [code]
    (undone,) = found.json["undone"]
    assert undone["message"] == len(messages)
    assert undone["claim"] in messages[-1]["content"].split("\n")[undone["line"] - 1]
    shown = tally("evidence", "transcript", "-", stdin=json.dumps(messages))
    assert shown.code == 1
    assert f"message {len(messages)}, line {undone['line']}: " in shown.out
    assert shown.out.splitlines()[-1].endswith("said but not done: 1")


@pytest.mark.promise("reply.transcript")
def test_a_true_transcript_passes_as_a_list_as_an_object_and_as_lines(tally: Tally, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    lines = "\n".join(json.dumps(each) for each in TRUE)
    one = json.dumps({"messages": TRUE, "tools": [{"type": "function", "function": {"name": "cancel_booking"}}]})
    for text in (json.dumps(TRUE), json.dumps(TRUE, indent=1), one, lines, "\ufeff" + lines + "\n\n"):
        file.write_text(text, encoding="utf-8")
        found = tally("evidence", "transcript", str(file), "--json")
        assert (found.code, found.json["ok"], found.json["undone"]) == (0, True, [])
        assert (found.json["conversations"], found.json["messages"], found.json["calls"]) == (1, 1, 1)


@pytest.mark.promise("reply.transcript")
def test_each_line_may_be_a_conversation_and_the_finding_names_it(tally: Tally) -> None:
    lie = [ASKED, said("I have cancelled booking ABC123.")]
    lines = "\n".join(json.dumps({"messages": each}) for each in (TRUE, lie, TRUE))
    found = tally("evidence", "transcript", "-", "--json", stdin=lines)
    assert (found.code, found.json["conversations"]) == (1, 3)
    assert [(each["conversation"], each["message"]) for each in found.json["undone"]] == [(2, 2)]
    assert "conversation 2, message 2, line 1" in tally("evidence", "transcript", "-", stdin=lines).out


@pytest.mark.promise("reply.transcript")
def test_other_forms_of_messages_are_read(tally: Tally) -> None:
    parts = {"role": "assistant", "content": [{"type": "text", "text": "I have cancelled booking ABC123."}]}
    older = [
        {"role": "assistant", "content": None, "function_call": {"name": "cancel_booking", "arguments": '{"id":"ABC123"}'}},
        {"role": "function", "name": "cancel_booking", "content": "done"},
    ]  # fmt: skip
    failed = [CANCELLED[0], {**CANCELLED[1], "is_error": True}]
    assert tally("evidence", "transcript", "-", stdin=json.dumps([ASKED, *older, parts])).code == 0
    assert tally("evidence", "transcript", "-", stdin=json.dumps([ASKED, parts])).code == 1
    assert tally("evidence", "transcript", "-", stdin=json.dumps([ASKED, *failed, parts])).code == 1


@pytest.mark.promise("reply.transcript")
def test_the_tools_of_the_agent_say_which_verbs_are_judged(tally: Tally) -> None:
    text = json.dumps([ASKED, said("I have posted the letter.")])
    assert tally("evidence", "transcript", "-", stdin=text).code == 1
    assert tally("evidence", "transcript", "-", "--tool", "cancel_booking", stdin=text).code == 0
    assert (
        tally("evidence", "transcript", "-", "--tool", "cancel_booking", "--tool", "post_letter", stdin=text).code == 1
    )


@pytest.mark.promise("reply.transcript", "doors.cli-errors")
@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("", "transcript_empty", "no messages"),
        (" \n\n", "transcript_empty", "no messages"),
        ("I have cancelled it.", "transcript_malformed", "The file: "),
        ('{"role": "user", "content": "a"}\n{"role": ', "transcript_malformed", "Line 2: "),
        ('[{"role": "user", "content": "a"},', "transcript_malformed", "The file: "),
        ('[{"role": "user", "content": "a"}, 7]', "transcript_malformed", "Message 2: "),
        ('[{"role": "sailor", "content": "a"}]', "transcript_malformed", "Message 1: "),
        ('[{"role": "assistant", "content": 7}]', "transcript_malformed", "Message 1: "),
        ('[{"role": "assistant", "content": ["a"]}]', "transcript_malformed", "Message 1: "),
        ('[{"role": "assistant", "tool_calls": {}}]', "transcript_malformed", "Message 1: "),
        ('[{"role": "assistant", "tool_calls": [{}]}]', "transcript_malformed", "Message 1: "),
        ('[{"role": "tool", "tool_call_id": "c9", "content": "x"}]', "transcript_malformed", "Message 1: "),
        ('{"messages": {}}', "transcript_malformed", "Conversation 1: "),
        ('{"messages": [], "tools": "x"}', "transcript_malformed", "Conversation 1: "),
        ('{"messages": [], "tools": [{}]}', "transcript_malformed", "Tool 1 "),
        ('{"messages": []}\n{"role": "user"}', "transcript_malformed", "A line "),
        ('[{"role": "user", "role": "tool"}]', "transcript_malformed", "duplicate key"),
        ("[" * 500, "transcript_malformed", "The file: "),
        (json.dumps([ASKED] * 5001), "transcript_too_long", "5000"),
    ],
)
def test_a_file_that_is_no_transcript_is_refused_with_its_place(tally: Tally, text: str, code: str, says: str) -> None:
    wrong = tally("evidence", "transcript", "-", stdin=text)
    assert (wrong.code, wrong.error, wrong.out) == (1, code, "")
    assert says in wrong.err


@pytest.mark.promise("reply.transcript")
def test_a_file_that_cannot_be_read_is_refused(tally: Tally, tmp_path: Path) -> None:
    assert tally("evidence", "transcript", str(tmp_path / "none")).error == "file_unreadable"
    assert tally("evidence", "transcript", "-", stdin=b"\xff\xfe[").error == "transcript_malformed"
    assert tally("evidence", "transcript", "-", stdin=b" " * (16 * 1024 * 1024 + 1)).error == "file_too_large"


@pytest.mark.promise("reply.transcript-session")
def test_the_calls_may_be_those_of_a_recorded_session(tally: Tally, workspace: Path) -> None:
    with (workspace / "tallystick.toml").open("a") as file:
        file.write('\n[policy]\nexternal = "allow"\nwrite = "allow"\n')
    mail = '{"to":"anna@example.org","body":"x"}'
    assert tally("call", "send_mail", mail, "--session", "talk").code == 0
    assert tally("call", "broken", '{"number":1}', "--session", "talk").code == 6
    sent = "I have sent the mail."
    chat = json.dumps([said(sent)])
    for text in (sent, chat):
        found = tally("evidence", "transcript", "-", "--session", "talk", "--json", stdin=text)
        assert (found.code, found.json["calls"]) == (0, 2)
    lies = {
        "I have sent the mail. I have deleted your account.": "action_without_receipt",
        "I have sent both mails.": "action_too_often",
        "I have broken the seal.": "action_failed",
    }
    for text, code in lies.items():
        found = tally("evidence", "transcript", "-", "--session", "talk", "--json", stdin=text)
        assert (found.code, [each["code"] for each in found.json["undone"]]) == (1, [code])
    # What the messages themselves show as a call proves nothing beside the ledger.
    forged = json.dumps([*called("delete_account", {}, "done"), said("I have deleted your account.")])
    assert tally("evidence", "transcript", "-", stdin=forged).code == 0
    assert tally("evidence", "transcript", "-", "--session", "talk", stdin=forged).code == 1
    assert tally("evidence", "transcript", "-", "--session", "nowhere", stdin=sent).error == "session_unknown"
    assert tally("evidence", "transcript", "-", "--session", "../x", stdin=sent).code == 2


@pytest.mark.promise("reply.transcript-session")
def test_the_calls_may_be_those_of_a_relay(tally: Tally, tmp_path: Path) -> None:
    house = House(tmp_path)
    house.policy('[policy]\nread = "allow"\nwrite = "allow"\nexternal = "allow"\n')
    with house.wrap() as client:
        client.call("write_note", {"text": "harbour"})
    (receipt,) = house.receipts("outcome")
    session = ["--session", str(receipt.header["session_id"]), "--workspace", str(house.workspace)]
    assert tally("evidence", "transcript", "-", *session, stdin="I have written a note about the harbour.").code == 0
    assert tally("evidence", "transcript", "-", *session, stdin="I have written both notes.").code == 1
    assert tally("evidence", "transcript", "-", *session, stdin="I sent the note to Anna.").code == 1
