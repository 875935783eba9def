"""The two indexes over memory, of observations and of propositions, kept at the end of the log."""

from collections.abc import Iterable
from pathlib import Path

from tallystick.rooms.memory.naming import name_key
from tallystick.rooms.memory.nouns import DEFAULT_EPISODE, Observation, Proposition
from tallystick.rooms.memory.postings import weigh
from tallystick.rooms.memory.question import asks, content_words, says_when
from tallystick.rooms.memory.text_index import TextIndex
from tallystick.storage.text_segments import Entry, TextSegments

OBSERVATIONS, PROPOSITIONS = "memory-texts.db", "memory-facts.db"
_ALSO_ASKED = {"name": "called", "lives_in": "home", "works_for": "employer"}
"""Predicates that are asked for by another word than they are told with."""
MAX_INDEXED = 100_000
"""Characters of one text that are indexed; a megabyte of text says what it is about before its end."""


class Catalogue:
    """Finds observations and propositions by their words."""

    def __init__(self, folder: Path | None) -> None:
        """Open the indexes in a folder; without one, in memory."""
        self.observations = TextIndex(TextSegments(None if folder is None else folder / OBSERVATIONS))
        self.propositions = TextIndex(TextSegments(None if folder is None else folder / PROPOSITIONS))

    def fill(self, observations: Iterable[Observation], propositions: Iterable[Proposition]) -> None:
        """Take what is new; what is there already is passed over. Both in the order of the log."""
        self.observations.fill(map(entry_of, observations))
        self.propositions.fill(map(_fact_entry, propositions))

    def clear(self) -> None:
        """Begin anew, e.g. because something was erased: no word of it may stay behind."""
        self.observations.clear()
        self.propositions.clear()

    def close(self) -> None:
        """Let go of the files."""
        self.observations.close()
        self.propositions.close()


def entry_of(seen: Observation) -> Entry:
    """What the index remembers of an observation."""
    text = seen.text[:MAX_INDEXED]
    words = weigh(content_words(text))
    return Entry(
        number=0, id=seen.id, seq=seen.seq, speaker=name_key(seen.source_id),
        # What names no episode has no neighbours: it came from anywhere.
        episode="" if seen.episode_id == DEFAULT_EPISODE else seen.episode_id,
        at=seen.observed_at, asks=asks(text), timed=says_when(words), words=words,
    )  # fmt: skip


def _fact_entry(one: Proposition) -> Entry:
    text = f"{one.subject} {one.predicate.replace('_', ' ')} {_ALSO_ASKED.get(one.predicate, '')} {one.object}"
    # The subject stands in the speaker's place: a fact is the more wanted when its subject is named.
    return Entry(
        number=0, id=one.id, seq=one.seq, speaker=name_key(one.subject), at=one.at, words=weigh(content_words(text))
    )
