"""What a question turns on, which sentences there are, and what of them may be sent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.rooms.desk.drafting import draft
from tallystick.rooms.desk.judging.asking import Spoken, unanswered
from tallystick.rooms.desk.judging.case import Shown
from tallystick.rooms.desk.judging.choosing import choose
from tallystick.rooms.desk.judging.cited import disputed
from tallystick.rooms.desk.judging.contradicting import contradicted
from tallystick.rooms.desk.judging.replies import text_of, unsupported
from tallystick.rooms.desk.judging.saying import said_in, spoken
from tests.rooms.desk.trial import Trial

TENT = "Alpine tent, manual"
DOCUMENTS = {
    "tent.md": f"# {TENT}\n\n## First pitch\n\nPut the Alpine tent up on level ground and hammer the pegs in twice.\n\n"
    "## Care\n\n**Drying.** Hang the Alpine tent up for a day. Never pack it wet.\n\n"
    "### Can I machine wash it?\n\nNo, use a sponge and cold water.\n",
    "shop.md": "# Deliveries\n\n## Where we deliver\n\nWe deliver to Spain and Portugal.\n\n## Fetching it yourself\n\n"
    "Fetching is possible from Tuesday to Saturday.\n",
    "prices.md": "# Prices\n\nA groundsheet costs 30 euros. Repairs take two weeks.\n",
}


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    made = Trial(tmp_path / "work", documents=DOCUMENTS)
    yield made
    made.gate.close()


@pytest.mark.promise("desk.verdict")
@pytest.mark.parametrize(
    "content",
    [
        "Is the Alpine tent fireproof?", "How do I impregnate the Alpine tent?", "How heavy is the Alpine tent?",
        "What is the lifespan of the Alpine tent?", "Which colours does the Alpine tent come in?",
        "Do you deliver on Saturdays?", "Do you deliver to Norway?", "I was wondering whether you deliver on Saturdays",
        "How much does it cost?", "Who is the maker of the Alpine tent?",
    ],
)  # fmt: skip
def test_what_is_about_the_matter_and_passes_by_the_question_is_not_sent(trial: Trial, content: str) -> None:
    judged = trial.verdict(trial.gathered(content))
    assert judged.status == "DEFER"
    assert judged.rule_id in {"defer.not-answered", "defer.no-evidence"}


@pytest.mark.promise("desk.verdict")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("How do I put up the Alpine tent?", "Put the Alpine tent up on level ground"),
        ("Do you deliver to Spain?", "We deliver to Spain"),
        ("How do I dry the Alpine tent?", "Hang the Alpine tent up for a day."),
        ("Can I machine wash the Alpine tent?", "No, use a sponge and cold water."),
        ("How much does a groundsheet cost?", "A groundsheet costs 30 euros."),
        ("Where do you deliver?", "We deliver to Spain and Portugal."),
    ],
)
def test_what_speaks_of_what_is_asked_is_sent(trial: Trial, content: str, said: str) -> None:
    ticket = trial.gathered(content)
    assert trial.verdict(ticket).status == "PROCEED"
    assert said in text_of(draft(trial.judge.case(ticket), trial.policy))


@pytest.mark.promise("desk.verdict")
def test_that_nothing_speaks_of_the_word_has_an_id_and_names_the_word(trial: Trial) -> None:
    judged = trial.verdict(trial.gathered("Is the Alpine tent fireproof?"))
    assert judged.rule_id == "defer.not-answered"
    assert "fireproof" in judged.reason


@pytest.mark.parametrize(
    ("question", "sentence", "title", "answers"),
    [
        ("How long does a repair take?", "A repair takes two weeks.", "", True),
        ("How long does a repair take?", "A repair takes its time.", "", False),
        ("How often is the stove serviced?", "The stove is serviced yearly.", "", True),
        ("How much does a stove cost?", "A stove costs 40 euros.", "", True),
        ("How much does a stove cost?", "A stove costs five matches.", "", False),
        ("How much does a stove cost?", "The stove costs nothing.", "", True),
        ("What is the fee for a stove?", "The fee for a stove is paid at once.", "", False),
        ("What is a stove?", "A stove is a small oven.", "", True),
        ("What is a stove?", "Whoever has lost his own stove asks.", "", False),
        ("Does the stove run under Windows?", "The stove stands under windows and does not run.", "", False),
        ("Does the stove run under Windows?", "The stove does not run under Windows.", "", True),
        ("Is the Kite stove safe?", "It is safe.", "Kite stove", True),
        ("Do you repair stoves?", "We clean them.", "Stoves we repair", False),
        ("How do I repair a stove?", "Take the stove apart.", "To repair", True),
    ],
)
def test_an_answer_is_of_the_kind_and_of_the_matter_that_is_asked_for(
    question: str, sentence: str, title: str, *, answers: bool
) -> None:
    said = Spoken(sentences=(sentence,), titles=(title,) if title else ())
    assert (unanswered(question, said) is None) is answers


def piece(source: str, snippet: str, *, found: float, rank: int) -> Shown:
    return Shown(
        evidence_id=source, source=source, snippet=snippet, need=0, relevance=1.0, receipt_id="rcpt_1", found=found,
        rank=rank, tool="kb.search", author="document", counts=True,
    )  # fmt: skip


@pytest.mark.promise("desk.verdict")
@pytest.mark.parametrize(
    ("other", "rivals"),
    [
        ("The spare key of the hut hangs behind the door.", ("south.md", "north.md")),
        ("The spare key of the hut hangs behind door 7.", None),
    ],
)
def test_where_another_document_answers_as_well_with_other_words_nothing_is_chosen(
    other: str, rivals: tuple[str, str] | None
) -> None:
    first = "The key of the hut lies under bench 7." if rivals is None else "The key of the hut lies under the bench."
    found = [piece("north.md", first, found=0.9, rank=0), piece("south.md", other, found=0.6, rank=1)]
    choice = choose("Hello, the spare key of the hut", found, 0.4)
    assert choice.rivals == rivals
    assert bool(choice.sentences) is (rivals is None)


@pytest.mark.promise("desk.citations")
def test_code_commands_and_labels_are_no_sentences() -> None:
    snippet = (
        'Add this to the file:\n\n```json\n{"servers": {"one": {"command": "run", "args": ["serve", "kb/a.md"]}}}\n```\n\n'
        "$ run serve --port 80\n\n| code | when |\n|---|---|\n| cost_spent | counters.steps >= limits.steps |\n\n"
        "Then start it again. Fees\n\nFees\n"
    )
    assert said_in(snippet) == ["Add this to the file:", "Then start it again."]


@pytest.mark.promise("desk.citations")
@pytest.mark.parametrize(
    ("snippet", "told"),
    [
        ("Stop it first.\n```\nrun --all\n```\nThen go on.", ["Stop it first.", "Then go on."]),
        ("wait for it to end\n```\nThen go on.", []),
        ("Stop it first.\n~~~ sh\nrun it now", ["Stop it first."]),
    ],
)
def test_what_is_cut_inside_a_listing_is_not_taken_for_text(snippet: str, told: list[str]) -> None:
    assert said_in(snippet) == told


@pytest.mark.promise("desk.citations")
def test_what_leads_into_a_line_and_a_question_stand_above_what_follows() -> None:
    snippet = "- **Live.** News appears at once.\n\nIs it quick? It takes a second.\n\nMay I stop?\n\nYes, at any time."
    found = [(each.under, each.sentence) for each in spoken(snippet)]
    assert found == [
        ("Live.", "News appears at once."), ("Is it quick?", "It takes a second."), ("May I stop?", "Yes, at any time."),
    ]  # fmt: skip


@pytest.mark.promise("desk.citations")
def test_a_verbatim_sentence_is_never_contradicted_by_itself() -> None:
    snippet = "- `tally doctor` looks at [keys](keys.md) and\n  changes nothing, not even\n  a clock that is not set.\n"
    (told,) = said_in(snippet)
    assert list(unsupported(f"{told} [ev:e]", {"e": snippet})) == []


@pytest.mark.promise("desk.citations")
def test_brackets_of_the_text_are_sent_and_are_no_references() -> None:
    snippet = 'Write args = ["serve", "kb/a.md"] there.'
    said = f"{snippet} [ev:e]"
    assert text_of(said) == snippet
    assert list(unsupported(said, {"e": snippet})) == []
    assert list(unsupported("Write args there [kb/b.md]. [ev:e]", {"e": snippet}))
    assert list(unsupported(snippet, {"e": snippet}))


@pytest.mark.promise("desk.verdict")
def test_a_draft_whose_sentence_another_passage_disputes_goes_to_a_person(tmp_path: Path) -> None:
    documents = {
        "care.md": "# Caring for the Alpine tent\n\nThe guarantee of the Alpine tent is 2 years.\n",
        "guarantee.md": "# Guarantee\n\nThe guarantee of the Alpine tent is 3 years.\n",
    }
    trial = Trial(tmp_path / "work", documents=documents)
    ticket = trial.gathered("Tell me about the guarantee of the Alpine tent, is there one?")
    case = trial.judge.case(ticket)
    one = next(each for each in case.shown if each.source == "care.md")
    told = disputed(case, f"The guarantee of the Alpine tent is 2 years. [ev:{one.evidence_id}]")
    trial.gate.close()
    assert told is not None
    assert "guarantee.md" in told


@pytest.mark.promise("desk.verdict")
def test_what_documents_disagree_in_matters_only_where_it_is_asked(tmp_path: Path) -> None:
    documents = {
        "care.md": "# Caring for the Alpine tent\n\nThe guarantee of the Alpine tent is 2 years.\n",
        "guarantee.md": "# Guarantee\n\nThe guarantee of the Alpine tent is 3 years. The guarantee covers seams.\n",
    }
    trial = Trial(tmp_path / "work", documents=documents)
    asked = {"What does the guarantee cover?": "PROCEED", "How long is the guarantee of the Alpine tent?": "DEFER"}
    for at, (content, status) in enumerate(asked.items()):
        assert trial.verdict(trial.gathered(content, name=f"tool_{at}")).status == status
    trial.gate.close()


@pytest.mark.parametrize(
    ("one", "mine", "other", "theirs", "differs"),
    [
        ("Monthly fee: $5.", "Gold Account", "Monthly fee: $7.", "Silver Account", False),
        ("The Gold Account costs $5 a month.", "Gold Account", "The Gold Account costs $7 a month.", "Prices", True),
        ("Returns are free for 14 days.", "Returns", "Returns are free for 30 days.", "Returns", True),
        ("Returns are free for 14 days.", "Returns", "Returns of gifts are free for 30 days in May.", "Returns", True),
        ("Gifts are kept for 14 days.", "Returns", "Parcels are kept for 30 days.", "Returns", False),
    ],
)
def test_only_what_is_said_of_the_same_thing_disputes_a_sentence(
    one: str, mine: str, other: str, theirs: str, *, differs: bool
) -> None:
    assert (contradicted((one,), (mine,), other, (theirs,)) is not None) is differs
