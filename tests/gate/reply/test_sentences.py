import pytest

from tallystick.gate.reply.courtesy import is_courtesy
from tallystick.gate.reply.sentences import read_sentences, strip_references, written_sentences
from tests.gate.reply.small_workspace import Check

FORM = {"form": "per-sentence"}


@pytest.mark.promise("reply.per-sentence")
@pytest.mark.parametrize(
    "text",
    [
        "The app crashes when it is opened [ticket:12].",
        "The app crashes when it is opened. [ticket:12]",
        "The app crashes when it is opened.\n[ticket:12]",
        'The app crashes [ticket:12 "crashes when I open it"]. Another says so too [ticket:13].',
        '41.3 % of the tickets are open [figure 41.3 = share(status="open")].',
        "The keeper says the lamp was out (i.e. dark) at nine [obs:9f].",
        "Hello Anna,\n\nThank you for reaching out! The app crashes [ticket:12].\n\nBest regards,\nThe Support Team",
        "Dear Ms. O'Brien,\n\n- The app crashes [ticket:12].\n- It is broken again [ticket:13].\n\nKind regards\nJo",
        'One writes "crashes when I open it" [ticket:12].',
        'The rain began before dawn ["The rain had begun before dawn." receipt rcpt_good].',
        "The rain had begun before dawn [receipt rcpt_good].",
        "ACCESS_REQUEST Story/Secret/*.md",
    ],
)  # fmt: skip
def test_every_sentence_carries_its_reference(check: Check, text: str) -> None:
    findings = check(text, **FORM)
    assert findings.ok, findings.reason


@pytest.mark.promise("reply.per-sentence")
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The app crashes when it is opened.", "sentence_without_reference"),
        ("The app crashes. It is broken again [ticket:13].", "sentence_without_reference"),
        ("The app crashes [ticket:12]. We will refund you.", "sentence_without_reference"),
        ("The app crashes [see above].", "sentence_without_reference"),
        ("Hello, your refund is on its way", "sentence_without_reference"),
        ("Thank you for your patience, the refund is on its way.", "sentence_without_reference"),
        ("Best regards,\nYour refund of 500 euros follows", "sentence_without_reference"),
        ("The app crashes [ticket:99].", "record_unknown"),
        ('The app crashes [ticket:12 "crashes when I close it"].', "quote_misquoted"),
        ('One writes "it never crashes at all" [ticket:12].', "quote_not_found"),
        ('Most are open [figure 99 = share(status="open")].', "figure_differs"),
        ("The rain is well told [receipt rcpt_none].", "receipt_unknown"),
    ],
)
def test_a_sentence_without_a_good_reference_is_refused(check: Check, text: str, fault: str) -> None:
    findings = check(text, **FORM)
    assert (findings.ok, findings.fault) == (False, fault)


@pytest.mark.promise("reply.per-sentence-support")
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The app crashes when it is opened on 9 phones [ticket:12].", "number_unsupported"),
        ('The app never crashes [ticket:12 "crashes when I open it"].', "negation_unsupported"),
        ("The app crashes [ticket:12]. The app crashes on my phone when I open it [ticket:13].", "claim_unsupported"),
        ("The lamp was out at ten [obs:9f].", "number_unsupported"),
        ("The rain is well told [receipt rcpt_good].", "quote_missing"),
        ('900 tickets are open [figure 41.3 = share(status="open")].', "number_unsupported"),
        ('Nine tickets are open [figure 41.3 = share(status="open")].', "number_unsupported"),
        ('41.3 % are open since 2024-03-01 [figure 41.3 = share(status="open")].', "number_unsupported"),
        ('41.3 % are open, fewer than < 40 [figure 41.3 = share(status="open")].', "number_unsupported"),
    ],
)
def test_a_sentence_is_held_to_what_its_own_references_show(check: Check, text: str, fault: str) -> None:
    findings = check(text, **FORM)
    assert (findings.ok, findings.fault) == (False, fault)


@pytest.mark.promise("reply.references-removed")
def test_the_text_that_is_sent_has_no_references() -> None:
    text = 'Hello Anna,\n\nThe app crashes [ticket:12 "crashes when I open it"]. We know. [ticket:12]\nSee [1] and [x].'
    assert strip_references(text) == "Hello Anna,\n\nThe app crashes. We know.\nSee [1] and [x]."


@pytest.mark.parametrize(
    "text", ["Hi!", "Hello Anna,", "Dear Mr. Orde,", "Good morning Jo", "I hope this helps!", "Cheers,"]
)
def test_courtesies_claim_nothing(text: str) -> None:
    assert is_courtesy(text)


@pytest.mark.parametrize(
    "text",
    ["Hello refund approved", "Hi Anna your refund is approved", "Dear A B C D E", "Thanks to our team it works."],
)
def test_claims_are_no_courtesies(text: str) -> None:
    assert not is_courtesy(text)


def test_full_stops_inside_references_and_abbreviations_end_no_sentence() -> None:
    text = 'Mr. Orde left [ticket:12 "It. Is. Gone."] at 6.30 p.m. on Monday. He came back [ticket:13].'
    assert [len(sentence.claims) for sentence in read_sentences(text)] == [1, 1]


@pytest.mark.promise("reply.per-sentence")
def test_sentences_are_cut_with_their_references_so_that_each_can_be_checked_alone(check: Check) -> None:
    text = 'The app crashes [ticket:12 "crashes when I open it. Really"]. It is broken again.\n[ticket:13]\nNobody says so.'
    pieces = written_sentences(text)
    assert [len(read_sentences(piece)) for piece in pieces] == [1, 1, 1]
    assert [bool(read_sentences(piece)[0].claims) for piece in pieces] == [True, True, False]
    assert pieces[1].endswith("[ticket:13]")
    assert [check(piece, **FORM).ok for piece in pieces[1:]] == [True, False]
    assert written_sentences("") == written_sentences("[ticket:12]") == []


@pytest.mark.promise("reply.references-removed")
def test_where_only_one_kind_of_record_is_referred_to_other_brackets_are_text() -> None:
    text = 'Write args = ["serve", "kb/a.md"] there. [ticket:12]'
    assert strip_references(text, kind="ticket") == 'Write args = ["serve", "kb/a.md"] there.'
    assert [len(one.claims) for one in read_sentences(text, kind="ticket")] == [1]
    assert written_sentences(text, kind="ticket") == [text]
