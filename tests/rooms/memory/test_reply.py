"""Answers in a sentence: what holds now, what held before, and that something is not known."""

import pytest

from tallystick.rooms.memory.recall.reply import NOT_KNOWN, MemoryReply
from tests.rooms.memory.grammar import parser
from tests.rooms.memory.remembering import DAY, Remembering
from tests.rooms.memory.test_extract import told

STORY = """
I'm based in Leeds. My wife is Priya. We have three kids: Mila, Oskar and Noor. Mila is 13. My mum lives in Haarlem, her name is Els.
I can't eat shellfish. I drive an old Ford Transit. We have a dog named Zippy. The bakery opens at 6. My accountant is Mrs. Whitfield.
My dentist appointment is on 12 May at 9:30. The spare key is under the blue flowerpot. I drink black coffee. Priya works for Acme.
I'm allergic to nuts. My birthday is 4 July 1979.
"""
LATER = """
We now live in Harrogate. Correction, Mila is 14. My new accountant is Paul Dent. The dentist moved my appointment to 19 May.
I've sold the Transit and got a Citroën Berlingo. Zippy died last week. The bakery opens at 7 from now on. I've given up coffee.
Priya has left Acme. Actually, my birthday is 5 July 1979.
"""


@pytest.fixture
def story(memory: Remembering) -> Remembering:
    parser()
    told(memory, STORY)
    memory.now += 44 * DAY
    told(memory, LATER)
    memory.now += 60
    return memory


def ask(memory: Remembering, question: str) -> MemoryReply:
    room = memory.room
    return room.queries.reply(question, parser(), room.lexicon, now=memory.now)


@pytest.mark.promise("reading.reply")
@pytest.mark.parametrize(
    ("question", "first", "stale"),
    [
        ("Where do I live?", "You live in Harrogate.", "Leeds"),
        ("When is my birthday?", "You were born on 5 July 1979.", "4 July"),
        ("Who is my accountant?", "Your accountant is Paul Dent.", "Whitfield"),
        ("How old is Mila?", "Mila is 14.", "13"),
        ("When does the bakery open?", "The bakery opens at 7.", "at 6"),
        ("When is my dentist appointment?", "Your appointment is on 19 May.", "12 May"),
        ("What do I drive?", "You drive a Citroën Berlingo.", "Transit"),
    ],
)
def test_what_was_corrected_is_told_only_as_what_held_before(
    story: Remembering, question: str, first: str, stale: str
) -> None:
    reply = ask(story, question)
    assert reply.sentence.startswith(first)
    assert reply.known
    current = reply.sentence.partition("(")[0]
    assert stale not in current


@pytest.mark.promise("reading.reply")
@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("What are the names of my kids?", ("Mila", "Oskar", "Noor")),
        ("How many children do I have?", ("3:",)),
        ("Where does my mother live?", ("Haarlem",)),
        ("What is my mum's name?", ("Els",)),
        ("What am I allergic to?", ("nuts",)),
        ("Where is the spare key?", ("under the blue flowerpot",)),
        ("Where did I live before?", ("Leeds",)),
        ("Is my dog still alive?", ("No.", "died")),
        ("Where does Priya work?", ("until",)),
    ],
)
def test_relations_lists_and_what_has_ended_are_told(story: Remembering, question: str, holds: tuple[str, ...]) -> None:
    sentence = ask(story, question).sentence
    assert all(part in sentence for part in holds), sentence


@pytest.mark.promise("reading.reply")
@pytest.mark.parametrize("question", ["What is Mila's shoe size?", "What is my sister's name?", "How tall am I?"])
def test_what_nobody_said_is_not_known(story: Remembering, question: str) -> None:
    reply = ask(story, question)
    assert (reply.sentence, reply.known) == (NOT_KNOWN, False)


@pytest.mark.promise("reading.owner-about-self")
def test_the_owners_word_about_the_owner_is_believed_and_does_not_expire(memory: Remembering) -> None:
    (home,) = told(memory, "I live in Oslo.").proposition_ids
    assert memory.status(home) == "accepted"
    memory.now += 400 * DAY
    assert ask(memory, "Where do I live?").facts[0].assessment.status == "accepted"
    # The same from an agent that names the owner as its source is an outside tool's word.
    source = {"id": "owner", "class": "human"}
    noted = memory.call(
        "record_observation", agent="bot", text="I live in Rome.", source=source, observed_at="2024-01-02"
    )
    seen = noted.unwrap()["observation_id"]
    claim = {"subject": "owner", "predicate": "lives_in", "object": "Rome", "observation_ids": [seen]}
    made = memory.call("propose_proposition", agent="bot", **claim).unwrap()
    assert memory.status(made["proposition_id"]) != "accepted"
    assert ask(memory, "Where do I live?").sentence.startswith("You live in Oslo.")


@pytest.mark.promise("reading.revert")
def test_a_correction_is_undone_by_revert(memory: Remembering) -> None:
    import asyncio  # noqa: PLC0415 - only here

    from tallystick.rooms.memory.flows.remember import Origin  # noqa: PLC0415
    from tallystick.rooms.memory.flows.revert import revert  # noqa: PLC0415
    from tallystick.rooms.memory.times import stamp_of  # noqa: PLC0415

    told(memory, "I live in Oslo.")
    memory.now += DAY
    (newer,) = told(memory, "I moved to Rome.").proposition_ids
    assert ask(memory, "Where do I live?").sentence.startswith("You live in Rome.")
    memory.now += DAY
    found, older = memory.room.queries.replaced_by(newer)
    assert found is not None

    async def call(tool: str, args: object) -> object:
        return await memory.gate.call(tool, args)

    at = stamp_of(memory.now)
    origin = Origin(source_id="owner", source_class="human", observed_at=at, at=at)
    done = asyncio.run(revert(call, found, older, origin))
    assert done.refusals == ()
    assert len(done.restored) == 1
    assert ask(memory, "Where do I live?").sentence.startswith("You live in Oslo.")
