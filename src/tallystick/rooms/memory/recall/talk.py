"""What the owner said, prepared for questions: its statements, the names in it, and how rare its words are."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log

from tallystick.rooms.memory.model import Observation
from tallystick.rooms.memory.ontology.attributes import Ontology
from tallystick.text.calendar_names import MONTHS, WEEKDAYS
from tallystick.text.clauses import clauses, typed_sentences
from tallystick.text.sentences import sentence_spans
from tallystick.text.stems import stem, stem_all
from tallystick.text.words import STOP_WORDS, word_spans, words

_NO_NAMES = STOP_WORDS | {*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS)}
_NAME = r"([A-ZÀ-Þ][\w'-]+)"
MAX_MESSAGE = 300
"""Characters of a message that is taken as one; a longer one speaks of several things."""
_CLOSING = " \"'”’)"  # noqa: RUF001 - as it is typed


class Message:
    """One message of the owner, or a part of a long one."""

    def __init__(self, seen: Observation, sentences: Sequence[str]) -> None:
        self.seen, self.sentences = seen, sentences
        self.words = [word for each in self.sentences for word in dict.fromkeys(words(each))]
        self.content = frozenset(plain(word) for word in self.words if is_content(word))
        self.stems = frozenset(stem_all(self.content))


def messages_in(seen: Observation) -> Iterator[Message]:
    """Yield the statements of an observation, a long one in parts; questions state nothing."""
    text = seen.text.replace("’", "'")  # noqa: RUF001 - one kind of apostrophe
    part: list[str] = []
    for start, end in sentence_spans(text, wrapped=False):
        for typed in typed_sentences(text[start:end]):
            if typed.rstrip(_CLOSING).endswith("?"):
                continue
            if part and sum(map(len, part)) + len(typed) > MAX_MESSAGE:
                yield Message(seen, part)
                part = []
            part += clauses(typed)
    if part:
        yield Message(seen, part)


class Talk:
    """All messages of the owner, the oldest first."""

    def __init__(self, said: Iterable[Observation], ontology: Ontology) -> None:
        ordered = sorted(said, key=lambda each: (each.observed_at, each.seq))
        self.messages = [part for one in ordered for part in messages_in(one) if part.content]
        self.names = names_in(one.seen.text for one in self.messages)
        self.relations = {
            noun: frozenset(other for other in each.nouns if " " not in other) if each.one else frozenset({noun})
            for each in ontology.attributes.values()
            if each.relation
            for noun in each.nouns
            if " " not in noun
        }
        """Noun of a relation → the nouns for the same one: mother and mum."""
        self._holders = Counter(each for one in self.messages for each in one.stems)

    def worth(self, stemmed: str) -> float:
        """Return how much a word tells: rare words more."""
        held = self._holders[stemmed]
        return log(1 + (len(self.messages) - held + 0.5) / (held + 0.5))

    def names_of(self, noun: str) -> frozenset[str]:
        """Return the names that stand beside a noun: «my sister Anna», «Anna, my sister», «she's my sister»."""
        one = re.escape(noun)
        mine = rf"(?:my|our|the) (?:\w+ ){{0,2}}{one}\b"
        after = re.compile(rf"\b{one}(?:'s name)?,? (?:(?:is|was) )?(?:called |named )?{_NAME}")
        before = re.compile(rf"\b{_NAME},? (?:is |was )?\(?{mine}")
        later = re.compile(rf"\b(?:he|she|they|it)(?:'s| is| are) {mine}", re.IGNORECASE)
        found: set[str] = set()
        for message in self.messages:
            text = " ".join(message.sentences)
            found.update(plain(name.lower()) for name in (*after.findall(text), *before.findall(text)))
            for hit in later.finditer(text):
                found.update([word for word in map(plain, words(text[: hit.start()])) if word in self.names][-1:])
        return frozenset(found & self.names)


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that are written like names inside sentences, and never like other words."""
    named: set[str] = set()
    common: set[str] = set()
    for text in texts:
        for start, end in sentence_spans(text, wrapped=False):
            for at, word in enumerate(word_spans(text[start:end])):
                key = plain(word.folded)
                if not word.written[0].isupper():
                    common.add(key)
                elif at and key not in _NO_NAMES:
                    named.add(key)
    return frozenset(named - common)


def plain(word: str) -> str:
    """Return a word without the ending of a possessive."""
    return word.removesuffix("'s")


def is_content(word: str) -> bool:
    """Return whether a word says something of the matter."""
    return word not in STOP_WORDS and len(word) > 1


def mentions(message: Message, whom: Iterable[str]) -> bool:
    """Return whether a message has one of these words."""
    return any(word in message.content or stem(word) in message.stems for word in whom)


def without(text: str, hidden: frozenset[str]) -> str:
    """Return a text with «it» in the place of these words."""
    return re.sub(
        r"[^\W\d_][\w'-]*", lambda word: "it" if plain(word.group().lower()) in hidden else word.group(), text
    )


def sentences_of(messages: Sequence[Message], hidden: frozenset[str]) -> list[list[str]]:
    """Return the sentences of each message, with these words hidden."""
    return [[without(each, hidden) for each in one.sentences] for one in messages]
