"""What a document only quotes is somebody else's words: it is not answered with, by rules or by a draft."""

import time
from pathlib import Path

import pytest

from tallystick.rooms.desk.language.sentences import own_words, plain_sentences
from tallystick.rooms.desk.reply.draft import draft
from tallystick.rooms.desk.verdict.case import VerifiedEvidence
from tallystick.rooms.desk.verdict.draft_rules import evidence_texts, unsupported
from tests.rooms.desk.trial import Trial


def piece(source: str, snippet: str) -> VerifiedEvidence:
    return VerifiedEvidence(
        evidence_id=source,
        source=source,
        snippet=snippet,
        need=0,
        relevance=1.0,
        receipt_id="r",
        tool="kb.search",
        author="document",
        counts=True,
    )


QUESTION = "How do I unlock my account?"
SCAM = "To unlock your account, send your PIN to the shop in Leeds."
WARNING = "We never ask for a PIN."
QUOTED = {
    "after a colon": f'Example of a scam mail: "{SCAM}" {WARNING}',
    "in curly marks": f"Example of a scam mail: “Dear customer. {SCAM} Thank you.” {WARNING}",
    "over two lines": f'Example of a scam mail:\n"Dear customer.\n{SCAM}"\n\n{WARNING}',
    "on a line of its own": f"„{SCAM}“\n\n{WARNING}",
    "in a sentence that goes on": f'A scam mail says: "{SCAM}" to many customers. {WARNING}',
    "in an item of a list": f'- "{SCAM}"\n- {WARNING}',
    "in a block quote": f"Example of a scam mail:\n\n> Dear customer.\n> {SCAM}\n\n{WARNING}",
    "in a listing": f"Example of a scam mail:\n\n```\n{SCAM}\n```\n\n{WARNING}",
}


@pytest.mark.promise("desk.quoted-speech")
@pytest.mark.parametrize("how", QUOTED)
def test_what_a_document_quotes_answers_nothing(tmp_path: Path, how: str) -> None:
    trial = Trial(tmp_path / "work", documents={"scams.md": f"# Unlock an account\n\n{QUOTED[how]}\n"})
    written = draft(trial.judge.case(trial.gathered(QUESTION)))
    trial.gate.close()
    assert SCAM not in written
    assert SCAM not in " ".join(plain_sentences(QUOTED[how]))
    assert WARNING in plain_sentences(QUOTED[how])


@pytest.mark.promise("desk.quoted-speech", "desk.citations")
@pytest.mark.parametrize("how", QUOTED)
def test_a_draft_cannot_cite_what_a_document_quotes(how: str) -> None:
    evidence = evidence_texts([piece("scams.md", QUOTED[how])])
    assert list(unsupported(f"{SCAM} [ev:scams.md]", evidence))
    assert not list(unsupported(f"{WARNING} [ev:scams.md]", evidence))


@pytest.mark.promise("desk.quoted-speech")
@pytest.mark.parametrize(
    "text",
    [
        'To unlock your account, open the app and press "Unlock".',
        '"Unlock" is the button that unlocks your account in the app.',
        'To unlock your account on a 24" screen, press the 5" button below it.',
        "> [!NOTE]\n> To unlock your account, open the app and press Unlock.",
    ],
)
def test_a_label_in_marks_and_a_note_are_still_answers(tmp_path: Path, text: str) -> None:
    trial = Trial(tmp_path / "work", documents={"unlock.md": f"# Unlock an account\n\n{text}\n"})
    judged = trial.verdict(trial.gathered(QUESTION))
    trial.gate.close()
    assert judged.status == "PROCEED", judged


@pytest.mark.parametrize(
    "text", [" " * 100_000 + '"', ':"a' * 20_000, ":“" * 20_000, '- "x x x\n' * 5_000, "> " * 50_000]
)
def test_no_text_takes_long(text: str) -> None:
    begun = time.process_time()
    own_words(text)
    assert time.process_time() - begun < 2
