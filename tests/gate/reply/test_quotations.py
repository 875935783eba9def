import pytest

from tallystick.gate.reply.quotations import MAX_FAILURES, quotations
from tests.gate.reply.small_workspace import Check

LINE = '\n\nEvidence: "The rain had begun before dawn, and by noon" Story/Scenes/SCN-01.md'


@pytest.mark.promise("reply.body-quotations")
@pytest.mark.parametrize(
    "body",
    [
        'She says "I will never leave" and goes.',
        "She says “I will never leave” and goes.",
        "She says «I will never leave» and goes.",
        "She says 'I will never leave' and goes.",
        "She says ‘I will never leave’ and goes.",
        "As it stands there:\n\n> I will never leave this\n> grey and windy place.",
        'She says "I will never\nleave" and goes.',
        'She says "I will never leave, and goes.',
        'True is "by noon the harbour", but "I will never leave" is not.',
        'She says "You can not go" there.',
        'She says "The rain had begun ... a sheet of grey water" there.',
        'She says "Was it the keeper who forgot." there.',
    ],
)
def test_a_made_up_quotation_in_the_body_is_found(check: Check, body: str) -> None:
    findings = check(body + LINE)
    assert (findings.ok, findings.code) == (False, "quote_not_found")
    assert findings.items[-1].kind == "quotation"


@pytest.mark.promise("reply.body-quotations")
@pytest.mark.parametrize(
    "body",
    [
        'She says "You cannot go" there.',
        "She says “You cannot go” there.",
        "She says 'You cannot go' there.",
        'She says "You cannot go," and he goes.',
        "As it stands there:\n\n> The rain had begun before dawn, and by noon the harbour\n> was a sheet of grey water.\n> — SCN-01",
        'The "silver key" and the word "string" are well set.',
        "It's the boys' boat, isn't it? The dogs' bowls and the keepers' lamps are fine.",
        "'Tis the keepers' fault, all of it, and the dogs' too.",
        "In the '90s this was new; by the '00s it was not, said the keepers' union.",
        'The line is 6" long and 5\'10" high.',
        '```\nprint("I will never leave")\n```',
    ],
)
def test_a_true_quotation_in_the_body_is_fine(check: Check, body: str) -> None:
    findings = check(body + LINE)
    assert not [item for item in findings.items if item.kind == "quotation"], findings.reason


@pytest.mark.promise("reply.body-quotations")
def test_a_quotation_must_stand_in_a_source_that_the_line_names(check: Check) -> None:
    body = 'Later "Nobody waited at the pier" and that is good.'
    assert check(body + LINE).code == "quote_not_found"
    assert check(body + LINE + "; Story/Scenes/SCN-02-arrival.md:L3").ok


def test_a_quotation_may_come_from_a_cited_result_or_record(check: Check) -> None:
    body = 'The log says "The rain had begun before dawn." and a reader "crashes when I open it".'
    assert check(body + '\n\nEvidence: receipt rcpt_good; "App crashes when I open" ticket:12').ok


def test_a_term_that_was_shown_to_be_absent_may_be_named(check: Check) -> None:
    body = 'The words "a golden ring indeed" are nowhere in the scenes.'
    assert check(body + '\n\nEvidence: checked Story/Scenes/*.md for "a golden ring indeed"').ok
    assert check(body + '\n\nEvidence: checked Story/Scenes/*.md for "a golden ring"').code == "quote_not_found"


def test_short_quotations_are_names_and_need_no_source() -> None:
    assert list(quotations(['The "silver key", the ‘grey water’, the "pier".'], set())) == []


def test_only_so_many_made_up_quotations_are_listed(check: Check) -> None:
    body = " ".join(f'"made up words number {number}"' for number in range(50))
    assert len(check(body + LINE).items) == 1 + MAX_FAILURES


def test_a_quotation_without_any_named_text_is_not_found(check: Check) -> None:
    findings = check('She says "I will never leave".\n\nEvidence: figure 1204 = count(panes)')
    assert findings.code == "quote_not_found"
