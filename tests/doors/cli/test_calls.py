"""`tally tools` and `tally call`."""

import json
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tallystick.telemetry.tracing import Tracing
from tests.doors.cli.conftest import Tally

pytestmark = pytest.mark.usefixtures("workspace")


def test_tools_lists_what_the_configuration_names_with_what_policy_says(tally: Tally) -> None:
    listed = tally("tools", "--json")
    assert listed.code == 0
    policy = {item["name"]: item["policy"] for item in listed.json["items"]}
    own = {"word_count": "allow", "send_mail": "ask", "broken": "allow", "loud": "allow"}
    rooms = {"file_reader": "allow", "mem.search": "allow", "record_observation": "allow"}
    assert policy.items() >= (own | rooms).items()
    assert "word_count" in tally("tools").out


def test_tools_show_gives_both_schemas(tally: Tally) -> None:
    shown = tally("tools", "show", "word_count", "--json").json
    assert shown["input_schema"]["additionalProperties"] is False
    assert shown["output_schema"] == {"type": "integer"}
    assert '"integer"' in tally("tools", "show", "word_count").out


def test_a_tool_that_is_not_there_is_refused(tally: Tally) -> None:
    shown = tally("tools", "show", "word_coun")
    assert (shown.code, shown.error) == (1, "unknown_tool")


@pytest.mark.promise("doors.cli-stdout")
def test_what_a_tool_prints_never_gets_into_the_result(tally: Tally) -> None:
    called = tally("call", "word_count", '{"text":"one two three"}')
    assert called.code == 0
    assert called.out == "3\n"
    assert tally("--json", "call", "word_count", '{"text":"one"}').json["result"] == 1


@pytest.mark.parametrize("where", [("--json", "call"), ("call", "--json")])
def test_json_may_stand_before_the_command_or_after_it(tally: Tally, where: tuple[str, str]) -> None:
    called = tally(*where, "word_count", '{"text":"one"}')
    assert called.json["status"] == "accepted"
    assert called.json["receipt_id"].startswith("rcpt_")


def test_arguments_given_singly_are_read_as_the_tool_takes_them(tally: Tally) -> None:
    called = tally("call", "word_count", "--arg", "text=7 8", "-a", "times=3", "--json")
    assert called.json["proposal"]["payload"] == {"text": "7 8", "times": 3}
    assert called.json["result"] == 6


def test_an_argument_may_be_given_as_json(tally: Tally) -> None:
    assert tally("call", "word_count", "-a", 'text:="a b"', "-a", "times:=2", "--json").json["result"] == 4


def test_an_argument_of_the_wrong_kind_is_refused_by_the_gate_not_bent(tally: Tally) -> None:
    refused = tally("call", "word_count", "-a", "text:=7", "--json")
    assert refused.code == 1
    assert refused.json["rejection"]["code"] == "INVALID_PAYLOAD"
    assert refused.json["rejection"]["pointer"] == "/text"


def test_arguments_may_come_from_stdin(tally: Tally) -> None:
    assert tally("call", "word_count", "-", "--json", stdin='{"text":"a b"}').json["result"] == 2


@pytest.mark.promise("doors.cli-receipts")
@pytest.mark.parametrize(
    "args",
    ['{"text":"a","text":"b"}', "[1]", "not json", '{"text":"a"} done', '```json\n{"text":"a"}\n```', '{"text":NaN}',
     '{"times":9007199254740993,"text":"a"}', "", "{" * 100],
)  # fmt: skip
def test_arguments_that_are_not_one_json_object_are_refused_with_a_receipt(tally: Tally, args: str) -> None:
    refused = tally("--json", "call", "word_count", "-", stdin=args)
    assert refused.code == 1
    assert refused.json["rejection"]["code"] == "INVALID_PAYLOAD"
    shown = tally("--json", "audit", "show", refused.json["receipt_id"]).json
    assert shown["tool_id"] == "word_count"
    assert shown["caller"]["channel"] == "cli"


@pytest.mark.parametrize(
    "words", [["{}", "-a", "text=a"], ["-a", "text"], ["-a", "=a"], ["-a", "a=1", "-a", "a=2"], ["-a", "text:=x"]]
)
def test_arguments_that_make_no_sense_are_wrong_use(tally: Tally, words: list[str]) -> None:
    wrong = tally("call", "word_count", *words)
    assert (wrong.code, wrong.error) == (2, "usage")


@pytest.mark.promise("doors.cli-exits")
def test_each_way_a_call_can_end_has_its_exit_code(tally: Tally) -> None:
    assert tally("call", "word_count", '{"text":""}').code == 0
    assert tally("call", "no_such_tool").code == 1
    assert tally("call", "word_count", "{}").code == 1
    assert tally("call").code == 2
    assert tally("call", "send_mail", '{"to":"a","body":"b"}').code == 3
    assert tally("call", "broken", '{"number":1}').code == 6


def test_a_refusal_is_one_line_with_its_code(tally: Tally) -> None:
    refused = tally("call", "no_such_tool\x1b[2J")
    assert refused.error == "INVALID_TOOL_NAME"
    assert refused.out == ""
    assert "\x1b" not in refused.err


def test_a_tool_that_fails_is_told_without_its_stack(tally: Tally) -> None:
    failed = tally("call", "broken", '{"number":1}')
    assert failed.error == "tool_failed"
    assert "Traceback" not in failed.err
    assert "secret inside" not in failed.err


TYPED = """
from datetime import date

from tallystick import tool


@tool(effect="read")
def due(day: date, weeks: float) -> date:
    "When a loan is due."
    assert type(day) is date
    assert type(weeks) is float
    return date.fromordinal(day.toordinal() + round(weeks * 7))
"""


@pytest.mark.promise("admit.typed-arguments", "execute.typed-results")
def test_a_tool_receives_what_its_annotations_say_and_its_result_is_json(tally: Tally, workspace: Path) -> None:
    (workspace / "tools.py").write_text(TYPED, encoding="utf-8")
    assert tally("--json", "call", "due", '{"day":"2026-01-01","weeks":2}').json["result"] == "2026-01-15"
    assert tally("call", "due", '{"day":"2026-13-01","weeks":2}').code != 0
    assert tally("call", "due", '{"day":"2026-01-01","weeks":"2"}').code == 1


@pytest.mark.promise("api.failed")
def test_a_call_whose_tool_raised_is_shown_as_failed_and_keeps_its_published_status(tally: Tally) -> None:
    assert "error: tool_failed: Failed: " in tally("call", "broken", '{"number":1}').err
    assert tally("--json", "call", "broken", '{"number":1}').json["status"] == "accepted"
    assert "Failed" not in tally("call", "broken", "{}").err


@pytest.mark.promise("api.failed")
def test_the_list_of_receipts_shows_a_failed_call_as_failed_with_its_code(tally: Tally) -> None:
    tally("call", "broken", '{"number":1}')
    tally("call", "word_count", '{"text":""}')
    [row] = [line for line in tally("audit", "list", "--status", "failed").out.splitlines() if "broken" in line]
    assert row.split()[-2:] == ["failed", "tool_failed"]
    published = tally("--json", "audit", "list", "--tool", "broken", "--kind", "outcome").json["items"]
    assert [item["outcome"]["status"] for item in published] == ["accepted"]
    assert "word_count" not in tally("audit", "list", "--status", "failed").out


def test_a_held_call_says_how_to_answer_it(tally: Tally) -> None:
    held = tally("call", "send_mail", '{"to":"a","body":"b"}')
    assert held.out == ""
    assert "tally approvals show appr_" in held.err


@pytest.mark.promise("doors.cli-visible")
def test_B06_output_and_description_of_a_tool_are_printed_escaped(tally: Tally) -> None:
    called = tally("call", "loud")
    assert called.out.split("\n") == [
        r"red \x1b[31m, turned \u202e, tagged \U000e0041, empty \u200b",
        "second line",
        "",
    ]
    as_json = tally("call", "loud", "--json")
    assert as_json.out.isascii()
    assert "\u202e" in as_json.json["result"]
    assert r"\x1b[31m" in tally("tools").out


def test_a_dry_run_of_a_tool_that_offers_none_is_refused(tally: Tally) -> None:
    assert tally("call", "broken", '{"number":1}', "--dry-run").code == 1


def test_a_session_may_be_named_but_not_by_a_path(tally: Tally) -> None:
    assert tally("call", "word_count", '{"text":"a"}', "--session", "s1").code == 0
    assert [item["session_id"] for item in tally("--json", "audit", "list", "--session", "s1").json["items"]] == ["s1"]
    wrong = tally("call", "word_count", '{"text":"a"}', "--session", "../s1")
    assert (wrong.code, wrong.error) == (4, "session_id_invalid")


def test_the_nearest_workspace_above_is_meant(tally: Tally, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = workspace / "Story" / "Scenes"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert tally("call", "word_count", '{"text":"a"}').code == 0
    assert not (below / ".control-room").exists()


def test_another_workspace_may_be_named(
    tally: Tally, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tally("call", "-w", str(workspace), "word_count", '{"text":"a"}').code == 0
    assert tally("-w", str(workspace), "call", "word_count", '{"text":"a"}').code == 0


def test_a_folder_that_is_no_workspace_is_not_made_one_by_looking(tally: Tally, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for words in (["tools"], ["audit", "list"], ["approvals", "list"], ["keys", "show"], ["policy", "check"]):
        looked = tally(*words, "-w", str(empty))
        assert (looked.code, looked.error) == (4, "no_workspace")
    assert list(empty.iterdir()) == []


def test_quiet_says_nothing_but_errors(tally: Tally) -> None:
    called = tally("-q", "call", "word_count", '{"text":"a"}')
    assert (called.code, called.out) == (0, "")
    assert tally("-q", "call", "nothing").error == "INVALID_TOOL_NAME"


def test_what_a_tool_advises_is_told_to_people_too(tally: Tally, workspace: Path) -> None:
    failed = tally("call", "outline_analyzer", "{}")
    hint = tally("call", "outline_analyzer", "{}", "--json").json
    assert (failed.code, failed.error) == (6, "tool_failed")
    assert "Story/SCN-outline.md" in str(hint)
    assert "Story/SCN-outline.md" in failed.err


@pytest.mark.promise("telemetry.spans", "telemetry.rejections")
def test_calls_of_a_command_leave_spans_and_its_refusals_are_counted(
    tally: Tally, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = Tracing(provider.get_tracer("test"))
    monkeypatch.setattr(
        "tallystick.telemetry.observer.open_tracing", lambda chosen: tracing if chosen.telemetry.tracing else None
    )
    assert tally("call", "word_count", '{"text":"a"}').code == 0
    assert exporter.get_finished_spans() == ()
    monkeypatch.setenv("APP_ENABLE_TRACING", "true")
    assert tally("call", "word_count", '{"text":"a"}').code == 0
    assert tally("call", "word_count", '{"text":7}').code == 1
    assert [span.name for span in exporter.get_finished_spans()] == ["tool.call", "tool.call"]
    totals = json.loads((workspace / ".control-room" / "telemetry" / "totals.json").read_text(encoding="utf-8"))
    assert sum(totals["totals"]["rejections"].values()) == 1
