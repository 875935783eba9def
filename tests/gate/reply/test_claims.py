"""A reply is held to what it says: what a sentence claims decides which evidence it needs."""

from typing import Any

import pytest

from tests.gate.reply.small_workspace import Check, receipt

SCENE = "Story/Scenes/SCN-05.md"
TEXT = (
    "# The Lantern\n\nMarta counts eleven lanterns on the pier.\n\nIf the wind turns, the ferry sails at nine.\n"
    "It was as if the whole harbour had burned in the night.\nIt is not true that the keeper lost the silver key.\n"
    "The keeper said that the lamp had failed twice that week.\n\n## Act II\n\n- The ferry leaves\n- The lamp fails\n"
)
COUNTS = f'"Marta counts eleven lanterns on the pier." {SCENE}'


@pytest.fixture
def told(check: Check) -> Check:
    check.write(SCENE, TEXT)
    check.book.held["rcpt_route"] = receipt("rcpt_route", tool_id="task_router")
    check.book.held["rcpt_fail"] = receipt(
        "rcpt_fail", tool_id="send_mail", outcome={"status": "accepted", "fault": "tool_failed", "category": "x"}
    )
    return check


def fault(check: Check, body: str, line: str, **more: Any) -> str | None:
    return check(f"{body}\n\nEvidence: {line}", **more).fault


@pytest.mark.promise("reply.claims-need-their-evidence")
@pytest.mark.parametrize(
    ("body", "line", "code"),
    [
        ("Marta owns nine cats and the harbour burned in 1850.", "receipt rcpt_good", "quote_missing"),
        ("Marta owns nine cats and the harbour burned in 1850.", "receipt rcpt_route", "quote_missing"),
        ("Marta owns nine cats and the harbour burned in 1850.", "receipt rcpt_fail", "quote_missing"),
        ("The word lantern never occurs in any scene.", COUNTS, "absence_missing"),
        ("No scene mentions lanterns.", f"{SCENE}:L3", "absence_missing"),
        ("Act II has only one beat.", COUNTS, "structure_missing"),
        ("Act II has only one beat.", f"{SCENE} § Act II", "structure_unsupported"),
        ("Marta counts eleven lanterns.", f"{SCENE}:L3", "quote_missing"),
        ("Marta counts twelve lanterns.", COUNTS, "number_unsupported"),
        ("Marta never counts the lanterns.", COUNTS, "negation_unsupported"),
        ("Marta counts all the lanterns on the pier.", COUNTS, "quantifier_unsupported"),
        ("Ilse counts eleven lanterns on the pier.", COUNTS, "name_unsupported"),
        ("Marta counts eleven lanterns, and the mayor pays her a salary for it.", COUNTS, "claim_unsupported"),
        ("The ferry sails at nine.", f'"the ferry sails at nine" {SCENE}:L5', "out_of_context"),
        ("The whole harbour burned in the night.", f'"the whole harbour had burned in the night" {SCENE}', "out_of_context"),
        ("The keeper lost the silver key.", f'"the keeper lost the silver key" {SCENE}', "out_of_context"),
        ("The lamp had failed twice that week.", f'"the lamp had failed twice that week" {SCENE}', "out_of_context"),
        ("I sent the mail to Marta.", f"{COUNTS}; receipt rcpt_good", "action_without_receipt"),
        ("I sent the mail about the lanterns.", f"{COUNTS}; receipt rcpt_fail", "action_failed"),
        ("I've escalated this to a colleague.", COUNTS, "action_without_receipt"),
    ],
)  # fmt: skip
def test_a_claim_that_its_evidence_does_not_show_is_refused(told: Check, body: str, line: str, code: str) -> None:
    findings = told(f"{body}\n\nEvidence: {line}")
    assert (findings.ok, findings.code, findings.fault) == (False, "evidence_invalid", code)
    assert findings.reason


@pytest.mark.promise("reply.claims-need-their-evidence")
@pytest.mark.parametrize("unit", ["feet", "metres", "minutes", "kilograms", "months", "years"])
def test_a_unit_that_the_quote_does_not_have_is_refused(told: Check, unit: str) -> None:
    told.write("Story/Scenes/SCN-06.md", "# The Well\n\nThe rope is eight fathoms, no more.\n")
    line = '"The rope is eight fathoms, no more." Story/Scenes/SCN-06.md'
    assert told(f"The rope is eight fathoms.\n\nEvidence: {line}").ok
    assert fault(told, f"The rope is eight {unit}.", line) == "unit_unsupported"


@pytest.mark.promise("reply.claims-need-their-evidence")
def test_the_month_of_a_quoted_day_may_come_from_the_heading(told: Check) -> None:
    told.write("Story/Scenes/SCN-06.md", "# April\n\nOn the 8th Marta lit the lamp on the pier.\n")
    line = '"On the 8th Marta lit the lamp on the pier." Story/Scenes/SCN-06.md'
    assert fault(told, "The lamp on the pier was lit on 8 April.", line) is None


@pytest.mark.promise("reply.claims-need-their-evidence")
@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("Marta counts 11 lanterns.", COUNTS),
        ("There are eleven lanterns on the pier, as Marta counts them.", COUNTS),
        ("Act II has two beats.", f"{SCENE} § Act II"),
        ("If the wind turns, the ferry sails at nine.", f'"the ferry sails at nine" {SCENE}:L5'),
        ("According to the keeper, the lamp failed twice that week.", f'"the lamp had failed twice that week" {SCENE}'),
        ("Marta counts eleven lanterns.", f'"marta counts eleven lanterns on the pier…" {SCENE}'),
        ("Marta counts eleven lanterns.", f'"…counts eleven lanterns on the pier" {SCENE}:L3'),
        ("The count is 42.", "receipt rcpt_good"),
    ],
)
def test_a_claim_that_its_evidence_shows_is_accepted(told: Check, body: str, line: str) -> None:
    findings = told(f"{body}\n\nEvidence: {line}")
    assert findings.ok, (findings.fault, findings.reason)
    assert not findings.unsure


LISTED = "The harbour master read it out: 7 boats sailed, 4 boats sank, the rest stayed in."
WATCH = "Piet Vos mends the nets, Lotte Baer steers the ferry."
BILL = "Rope costs 40 crowns and canvas costs 65 crowns."
MOVED = "The bell was moved from Chapel to Lighthouse."


@pytest.mark.promise("reply.values-stay-with-their-words")
@pytest.mark.parametrize(
    ("said", "true", "false", "code"),
    [
        (LISTED, "7 boats sailed and 4 boats sank.", "4 boats sailed and 7 boats sank.", "number_unsupported"),
        (WATCH, "Lotte Baer steers the ferry.", "Piet Vos steers the ferry.", "name_unsupported"),
        (MOVED, "The bell went from Chapel to Lighthouse.", "The bell went from Lighthouse to Chapel.", "name_unsupported"),
        (BILL, "Rope is the cheaper of the two.", "Canvas is the cheaper of the two.", "comparison_unsupported"),
        (BILL, "Canvas is dearer than rope.", "Rope is dearer than canvas.", "comparison_unsupported"),
    ],
)  # fmt: skip
def test_a_value_is_refused_with_the_words_of_another(told: Check, said: str, true: str, false: str, code: str) -> None:
    told.write("Story/Scenes/SCN-06.md", f"# The Harbour\n\n{said}\n")
    line = f'"{said}" Story/Scenes/SCN-06.md'
    assert fault(told, true, line) is None
    assert fault(told, false, line) == code


@pytest.mark.promise("reply.absence-wordings")
@pytest.mark.parametrize(
    "line",
    [
        'Evidence (absence): checked Story/Scenes/*.md for "unicorn"; receipt rcpt_good',
        'Evidence: checked scenes 1–3 for "unicorn"',
        'Evidence: checked scenes 1-3 for "unicorn"',
        'Evidence: checked all scenes for "unicorn"',
        'Evidence: checked Story/Scenes/SCN-01.md…Story/Scenes/SCN-03.md for "unicorn"',
        'Evidence (absence): checked Story/Scenes/SCN-01–SCN-03 for "unicorn"',
    ],
)
def test_absence_may_be_worded_as_people_word_it(told: Check, line: str) -> None:
    findings = told(f"No scene mentions a unicorn.\n\n{line}", tools_ran="receipt" in line)
    assert findings.ok, (findings.fault, findings.reason)


@pytest.mark.promise("reply.absence-wordings")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('checked scenes 1–9 for "unicorn"', "scope_missing"),
        ('checked all sonnets for "unicorn"', "scope_missing"),
        ('checked all scenes for "lantern"', "term_occurs"),
        ('checked all scenes for "griffin"', "absence_unsupported"),
    ],
)
def test_a_wording_does_not_make_a_search_true(told: Check, line: str, code: str) -> None:
    assert fault(told, "No scene mentions a unicorn.", line) == code


@pytest.mark.promise("reply.small-talk")
@pytest.mark.parametrize(
    "text",
    [
        "Hello! How can I help you today?",
        "Do you mean the trial, or the questioning at the pier?",
        "You're welcome! Shout if anything else comes up.",
        "I don't know who took the key. That isn't stated in these files.",
    ],
)
def test_small_talk_questions_and_not_knowing_need_no_evidence(told: Check, text: str) -> None:
    findings = told(text)
    assert findings.ok
    assert findings.items == ()


@pytest.mark.promise("reply.small-talk")
@pytest.mark.parametrize(
    "text",
    [
        "Happy to help! By the way, Marta owns nine cats.",
        "I don't know who took the key, but Marta lost it in the harbour.",
        "Sorry, I'm not sure. I have deleted the old prologue, though.",
        "Did you know that Marta owns nine cats?",
    ],
)
def test_a_courtesy_hides_no_claim(told: Check, text: str) -> None:
    assert told(text).fault == "no_evidence_line"


@pytest.mark.promise("reply.said-not-done")
@pytest.mark.parametrize(
    "body",
    [
        "I used canon_checker and it found no problem.",
        "I ran canon_checker: it found nothing.",
        "canon_checker reports no conflicts.",
        "According to canon_checker, the scene is fine.",
        "I've run the scene through canon_checker.",
        "The canon_checker tool returned no findings.",
        "Checked with canon_checker, the scene is clean.",
        "canon_checker came back clean.",
        "I called `canon_checker` on the scene.",
    ],
)
@pytest.mark.parametrize("tools_ran", [True, False, None])
def test_a_tool_that_did_not_run_was_not_used(told: Check, body: str, *, tools_ran: bool | None) -> None:
    found = fault(told, body, f"{COUNTS}; receipt rcpt_good", tools_ran=tools_ran, tool_names=["canon_checker"])
    assert found == "tool_not_used"


@pytest.mark.promise("reply.unsure")
def test_an_opinion_of_a_role_is_shown_as_unsure_and_never_hides_a_fact(told: Check) -> None:
    body = f"The pacing drags badly.\n\nEvidence: {COUNTS}"
    assert told(body).fault == "claim_unsupported"
    findings = told(body, agent="critic")
    assert findings.ok
    assert [item.source for item in findings.unsure] == ["The pacing drags badly."]
    assert findings.as_dict()["unsure"] == [{"claim": "The pacing drags badly.", "reason": findings.unsure[0].reason}]
    assert findings.evidence_record()["unsure"] == ["The pacing drags badly."]
    assert not told(f"Marta owns nine cats.\n\nEvidence: {COUNTS}", agent="critic").ok


@pytest.mark.promise("reply.linear")
@pytest.mark.parametrize(
    "text",
    [
        "Marta counts eleven lanterns. " * 8_000,
        "<b>Marta</b> zählt elf Laternen; Марта считает; マルタは数える。 " * 3_000,
        f"Evidence: {COUNTS}\nMarta counts twelve lanterns.",
        f"Marta counts eleven lanterns. Evidence: {COUNTS}",
        "x" * 1_000_000,
        "a 7, " * 20_000 + f"\nEvidence: {COUNTS}",
    ],
    ids=["10,000 claims", "mixed scripts", "line first", "no newline", "one megabyte", "20,000 clauses"],
)
def test_bad_input_gets_a_finding(told: Check, text: str) -> None:
    assert not told(text).ok


@pytest.mark.promise("reply.claims-need-their-evidence")
@pytest.mark.parametrize("reply", ["No.", "Nothing.", "None.", "She does.", "It is.", "Yes.", "They were not."])
def test_an_answer_without_a_content_word_needs_an_evidence_line(check: Check, reply: str) -> None:
    assert check(reply).fault == "no_evidence_line"
    assert check("Thanks!").ok


STAFF = "Story/Scenes/SCN-07.md"
STAFF_TEXT = (
    "# 1. Sundays\n\nMs Dacosta proposed to open from one to five. The lift stuck with Ms Vane in it. Gus Amory got her "
    "out before the fire brigade arrived.\n\nGus repaired the pump with a pin that Pia lent him. Ms Vane complained that "
    "Mr Hale had shouted at her.\n\nThe Glass, due on 4 May, and Salt Roads, due on 11 May, are on loan. The rest falls "
    "due once the work has been accepted.\n\nEvery paper except the Courier arrives before nine. On the busiest day 391 "
    "people came. The inspectors thought a pot the likely cause, but could not prove it. If a judge asks in writing, the "
    "archivist carries the letters to the court.\n"
)


@pytest.mark.promise("reply.claims-need-their-evidence")
@pytest.mark.parametrize(
    ("body", "quote", "code"),
    [
        ("Pia repaired the pump with a pin that Gus lent her.", "Gus repaired the pump with a pin that Pia lent him.", "name_unsupported"),
        ("Gus fixed the pump with a pin lent by Pia.", "Gus repaired the pump with a pin that Pia lent him.", None),
        ("Mr Hale lodged a complaint because Ms Vane had shouted at him.", "Ms Vane complained that Mr Hale had shouted at her.", "name_unsupported"),
        ("Ms Vane lodged a complaint because Mr Hale had shouted at her.", "Ms Vane complained that Mr Hale had shouted at her.", None),
        ("Salt Roads is due on 4 May and The Glass on 11 May.", "The Glass, due on 4 May, and Salt Roads, due on 11 May", "name_unsupported"),
        ("The Glass is due on 4 May and Salt Roads on 11 May.", "The Glass, due on 4 May, and Salt Roads, due on 11 May", None),
        ("The work is accepted once the rest falls due.", "The rest falls due once the work has been accepted.", "claim_unsupported"),
        ("Once the work is accepted, the rest falls due.", "The rest falls due once the work has been accepted.", None),
        ("The rest does not fall due until the work has been accepted.", "The rest falls due once the work has been accepted.", None),
        ("All papers arrive before nine.", "Every paper except the Courier arrives before nine.", "quantifier_unsupported"),
        ("Every paper other than the Courier arrives by nine in the morning.", "Every paper except the Courier arrives before nine.", None),
        ("Nearly four hundred people came on the busiest day.", "On the busiest day 391 people came.", None),
        ("Over four hundred people came on the busiest day.", "On the busiest day 391 people came.", "number_unsupported"),
        ("The inspectors proved the pot to be the cause.", "The inspectors thought a pot the likely cause, but could not prove it.", "negation_unsupported"),
        ("Ms Vane was got out by Gus Amory.", "Gus Amory got her out before the fire brigade arrived.", None),
        ("Ms Dacosta proposed to open on Sunday from one to five.", "Ms Dacosta proposed to open from one to five.", None),
        ("The archivist carries the letters to the court when a judge asks in writing.", "the archivist carries the letters to the court", None),
        ("The letters go to the court because the mayor wants them there.", "the archivist carries the letters to the court", "claim_unsupported"),
        ("The pump in the yard is made of bronze.", "Gus repaired the pump with a pin that Pia lent him.", "claim_unsupported"),
        ("The pump was repaired by Gus, who used a pin.", "Gus repaired the pump with a pin that Pia lent him.", None),
        ("The archivist carries the letters to the court.", "the archivist carries the letters to the court", "out_of_context"),
    ],
)  # fmt: skip
def test_what_the_quote_gives_to_one_is_not_given_to_the_other(
    told: Check, body: str, quote: str, code: str | None
) -> None:
    told.write(STAFF, STAFF_TEXT)
    assert fault(told, body, f'"{quote}" {STAFF}') == code
