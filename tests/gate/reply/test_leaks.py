import json

import pytest

from tallystick.gate.codes import Bucket
from tallystick.gate.reply.leaks import find_leak, is_abstention
from tests.gate.reply.small_workspace import VECTORS, Check

CASES = json.loads((VECTORS / "reply_leaks.json").read_text(encoding="utf-8"))
LINE = '\n\nEvidence: "The rain had begun before dawn, and by noon" Story/Scenes/SCN-01.md'


@pytest.mark.promise("reply.cot-leak")
@pytest.mark.parametrize("text", CASES["cot"])
def test_thinking_left_in_a_reply_is_a_leak(check: Check, text: str) -> None:
    findings = check(text + LINE)
    assert (findings.ok, findings.bucket) == (False, Bucket.COT_LEAK)
    assert check(text.replace("'", "’") + LINE).bucket == Bucket.COT_LEAK


@pytest.mark.promise("reply.tool-syntax")
@pytest.mark.parametrize("text", CASES["tool_syntax"])
def test_tool_syntax_in_a_reply_is_refused(check: Check, text: str) -> None:
    findings = check(text + LINE, tool_names=["file_reader"])
    assert (findings.ok, findings.bucket, findings.fault) == (False, Bucket.TOOL_SYNTAX, "tool_syntax")


@pytest.mark.parametrize("text", CASES["clean"])
def test_an_ordinary_reply_does_not_leak(check: Check, text: str) -> None:
    assert find_leak(text, ["file_reader", "search"]) is None
    assert check(text + LINE, tool_names=["file_reader", "search"]).code not in {"cot_leak", "tool_syntax"}


def test_a_long_text_is_no_abstention() -> None:
    assert not is_abstention(" " * 100_000 + "abstain" + "s" * 300)
