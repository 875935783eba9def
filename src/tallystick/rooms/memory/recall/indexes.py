"""The two indexes over memory, of observations and of propositions, kept at the end of the log."""

from collections.abc import Iterable
from pathlib import Path

from tallystick.rooms.memory.ids import name_key
from tallystick.rooms.memory.model import DEFAULT_EPISODE, Observation, Proposition
from tallystick.rooms.memory.ontology.attributes import default_ontology
from tallystick.rooms.memory.recall.postings import weigh
from tallystick.rooms.memory.recall.question import asks, content_words, says_when
from tallystick.rooms.memory.recall.text_index import TextIndex
from tallystick.storage.text_segments import SegmentEntry, TextSegments

OBSERVATIONS, PROPOSITIONS = "memory-texts.db", "memory-facts.db"
MOST_NOUNS = 3
"""Nouns of an attribute by which its facts are found, too: a question may use other words than the fact."""
MAX_INDEXED = 100_000
"""Characters of one text that are indexed; a megabyte of text says what it is about before its end."""


class MemoryIndexes:
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


def entry_of(seen: Observation) -> SegmentEntry:
    """What the index remembers of an observation."""
    text = seen.text[:MAX_INDEXED]
    words = weigh(content_words(text))
    return SegmentEntry(
        number=0,
        id=seen.id,
        seq=seen.seq,
        speaker=name_key(seen.source_id),
        # What names no episode has no neighbours: it came from anywhere.
        episode="" if seen.episode_id == DEFAULT_EPISODE else seen.episode_id,
        at=seen.observed_at,
        asks=asks(text),
        timed=says_when(words),
        words=words,
    )


def _fact_entry(one: Proposition) -> SegmentEntry:
    attribute = default_ontology().get(one.predicate)
    nouns = "" if attribute is None else " ".join((*attribute.nouns[:MOST_NOUNS], *attribute.category))
    text = f"{one.subject} {one.predicate.replace('_', ' ').replace(':', ' ')} {nouns} {one.object}"
    # The subject stands in the speaker's place: a fact is the more wanted when its subject is named.
    return SegmentEntry(
        number=0, id=one.id, seq=one.seq, speaker=name_key(one.subject), at=one.at, words=weigh(content_words(text))
    )
