import json
from hashlib import sha256
from typing import Any

import pytest

from tallystick.gate.quotes import fold
from tests.gate.reply.small_workspace import LINES, Check

SCENE = "Story/Scenes/SCN-01.md"
REPLY = (
    "It works.\n\n"
    f'Evidence: "“You cannot go,” said Mara; “not in this.”" {SCENE}:L4; receipt rcpt_good; '
    'checked Story/Scenes/SCN-01…SCN-02 for "dragon"'
)


def floats_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [found for inner in value.values() for found in floats_in(inner)]
    if isinstance(value, list):
        return [found for inner in value for found in floats_in(inner)]
    return [value] if isinstance(value, float) else []


@pytest.mark.promise("reply.result")
def test_the_result_says_where_each_item_was_found(check: Check) -> None:
    wire = check(REPLY).as_dict()
    digest = sha256(LINES["files"][SCENE].encode()).hexdigest()
    assert wire["ok"] is True
    assert wire["receipts"] == ["rcpt_good"]
    assert wire["items"][0] == {
        "kind": "content",
        "source": f"{SCENE}:L4-L4",
        "ok": True,
        "matched": {"path": SCENE, "sha256": digest, "lines": [4, 4]},
    }
    assert "bucket" not in wire


@pytest.mark.promise("reply.result")
def test_a_refused_reply_names_bucket_code_and_reason(check: Check) -> None:
    wire = check.line(f'"You cannot go, she cried out aloud" {SCENE}').as_dict()
    assert wire["ok"] is False
    assert wire["bucket"] == wire["code"] == "quote_not_found"
    assert wire["items"][0]["ok"] is False
    assert wire["items"][0]["reason"]


@pytest.mark.promise("reply.record-binds-excerpts")
def test_the_record_binds_reply_excerpts_lines_and_hashes(check: Check) -> None:
    findings = check(REPLY)
    record = findings.evidence_record()
    assert record["reply_sha256"] == sha256(REPLY.encode()).hexdigest()
    assert record["line"] == REPLY.splitlines()[-1]
    assert floats_in(record) == []
    json.dumps(record)
    content = record["items"][0]
    assert content["lines"] == [4, 4]
    assert content["excerpt"] == LINES["files"][SCENE].splitlines()[3]
    assert content["excerpt_sha256"] == sha256(content["excerpt"].encode()).hexdigest()
    assert fold(content["quote"]) in fold(content["excerpt"])
    assert [ref["path"] for ref in record["items"][2]["files"]] == ["Story/Scenes/SCN-02-arrival.md"]


@pytest.mark.promise("reply.record-binds-excerpts")
def test_the_header_names_every_file_once(check: Check) -> None:
    refs = check(REPLY).file_refs()
    assert [ref["path"] for ref in refs] == [SCENE, SCENE, "Story/Scenes/SCN-02-arrival.md"]
    assert set(refs[0]) == {"path", "sha256", "lines", "excerpt_sha256"}
    assert all(len(ref["sha256"]) == 64 for ref in refs)


def test_the_quote_that_is_kept_stands_in_its_excerpt_even_where_the_reply_added_a_comma(check: Check) -> None:
    matched = check.line(f'"She kept the silver key on a string," {SCENE}').items[0].matched
    assert matched is not None
    assert matched.excerpt is not None
    assert fold(matched.quote or "?") in fold(matched.excerpt)
    assert not matched.normalised


def test_a_typographic_difference_is_reported(check: Check) -> None:
    matched = check.line(f"\"'You cannot go,' said Mara; 'not in this.'\" {SCENE}").items[0].matched
    assert matched is not None
    assert matched.normalised
    assert matched.as_dict()["normalised"] is True


def test_a_file_of_one_huge_line_does_not_end_up_in_the_record(check: Check) -> None:
    check.write("Notes/long.txt", "and so on " * 5_000 + "until the very end of it all")
    matched = check.line('"until the very end of it all" Notes/long.txt').items[0].matched
    assert matched is not None
    assert matched.excerpt == "until the very end of it all"
