"""The acceptance tests of the documents the product comes from, as far as they are about evidence."""

import pytest

from tests.gate.reply.small_workspace import Check

SCENE = "Story/Scenes/SCN-01.md"
QUOTE = '"The rain had begun before dawn, and by noon the harbour was a sheet of grey water."'
ROUND = {"conference": True, "round_id": "r1"}


@pytest.mark.parametrize("where", [ROUND, {}], ids=["conference", "one to one"])
def test_a_quote_that_is_not_in_the_file_is_rejected(check: Check, where: dict[str, object]) -> None:
    assert check.line(f'"The rain had never begun that day, not once" {SCENE}', **where).code == "quote_not_found"


def test_a_phase_two_agent_may_cite_the_chiefs_receipt(check: Check) -> None:
    assert check("It works.\n\n**Evidence:** receipt rcpt_good", agent="critic", **ROUND).ok


def test_a_bold_evidence_line_is_accepted(check: Check) -> None:
    assert check(f"It works.\n\n**Evidence:** {QUOTE} {SCENE}").ok


@pytest.mark.parametrize("where", [ROUND, {}], ids=["conference", "one to one"])
def test_a_structural_claim_without_line_or_section_is_rejected(check: Check, where: dict[str, object]) -> None:
    assert check(f"It works.\n\nEvidence (structural): {SCENE}", **where).code == "evidence_invalid"
    assert (
        check(f"It works.\n\nEvidence (structural): {SCENE}, the section on rain", **where).code == "evidence_invalid"
    )


def test_an_abstention_is_detected_before_anything_else(check: Check) -> None:
    assert check("ABSTAIN", agent="critic", tools_ran=True, **ROUND).abstained
    assert not check("I would not abstain", **ROUND).abstained


def test_an_absence_claim_states_its_scope(check: Check) -> None:
    assert check.line('checked Story/Scenes/SCN-01–SCN-03 for "golden ring"').ok
    assert check('It is not there.\n\nEvidence (absence): "golden ring"').code == "evidence_invalid"


def test_a_tool_call_in_plain_text_is_rejected(check: Check) -> None:
    reply = f'file_reader(file_path="{SCENE}")\n\nEvidence: {QUOTE} {SCENE}'
    assert check(reply, tool_names=["file_reader"]).code == "tool_syntax"


def test_evidence_with_a_missing_or_invalid_receipt_is_rejected(check: Check) -> None:
    assert check.line(f"{QUOTE} {SCENE}", tools_ran=True).code == "evidence_invalid"
    assert check.line("receipt rcpt_doesnotexist", tools_ran=True).code == "evidence_invalid"
