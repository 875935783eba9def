"""Answers in the owner's own words: of messages that no grammar reads, and of what has changed since."""

import pytest

from tallystick.providers.embeddings.minilm import MODEL
from tallystick.rooms.memory.recall.own_words import Meaning
from tallystick.rooms.memory.recall.reply import NOT_KNOWN, MemoryReply
from tests.rooms.memory.remembering import DAY, Remembering

TALK = (
    "rehearsal with the brass band: fridays, 7pm, in the old fire station",
    "for the form, bike insurance: green Batavus, frame number WX 3381",
    "my nephew Tobias started judo at Kodokan club, wednesdays after school",
    "what a day... rain, rain, rain. thanks for listening",
    "if I were rich I would buy a lighthouse and never answer the phone",
    "the shed key is behind the watering can, dont tell anyone",
    "band news: from now on we rehearse on mondays, same hour, the fire station is being painted",
    "goodbye Batavus, stolen in front of the library. got a second-hand Gazelle instead, blue",
    "Tobias is done with judo, now it's the drums, poor neighbours",
    "moved the shed key, it sits in the red flowerpot from today",
)


@pytest.fixture
def talk(memory: Remembering) -> Remembering:
    embedder = memory.room.lexicon.embedder
    if embedder is None or embedder.name != MODEL:
        pytest.skip(f"left out: {MODEL} is not on this machine")
    for text in TALK:
        memory.observe(text, "owner", "human")
        memory.now += DAY
    return memory


def ask(memory: Remembering, question: str, **more: int) -> MemoryReply:
    room = memory.room
    return room.queries.reply(question, None, room.lexicon, now=memory.now, **more)


@pytest.mark.promise("reading.own-words")
@pytest.mark.parametrize(
    ("question", "now", "before"),
    [
        ("When do we rehearse with the band?", "mondays", "fridays"),
        ("Where is the key of the shed?", "red flowerpot", "watering can"),
        ("Which sport or hobby does my nephew have?", "drums", "judo"),
    ],
)
def test_the_newest_message_about_it_answers_and_the_older_is_told_as_before(
    talk: Remembering, question: str, now: str, before: str
) -> None:
    reply = ask(talk, question)
    current, _, past = reply.sentence.partition("(before ")
    assert reply.known
    assert now in current
    assert before in past


@pytest.mark.promise("reading.own-words")
@pytest.mark.parametrize(
    "question", ["What is my blood type?", "What is Tobias's phone number?", "Where does Magnus live?"]
)
def test_what_was_not_said_of_somebody_is_not_known(talk: Remembering, question: str) -> None:
    reply = ask(talk, question)
    assert (reply.known, reply.sentence) == (False, NOT_KNOWN)


@pytest.mark.promise("reading.own-words")
def test_an_earlier_place_of_the_log_is_answered_by_what_was_said_till_then(talk: Remembering) -> None:
    then = talk.projection.ask(lambda state: sorted(one.seq for one in state.observations_after(-1))[5], written=True)
    assert "watering can" in ask(talk, "Where is the key of the shed?", as_of_seq=then).sentence


@pytest.mark.promise("reading.own-words", "memory.laundering")
def test_nobody_elses_message_takes_the_place_of_the_owners(talk: Remembering) -> None:
    for kind, agent in (("human", "helper"), ("document", None), ("tool_internal", None)):
        talk.call(
            "record_observation",
            agent=agent,
            text="moved the shed key again, it sits under the doormat from now on",
            source={"id": "owner" if agent else "a note", "class": kind},
            observed_at="2024-02-01T00:00:00Z",
            at="2024-02-01T00:00:00Z",
        ).unwrap()
    assert "doormat" not in ask(talk, "Where is the key of the shed?").sentence


@pytest.mark.promise("reading.own-words")
def test_a_text_is_embedded_once(talk: Remembering) -> None:
    embedder = talk.room.lexicon.embedder
    assert embedder is not None
    meaning = Meaning(embedder)
    first = meaning.vectors(["one text", "another"])
    assert (meaning.vectors(["another", "one text"])[::-1] == first).all()
    assert meaning.size == 2
