"""What a query asks for: its content words, whether it asks for or names a time, and whom it is about.

What is known of one subject does not answer a question about another. Only what a question plainly says is read: the
name it gives, whether it asks about the asker («I», «my name»), something of the asker's («my dog»), something
described («of the kettle»), or somebody else («your», «her»). Bare words ask about nobody, and any text that holds them
matches.
"""

import re
from collections.abc import Collection, Iterable, Mapping

from tallystick.records import record
from tallystick.rooms.memory.ids import name_key, possessed
from tallystick.rooms.memory.ontology.attributes import default_ontology
from tallystick.text.calendar_names import MONTHS
from tallystick.text.stems import stem, stem_all, stems
from tallystick.text.words import STOP_WORDS, words

MAX_QUERY = 2_000
"""Characters of a query that are read. What is longer is a document, and its beginning says what it is about."""
MAX_WORDS = 32
"""Distinct words that are looked up; each one costs."""

_LEFT_OUT = frozenset(word for word in STOP_WORDS if "'" not in word)
"""Stop words. Contractions stay, since in short messages they help to find the evidence."""
_SPELLINGS = {stem(other): stem(one) for other, one in (("favorite", "favourite"), ("color", "colour"))}
"""Predicates have one spelling, so texts and questions are compared in that one too."""

_WHEN = re.compile(
    r"^\W*(?:when|how long|since when|until when)\b|\b(?:what|which) (?:year|month|day|date|time)\b", re.IGNORECASE
)
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_TIMES = """
yesterday today tonight tomorrow last next ago weekend week month year monday tuesday wednesday thursday friday saturday
sunday summer winter spring autumn fall recently since
"""
_TIMED = frozenset(map(stem, [*_TIMES.split(), *(month for month in MONTHS if month != "may")]))


@record
class Question:
    """A query, read once."""

    text: str
    words: tuple[str, ...]
    """Stems in the order they were asked, each once."""
    asks_when: bool = False
    months: frozenset[int] = frozenset()
    """Months that are named; texts of then are meant, or texts that speak of then."""
    years: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    """Days of the named month."""


def read_question(text: str) -> Question:
    """Read a query; any text is one."""
    text = text[:MAX_QUERY]
    words = tuple(dict.fromkeys(content_words(text)))[:MAX_WORDS]
    # «may» is a month only when it is written as one.
    months = [found.group(1) for found in _MONTH.finditer(text) if found.group(1) != "may"]
    years = frozenset(map(int, _YEAR.findall(text)))
    days = frozenset(day for day in map(int, _DAY.findall(text)) if day) if months else frozenset[int]()
    return Question(
        text=text,
        words=words,
        asks_when=_WHEN.search(text) is not None,
        months=frozenset(MONTHS.index(month.lower()) + 1 for month in months),
        years=years,
        days=days,
    )


def content_words(text: str) -> list[str]:
    """Return the stems of a text without stop words, in order and with repeats."""
    return [_SPELLINGS.get(word, word) for word in stem_all(word for word in words(text) if word not in _LEFT_OUT)]


def says_when(words: Iterable[str]) -> bool:
    """Whether the words of a text say when something happened."""
    return any(word in _TIMED or (word.isdigit() and _YEAR.fullmatch(word) is not None) for word in words)


def asks(text: str) -> bool:
    """Whether a text holds a question."""
    return "?" in text


def coverage(words: Mapping[str, object], worth: Mapping[str, float], wanted: tuple[str, ...]) -> float:
    """The share of a query's worth that a text's words meet, from 0 to 1."""
    total = sum(worth[word] for word in wanted)
    return sum(worth[word] for word in wanted if word in words) / total if total else 0.0


_OBJECT = r"((?:\w+ ){0,2}?\w+)"
_MARK = r"['’]"  # noqa: RUF001 - both kinds of apostrophe stand in texts
_HELD = (
    re.compile(rf"\b(?:my|our|your) {_OBJECT}{_MARK}s? \w", re.IGNORECASE),
    re.compile(r"\bof (?:my|our|your) (\w+(?: \w+){0,2})", re.IGNORECASE),
    re.compile(rf"\b(?:is|are|was|were) (?:my|our|your) {_OBJECT} (?:called|named)\b", re.IGNORECASE),
)
"""Somebody's thing, of which something is asked: my dog's name, the name of my dog, what my dog is called."""
_ACTS = re.compile(r"\b(?:do|does|did|has|have|had|will|can) (?:my|our|your) (\w+(?: \w+)?) \w", re.IGNORECASE)
"""Somebody's thing that does something: where does my brother live."""
_SPELT = re.compile(r"\bof the (\w+(?: \w+){0,2})", re.IGNORECASE)
_ASKER = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:yours?|yourself|(?:are|were|do|did) you(?! (?:know|remember|recall|think|have))|his|hers?|him|he|she|theirs?"
    r"|them|they)\b",
    re.IGNORECASE,
)
_PROPER_NAME = re.compile(r"(?<=[\w,] )(?!I\b)[A-Z]\w+")
_VERBS = frozenset(word for verb in default_ontology().by_verb for word in stems(verb))
_SMALL = re.compile(r"\b[a-z]\w*")


@record
class Topic:
    """Whom a question is about, in stems."""

    things: frozenset[str] = frozenset()
    """Of what belongs to somebody."""
    acts: bool = False
    """The thing does something: only what is about the thing itself fits, not what merely names it."""
    spelt: frozenset[str] = frozenset()
    """Of what is asked about without a name."""
    names: frozenset[str] = frozenset()
    of_asker: bool = False
    of_other: bool = False
    """It asks of somebody else than the asker."""
    words: frozenset[str] = frozenset()
    """All that is asked."""

    def fits(self, subject: str, predicate: str, thing: str, owners: Collection[str]) -> bool:
        """Whether something that is so may be what was asked for.

        Args:
            subject: Whom it is about.
            predicate: What it says of it.
            thing: Its object.
            owners: By what names the asker goes.
        """
        if self.misses(subject, predicate, owners):
            return False
        whose, said = _stems(subject), _stems(subject) | _stems(predicate) | _stems(thing)
        if self.things or not self.names.isdisjoint(said):
            return True
        if self.of_asker:
            other = whose - _stems(" ".join(owners)) if _is_owners(subject, owners) else whose | _stems(thing)
            return name_key(subject) in owners or not self.words.isdisjoint(other)
        return not self.names and (not self.spelt or not self.spelt.isdisjoint(said))

    def misses(self, subject: str, predicate: str, owners: Collection[str]) -> bool:
        """Whether it is plainly about another: about the owner, or about what was not asked for."""
        if self.things:
            return self.things.isdisjoint(_stems(subject) if self.acts else _stems(subject) | _stems(predicate))
        return self.of_other and _is_owners(subject, owners)

    def mentions(self, text: str) -> bool:
        """Whether a text names the thing that is asked about."""
        return not self.things.isdisjoint(stems(text))

    def passes_by(self, text: str, speaker: str, owners: Collection[str]) -> bool:
        """Whether the owner says something in a text, and names none of those who are asked about by name."""
        asked = bool(self.names) and not self.of_asker
        return asked and name_key(speaker) in owners and self.names.isdisjoint(stems(text))


def read_topic(question: Question) -> Topic:
    """Read whom a question is about."""
    text = question.text
    held = [found for pattern in _HELD for found in pattern.findall(text)]
    of_asker = _ASKER.search(text) is not None
    # In a text of large letters none of them says that it begins a name.
    names = _words_in(_PROPER_NAME.findall(text)) if _SMALL.search(text) else frozenset[str]()
    return Topic(
        things=_words_in(held) or _words_in(_ACTS.findall(text)) - _VERBS,
        acts=not held,
        spelt=_words_in(_SPELT.findall(text)),
        names=frozenset(word for word in names if not says_when((word,))),
        of_asker=of_asker,
        of_other=not of_asker and _OTHER.search(text) is not None,
        words=frozenset(question.words),
    )


def _words_in(parts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for part in parts for word in content_words(part))


def _stems(text: str) -> frozenset[str]:
    return frozenset(content_words(text.replace("_", " ")))


def _is_owners(subject: str, owners: Iterable[str]) -> bool:
    """Whether it is the owner, or something of the owner's."""
    key = name_key(subject)
    return any(key == name or key.startswith(name_key(possessed(name, ""))) for name in owners)
