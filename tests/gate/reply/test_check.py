from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.gate.reply.check import MAX_REPLY
from tallystick.gate.reply.sentences import strip_references
from tallystick.gate.reply.statements import MAX_STATEMENTS
from tests.gate.reply.small_workspace import LINES, POINTER, Check, receipt
from tests.sizes import size

QUOTE = '"The rain had begun before dawn, and by noon the harbour was a sheet of grey water."'
SCENE = "Story/Scenes/SCN-01.md"
NO_RECEIPT = {"receipt_missing", "action_without_receipt", "tool_not_used"}


def named(cases: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[case["name"].replace(" ", "-") for case in cases])


@named(LINES["cases"])
@pytest.mark.promise(
    "reply.content", "reply.min-words", "reply.lines", "reply.structural", "reply.absence", "reply.tool-result",
    "reply.record", "reply.figure", "reply.request", "reply.quote-runs-to-its-reference",
    "reply.forgiving-in-form", "reply.mismatch-says-what-is-missing",
)  # fmt: skip
def test_each_item_on_the_line_is_checked_against_its_source(check: Check, case: dict[str, Any]) -> None:
    findings = check.line(case["line"])
    assert (findings.ok, findings.code, findings.fault) == (case["ok"], case.get("code"), case.get("fault"))
    if case["ok"]:
        assert [item.kind for item in findings.items] == case["kinds"]
        assert all(item.ok for item in findings.items)
    else:
        assert findings.reason


@named(LINES["labels"])
@pytest.mark.promise("reply.labels", "reply.tag")
def test_the_label_may_name_the_claim_type(check: Check, case: dict[str, Any]) -> None:
    findings = check(f"{POINTER}\n\n{case['label']} {case['line']}")
    assert (findings.ok, findings.fault) == (case["ok"], case["fault"])


@pytest.mark.promise("reply.one-evidence-line")
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The scene holds together.", "no_evidence_line"),
        (f"It holds, see Evidence: {QUOTE} {SCENE}", "no_evidence_line"),
        (f"Evidence: {QUOTE} {SCENE}\nEvidence: {QUOTE} {SCENE}", "two_evidence_lines"),
        (f"**Evidence:** {QUOTE} {SCENE}\n\nMore.\n\n__Evidence:__ {QUOTE} {SCENE}", "two_evidence_lines"),
        (f"Look:\n```\nEvidence: {QUOTE} {SCENE}\n```", "evidence_in_code"),
        (f"Look:\n~~~text\nEvidence: {QUOTE} {SCENE}", "evidence_in_code"),
        (f"```\nEvidence: {QUOTE} {SCENE}\n```\nEvidence: {QUOTE} {SCENE}", "two_evidence_lines"),
        (f"> Evidence: {QUOTE} {SCENE}", "no_evidence_line"),
        (f"Evidence: {'x' * 30_000}", "evidence_too_long"),
        ("Evidence: " + f"{SCENE}:L1; " * 65, "too_many_items"),
    ],
)
def test_there_is_exactly_one_evidence_line(check: Check, text: str, fault: str) -> None:
    findings = check(text)
    assert (findings.ok, findings.code, findings.fault) == (False, "evidence_invalid", fault)


@pytest.mark.promise("reply.forgiving-in-form")
@pytest.mark.parametrize(
    "line",
    [
        f'"The rain had begun before dawn, and by noon\nthe harbour was a sheet of grey water." {SCENE}',
        f"{QUOTE}\n{SCENE}",
        f'"“You cannot go,” said\nMara; “not\nin this.”" {SCENE}; receipt rcpt_good',
    ],
)
def test_a_wrapped_evidence_line_is_still_one(check: Check, line: str) -> None:
    assert check(f"It works.\n\nEvidence: {line}\n\nThat is all.").ok
    assert not check(f"It works.\n\nEvidence: {line.replace('the', 'a').replace('You', 'They')}").ok


def test_a_reply_with_a_closed_code_block_above_its_evidence_is_fine(check: Check) -> None:
    assert check(f"```\nint x;\n```\nEvidence: {QUOTE} {SCENE}").ok


@pytest.mark.promise("reply.abstain")
@pytest.mark.parametrize("text", ["ABSTAIN", "abstain", "  Abstain\n", "\tABSTAIN \r\n", "ABSTAIN.", "**ABSTAIN**"])
def test_abstain_alone_is_an_abstention_in_a_conference(check: Check, text: str) -> None:
    findings = check(text, conference=True, round_id="r1")
    assert findings.ok
    assert findings.abstained
    assert findings.items == ()
    assert findings.as_dict() == {"ok": True, "items": [], "abstained": True}


@pytest.mark.promise("reply.abstain")
@pytest.mark.parametrize(
    "text", ["I would not abstain.", "ABSTAIN\nEvidence: receipt rcpt_good; x", "ABSTAIN, for the scene is not mine."]
)
def test_only_the_keyword_alone_abstains(check: Check, text: str) -> None:
    findings = check(text, conference=True, round_id="r1")
    assert not findings.abstained
    assert findings.code == "evidence_invalid"


def test_outside_a_conference_nobody_abstains(check: Check) -> None:
    assert check("ABSTAIN").code == "evidence_invalid"


@pytest.mark.promise("reply.receipts-when-tools-ran")
def test_a_reply_after_tools_ran_cites_a_receipt(check: Check) -> None:
    assert check.line(f"{QUOTE} {SCENE}", tools_ran=True).fault == "receipt_missing"
    assert check.line(f"{QUOTE} {SCENE}; receipt rcpt_good", tools_ran=True).ok


@pytest.mark.promise("reply.receipts-when-tools-ran")
@pytest.mark.parametrize(
    "claim",
    [
        "I used the file_reader tool on the rain.", "According to the search tool, the rain had begun before dawn.",
        "The tool returned the rain before dawn.", "file_reader found the rain.", "I checked the rain via `file_reader`.",
    ],
)  # fmt: skip
def test_a_reply_that_says_a_tool_was_used_cites_a_receipt(check: Check, claim: str) -> None:
    reply = f"{claim}\n\nEvidence: {QUOTE} {SCENE}"
    names = ["file_reader", "canon_checker"]
    check.book.held["rcpt_read"] = receipt("rcpt_read", tool_id="file_reader")
    check.book.held["rcpt_canon"] = receipt("rcpt_canon", tool_id="canon_checker")
    assert check(reply, tool_names=names).fault in NO_RECEIPT
    assert check(reply, tool_names=names, tools_ran=False).fault in NO_RECEIPT
    assert check(f"{reply}; receipt rcpt_read", tool_names=names).ok
    assert ("file_reader" in claim) == (check(f"{reply}; receipt rcpt_canon", tool_names=names).fault in NO_RECEIPT)


@pytest.mark.parametrize(
    "claim", ["The search for the key goes on.", "A file_reader could help here.", "Her tool is a key."]
)
def test_a_reply_that_only_speaks_of_tools_needs_no_receipt(check: Check, claim: str) -> None:
    found = check(f"{claim}\n\nEvidence: {QUOTE} {SCENE}", tool_names=["file_reader", "search"])
    assert found.fault not in NO_RECEIPT


@pytest.mark.promise("reply.receipt-belongs-here")
def test_in_a_conference_a_receipt_belongs_to_the_round(check: Check) -> None:
    check.book.held["rcpt_other"] = receipt("rcpt_other", session_id="s9", round_id="r1")
    check.book.held["rcpt_elsewhere"] = receipt("rcpt_elsewhere", conference_id="c2")
    here = {"conference": True, "round_id": "r1", "conference_id": "c1"}
    assert check.line("receipt rcpt_good", **here).ok
    assert check.line("receipt rcpt_other", **here).ok
    assert check.line("receipt rcpt_elsewhere", **here).fault == "receipt_foreign"
    assert check.line("receipt rcpt_good", **here | {"round_id": "r2"}).fault == "receipt_foreign"
    assert check.line("receipt rcpt_good", conference=True).fault == "receipt_foreign"


def test_a_receipt_named_only_in_the_body_must_be_good_as_well(check: Check) -> None:
    reply = f"As rcpt_none shows.\n\nEvidence: {QUOTE} {SCENE}"
    assert check(reply).fault == "receipt_unknown"
    assert check(reply.replace("rcpt_none", "rcpt_good")).receipts == ("rcpt_good",)


@pytest.mark.promise("reply.own-text")
def test_a_result_that_only_repeats_what_the_call_was_given_proves_nothing(check: Check) -> None:
    words = "The dragon was always meant to be a metaphor"
    echo = receipt("rcpt_echo")
    object.__setattr__(echo, "outputs", {"saved": words, "by": "The keeper said so herself."})
    check.book.held["rcpt_echo"] = echo
    assert check.line(f'"{words}" receipt rcpt_echo').ok
    object.__setattr__(echo, "inputs", {"tool": "save", "args": {"text": words}})
    findings = check.line(f'"{words}" receipt rcpt_echo')
    assert (findings.code, findings.fault) == ("evidence_invalid", "own_text")
    assert check.line('"The keeper said so herself" receipt rcpt_echo').ok
    body = f'As it says: "{words}".\n\nEvidence: receipt rcpt_echo'
    assert check(body).fault == "own_text"


@pytest.mark.promise("reply.own-text")
def test_what_a_client_reports_of_its_own_call_is_held_against_what_the_call_was_given(check: Check) -> None:
    words = "The dragon was always meant to be a metaphor"
    called = receipt("rcpt_called")
    object.__setattr__(called, "inputs", {"tool": "save", "args": {"text": words}})
    reported = receipt("rcpt_reported", kind="report", outcome={"status": "reported"}, links={"outcome": "rcpt_called"})
    object.__setattr__(reported, "inputs", None)
    object.__setattr__(reported, "outputs", f"{words}, and the sea is the sea.")
    check.book.held |= {"rcpt_called": called, "rcpt_reported": reported}
    assert check.line(f'"{words}" receipt rcpt_reported').fault == "own_text"
    assert check.line('"and the sea is the sea" receipt rcpt_reported').ok


@pytest.mark.promise("reply.role-sources")
@pytest.mark.parametrize(
    ("agent", "line", "fault"),
    [
        ("planner", "outline: SCN-01", None),
        ("planner", f"{SCENE}:L1", "role_source_missing"),
        ("planner", f"outline: SCN-01; {SCENE}:L1", None),
        ("critic", f"{QUOTE} {SCENE}", None),
        ("critic", "outline: SCN-01", "role_source_missing"),
        ("writer", '"Mara has grey eyes and a scar" Canon.md', "role_source_missing"),
        ("editor", 'checked Story/Scenes/*.md for "golden ring"', None),
        ("continuity", '"Mara has grey eyes and a scar" Canon.md', None),
        ("continuity", "Compendium/Characters/CHAR-mara.md:L3", None),
        ("continuity", f"{SCENE}:L3", None),
        ("continuity", "Notes/plan.txt:L3", "role_source_missing"),
        ("chief", f"{QUOTE} {SCENE}", "role_source_missing"),
        ("chief", "receipt rcpt_good", None),
        ("Chief of Staff", '"crashes when I open it" ticket:12; receipt rcpt_good', None),
        ("critic", "receipt rcpt_good", None),
        ("planner", "receipt rcpt_good", "role_source_missing"),
        ("someone else", "Notes/plan.txt:L3", None),
        (None, "Notes/plan.txt:L3", None),
    ],
)
def test_a_role_looks_where_it_should(check: Check, agent: str | None, line: str, fault: str | None) -> None:
    assert check.line(line, agent=agent).fault == fault


@pytest.mark.promise("reply.role-sources")
def test_role_sources_can_be_configured(check: Check) -> None:
    chosen = {"critic": ["Notes/*"], "planner": ["anything"], "scribe": ["Compendium"]}
    assert check.line("Notes/plan.txt:L3", agent="critic", role_sources=chosen).ok
    assert check.line(f"{SCENE}:L3", agent="critic", role_sources=chosen).fault == "role_source_missing"
    assert check.line(f"{SCENE}:L3", agent="planner", role_sources=chosen).ok
    assert check.line(f"{SCENE}:L3", agent="scribe", role_sources=chosen).fault == "role_source_missing"
    assert check.line("Compendium/Characters/CHAR-mara.md:L3", agent="scribe", role_sources=chosen).ok


@pytest.mark.promise("reply.request")
def test_a_request_quotes_nothing_and_says_what_it_asks_for(check: Check) -> None:
    findings = check.line("ACCESS_REQUEST Story/Secret/*.md", tools_ran=True, agent="critic")
    assert findings.ok
    assert findings.request == "Story/Secret/*.md"
    quoting = 'She says "I will never leave".\n\nEvidence: ACCESS_REQUEST Story/Secret/*.md'
    assert check(quoting).fault == "request_not_alone"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "reply_empty"),
        (" \n ", "reply_empty"),
        ("x" * (MAX_REPLY + 1), "reply_too_long"),
        ("\ud800", "reply_not_text"),
    ],
)
def test_what_is_no_reply_is_a_format_error(check: Check, text: str, fault: str) -> None:
    findings = check(text)
    assert (findings.ok, findings.code, findings.fault) == (False, "format_error", fault)


@pytest.mark.parametrize("line", ["", f"\n\nEvidence: {QUOTE} {SCENE}"])
@pytest.mark.parametrize("polite", ["Thank you. ", "Thank you.\n"])
def test_a_claim_cannot_hide_behind_more_sentences_than_are_read(check: Check, polite: str, line: str) -> None:
    claim = f"The captain drowned in 1843.{line}"
    for times in (MAX_STATEMENTS - 1, MAX_STATEMENTS, MAX_STATEMENTS + 1):
        findings = check(polite * times + claim)
        assert (findings.ok, findings.code, findings.fault) == (False, "format_error", "too_many_sentences")
    assert not check(polite * (MAX_STATEMENTS - 2) + claim).ok
    assert check(polite * (MAX_STATEMENTS // 2)).ok


@pytest.mark.promise("reply.current-hash")
def test_a_quote_is_checked_against_the_file_as_it_is_now(check: Check) -> None:
    assert check.line(f"{QUOTE} {SCENE}").ok
    check.write(SCENE, "The rain had ended before dawn.\n")
    assert check.line(f"{QUOTE} {SCENE}").code == "quote_not_found"


def test_a_near_miss_shows_the_closest_real_line(check: Check) -> None:
    findings = check.line(f'"The rain had begun before dusk, and by noon the" {SCENE}')
    assert findings.fault == "quote_misquoted"
    closest = findings.items[0].as_dict()["closest"]
    assert closest["line"] == 3
    assert closest["text"].startswith("The rain had begun before dawn")
    assert 80 < closest["similarity"] < 100


anything = st.text(max_size=200) | st.lists(
    st.sampled_from(
        ["Evidence:", "**Evidence:**", " ", "\n", '"', "“", "”", "'", ";", ":", "L3", "-", "§", "checked", "for", "…",
         SCENE, "Story/*.md", "receipt", "rcpt_good", "ticket:12", "figure 1 =", "ACCESS_REQUEST", "outline:", "[", "]",
         "The rain had begun before dawn", "not in", "```", "../", "\x00", "\u200b", ">", "*", "(", ")", "`", ","]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@settings(max_examples=size(300, 5_000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=anything, form=st.sampled_from(["line", "per-sentence"]), conference=st.booleans())
@pytest.mark.promise("reply.any-text")
def test_any_text_gets_an_answer_that_can_be_recorded(check: Check, text: str, form: Any, *, conference: bool) -> None:
    findings = check(text, form=form, conference=conference, agent="critic", tool_names=["file_reader"])
    assert findings.ok == (findings.code is None)
    orjson.dumps(findings.as_dict())
    orjson.dumps(findings.evidence_record())
    strip_references(text)
