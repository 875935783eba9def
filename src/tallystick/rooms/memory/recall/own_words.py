"""Which of the owner's own sentences answers a question, by words and by meaning, and which later one took its place.

Names are hidden when a sentence is compared with a question: whom it is about is told by names and relations («my
sister»), what is asked about them by meaning. So what is known of one person does not answer a question about another,
and what nobody said stays below the mark. A later sentence takes an earlier one's place where both speak of the same.
The owner's words alone are read here; nothing else takes their place.
"""

from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING

from tallystick.reading.answers import asked_kind, holds_kind
from tallystick.reading.embedder import Embedder
from tallystick.records import record
from tallystick.rooms.memory.ontology.attributes import Ontology
from tallystick.rooms.memory.recall.question import says_when
from tallystick.rooms.memory.recall.talk import (
    Message,
    Talk,
    is_content,
    mentions,
    names_in,
    plain,
    sentences_of,
    without,
)
from tallystick.text.stems import stem, stem_all
from tallystick.text.words import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KNOWN = 0.5
"""The least fit, names hidden, of a message that answers."""
NEAR_WORDS, SHARED_WORDS = 0.5, 0.3
"""What words that are near in meaning, and words that are the same, add to the likeness of a sentence."""
NOT_ABOUT, NOT_NAMED, NOT_OF_KIND, OF_ANOTHER = 0.6, 0.8, 0.85, 0.85
"""Factors: the message names none of those asked about (names hidden, and whole); it has no date where a date is asked
for; it speaks of a relative where the asker is meant."""
FOLLOWS = (1.86, 3.33, 3.74, 0.96, 2.76, -8.59)
"""Weights of what makes a later message take an earlier one's place (`_follows`), and the constant; learnt."""
CLOSE = 0.8
"""Messages with this share of the best fit are looked at, too, for whether anything answers."""
LIKELY, RELATED = 0.25, 0.4
"""The least probability that it does; and the least fit of a message that may, as a share of the best."""
SHORT = 160
"""Characters up to which a quote takes in the sentences beside it."""
SEVERAL = 4
"""Messages that answer a question for a list."""
BATCH = 64
_LISTENER = frozenset({"you", "your", "yours", "yourself"})
_ASKER = frozenset({"i", "me", "my", "mine", "we", "us", "our"})


class Meaning:
    """Vectors of texts by one model, each computed once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._held: dict[str, NDArray[np.float32]] = {}

    @property
    def size(self) -> int:
        """How many vectors it keeps."""
        return len(self._held)

    def vectors(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one unit vector a text, as rows."""
        import numpy as np  # noqa: PLC0415 - the core has no numpy

        new = list(dict.fromkeys(text for text in texts if text not in self._held))
        for at in range(0, len(new), BATCH):
            part = new[at : at + BATCH]
            self._held.update(zip(part, self._embedder.embed(part), strict=True))
        return np.array([self._held[text] for text in texts])


class Asked:
    """A question, with whom it is about."""

    def __init__(self, text: str, talk: Talk, ontology: Ontology) -> None:
        self.text = text.replace("’", "'")  # noqa: RUF001 - one kind of apostrophe
        asked = list(dict.fromkeys(plain(word) for word in words(self.text)))
        names = talk.names | names_in([self.text])
        named = [frozenset({word}) for word in asked if word in names]
        content = [word for word in asked if is_content(word) and word not in ontology.words.fillers]
        self.content = content or asked
        self.kinds = {word: _members(word, ontology) for word in self.content}
        """Category word → stems of what belongs to it."""
        related = [
            nouns | {word} | {name for each in nouns for name in talk.names_of(each)}
            for word in content
            if not self.kinds[word]
            for noun, nouns in talk.relations.items()
            if word == noun or stem(word) == stem(noun)
        ]
        self.of_asker = not named and not related and not _ASKER.isdisjoint(asked)
        self.of_listener = not named and not related and _ASKER.isdisjoint(asked) and not _LISTENER.isdisjoint(asked)
        """It asks about whoever answers."""
        self.whom = [*named, *related]
        """For each whom it names: all words that name them."""
        people = frozenset(word for each in related for word in each)
        rest = [word for word in content if word not in names and word not in people]
        self.hidden = talk.names | names | (people if rest else frozenset())
        """Words that only say whom it is about."""
        self.matter = rest or [word for word in content if word not in names] or asked
        kind = asked_kind(self.text)
        # The day of a message tells when something happened, if nothing in it does.
        self.kind = None if kind == "date" and "did" in words(self.text) else kind
        self.several = any(self.kinds.values())
        earlier = ontology.words.earlier
        self.before, self.first = (not words_.isdisjoint(asked) for words_ in (earlier, ontology.words.first))

    def names_all_in(self, message: Message) -> bool:
        """Return whether a message names everybody whom the question is about."""
        return all(mentions(message, whom) for whom in self.whom)


def _members(word: str, ontology: Ontology) -> frozenset[str]:
    """Return the stems of the nouns that a category word stands for: dog and cat for «pets»."""
    found = {each.name: each for form in (word, stem(word)) for each in ontology.by_category.get(form, ())}
    general = [
        each for each in ontology.attributes.values() if {word, stem(word)} & {*each.general, *map(stem, each.general)}
    ]
    found |= {each.name: each for each in general}
    return frozenset(stem(noun) for each in found.values() for noun in each.nouns if " " not in noun)


@record
class Quoted:
    """The part of a message that answers."""

    message: Message
    text: str


@record
class OwnAnswer:
    """What the owner said in answer to a question."""

    current: tuple[Quoted, ...]
    """What holds now: one message, or several for a list, the newest first."""
    before: Quoted | None = None
    """What it took the place of."""
    fits: tuple[tuple[str, float], ...] = ()
    """Observation → how well it fits, as a share of the best."""


class OwnWords:
    """Answers questions from what the owner said."""

    def __init__(self, talk: Talk, meaning: Meaning, ontology: Ontology) -> None:
        self._talk, self._meaning, self._ontology = talk, meaning, ontology
        self._nearest: list[int] = []
        """The clause of each message that is nearest to the question."""
        self._changes = frozenset(map(stem, ontology.words.changes | ontology.words.begins | ontology.words.stops))

    def answer(self, question: str) -> OwnAnswer:
        """Return what the owner said in answer; no `current`: nothing answers."""
        messages = self._talk.messages
        if not messages:
            return OwnAnswer(current=())
        asked = Asked(question, self._talk, self._ontology)
        if asked.of_listener or not all(any(mentions(message, whom) for message in messages) for whom in asked.whom):
            return OwnAnswer(current=())
        scores, matter = self.scores(asked)
        about = [at for at, message in enumerate(messages) if asked.names_all_in(message)]
        best = max(about, key=lambda at: (scores[at], at), default=None)
        if best is None or max(matter[at] for at in about if scores[at] >= CLOSE * scores[best]) < KNOWN:
            return OwnAnswer(current=(), fits=self._shares(scores))
        current, before = self._in_succession(asked, best, scores, matter)
        return OwnAnswer(
            current=tuple(self._quoted(asked, messages[at]) for at in current),
            before=None if before is None else self._quoted(asked, messages[before]),
            fits=self._shares(scores),
        )

    def _shares(self, scores: Sequence[float]) -> tuple[tuple[str, float], ...]:
        best = max(scores)
        return tuple((one.seen.id, score / best) for one, score in zip(self._talk.messages, scores, strict=True))

    def scores(self, asked: Asked) -> tuple[list[float], list[float]]:
        """Return how well each message fits a question: in all, and in what is asked about whoever it is."""
        messages = self._talk.messages
        matter, _ = self._fits(asked, hidden=asked.hidden)
        whole, self._nearest = self._fits(asked, hidden=frozenset())
        for at, message in enumerate(messages):
            about = asked.names_all_in(message)
            of_kind = NOT_OF_KIND if _misses_kind(asked, message) else 1.0
            of_another = OF_ANOTHER if asked.of_asker and self._is_of_another(message, asked) else 1.0
            matter[at] *= of_kind * of_another * (1.0 if about else NOT_ABOUT)
            whole[at] *= of_kind * of_another * (1.0 if about else NOT_NAMED)
        return [(one + other) / 2 for one, other in zip(matter, whole, strict=True)], matter

    def _fits(self, asked: Asked, *, hidden: frozenset[str]) -> tuple[list[float], list[int]]:
        """Return how well each message fits a question, with these words hidden in both, and its nearest clause."""
        import numpy as np  # noqa: PLC0415 - the core has no numpy

        messages = self._talk.messages
        wanted = asked.matter if hidden else asked.content
        worth = np.array([self._talk.worth(stem(word)) for word in wanted])
        worth /= worth.sum() or 1.0
        parts = sentences_of(messages, hidden)
        alike = self._meaning.vectors([each for part in parts for each in part])
        alike = alike @ self._meaning.vectors([without(asked.text, hidden)])[0]
        vocabulary = sorted(set().union(*(message.content for message in messages)))
        place = {word: at for at, word in enumerate(vocabulary)}
        near = self._meaning.vectors(wanted) @ self._meaning.vectors(vocabulary).T
        found: list[float] = []
        nearest_clause: list[int] = []
        start = 0
        for message, part in zip(messages, parts, strict=True):
            columns = [place[word] for word in message.content if word not in hidden]
            same = np.array([self._says(message, word, asked) for word in wanted])
            nearest = near[:, columns].max(axis=1) if columns else np.zeros(len(wanted))
            close = float(worth @ np.where(same, 1.0, np.minimum(nearest, 0.95)))
            shared = 0.0 if hidden else SHARED_WORDS * float(worth @ same)
            own = alike[start : start + len(part)]
            nearest_clause.append(int(own.argmax()))
            found.append(float(own.max()) + NEAR_WORDS * close + shared)
            start += len(part)
        return found, nearest_clause

    def _is_of_another(self, message: Message, asked: Asked) -> bool:
        """Return whether a message speaks of a relative, and the question of none."""
        belongs = frozenset().union(*asked.kinds.values())
        return any(word in self._talk.relations and stem(word) not in belongs for word in message.content)

    @staticmethod
    def _says(message: Message, word: str, asked: Asked) -> bool:
        return stem(word) in message.stems or not asked.kinds.get(word, frozenset()).isdisjoint(message.stems)

    def _in_succession(
        self, asked: Asked, best: int, scores: Sequence[float], matter: Sequence[float]
    ) -> tuple[list[int], int | None]:
        """Return the messages that hold now, and the one before, from the one that fits best."""
        # What the best took the place of speaks of the same: what follows that follows the best, too.
        same = [at for at in range(best) if self._follows(at, best, scores, matter) >= LIKELY]
        same = [best, *(at for at in same if scores[at] >= scores[best] / 2)]
        later = range(best + 1, len(scores))
        current = max(
            (at for at in later if any(self._follows(each, at, scores, matter) >= LIKELY for each in same)),
            default=best,
        )
        earlier = [at for at in range(current) if at == best or self._follows(at, current, scores, matter) >= LIKELY]
        earlier = [at for at in earlier if scores[at] >= scores[best] / 2]
        if asked.first and earlier:
            return [earlier[0]], None
        if asked.before and earlier:
            return [max(earlier, key=lambda at: scores[at])], None
        if asked.several:
            fitting = [at for at in range(len(scores)) if matter[at] >= KNOWN and scores[at] >= scores[best] / 2]
            return sorted({*fitting[-SEVERAL:], current}, reverse=True), None
        return [current], max(earlier, key=lambda at: scores[at], default=None)

    def _quoted(self, asked: Asked, message: Message) -> Quoted:
        """Return the sentence of a message that fits best; with what follows it, while that is short."""
        sentences = message.sentences
        (hidden,) = sentences_of([message], asked.hidden)
        fit = self._meaning.vectors(hidden) @ self._meaning.vectors([without(asked.text, asked.hidden)])[0]
        fit = fit + self._meaning.vectors(sentences) @ self._meaning.vectors([asked.text])[0]
        said = [frozenset(map(stem, words(each))) for each in sentences]
        for at, each in enumerate(said):
            near = sum(stem(word) in each for word in asked.content) / len(asked.content)
            fit[at] += near - (
                0.3 if asked.kind == "date" and not (says_when(each) or _has_digit(sentences[at])) else 0.0
            )
        first = last = int(fit.argmax())
        while last + 1 < len(sentences) and len(" ".join(sentences[first : last + 2])) <= SHORT:
            last += 1
        while first > 0 and len(" ".join(sentences[first - 1 : last + 1])) <= SHORT:
            first -= 1
        return Quoted(message=message, text=" ".join(sentences[first : last + 1]))

    def _follows(self, old: int, new: int, scores: Sequence[float], matter: Sequence[float]) -> float:
        """Return the probability that a later message takes the place of an earlier one."""
        if scores[new] < RELATED * max(scores):
            return 0.0
        *weights, constant = FOLLOWS
        rows = self.signs(old, new, scores, matter)
        return 1 / (1 + exp(-constant - sum(w * x for w, x in zip(weights, rows, strict=True))))

    def signs(self, old: int, new: int, scores: Sequence[float], matter: Sequence[float]) -> tuple[float, ...]:
        """Return what tells that a later message takes an earlier one's place.

        It is the words that both have, how alike they are, how well the later one fits the question (as a share of the
        best, and with names hidden), and whether it says that something has changed.
        """
        one, other = self._talk.messages[old], self._talk.messages[new]
        shared = sum(self._talk.worth(each) for each in one.stems & other.stems) / self._talk.worth("")
        first, second = self._meaning.vectors([one.sentences[self._nearest[old]], other.sentences[self._nearest[new]]])
        changes = not self._changes.isdisjoint(stem_all(other.words))
        return shared, float(first @ second), scores[new] / max(scores), float(changes), matter[new]


def _has_digit(text: str) -> bool:
    return any(sign.isdigit() for sign in text)


def _misses_kind(asked: Asked, message: Message) -> bool:
    """Return whether a message holds nothing of the kind that is asked for: a date, a number, a name."""
    if asked.kind == "date":
        return not says_when(message.stems) and not any(word[0].isdigit() for word in message.words)
    return holds_kind(asked.kind, " ".join(message.sentences), set(words(asked.text))) < 0
