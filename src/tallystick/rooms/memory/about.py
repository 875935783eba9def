"""Whom a question is about. What is known of one is no answer to a question about another.

Only what a question plainly says is read: whose name it gives, whether it asks of the asker («I», «my name»), of
something of his («my dog»), of something that is spelt out («of the kettle»), or of somebody else («your», «her»).
Words alone ask of nobody, and whatever holds them fits.
"""

import re
from collections.abc import Collection, Iterable

from tallystick.records import record
from tallystick.rooms.memory.extract_rules import VERBS
from tallystick.rooms.memory.naming import name_key, possessed
from tallystick.rooms.memory.question import STOP, Question, content_words, says_when
from tallystick.rooms.memory.stems import stems

_THING = r"((?:\w+ ){0,2}?\w+)"
_MARK = r"['’]"  # noqa: RUF001 - both kinds of apostrophe stand in texts
_HELD = (
    re.compile(rf"\b(?:my|our|your) {_THING}{_MARK}s? \w", re.IGNORECASE),
    re.compile(r"\bof (?:my|our|your) (\w+(?: \w+){0,2})", re.IGNORECASE),
    re.compile(rf"\b(?:is|are|was|were) (?:my|our|your) {_THING} (?:called|named)\b", re.IGNORECASE),
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
_NAME = re.compile(r"(?<=[\w,] )(?!I\b)[A-Z]\w+")
_VERBS = frozenset(word for verb in VERBS for word in stems(verb.said.replace("|", " ")))
_SMALL = re.compile(r"\b[a-z]\w*")


@record
class About:
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


def read_about(question: Question) -> About:
    """Read whom a question is about."""
    text = question.text
    held = [found for pattern in _HELD for found in pattern.findall(text)]
    of_asker = _ASKER.search(text) is not None
    # In a text of large letters none of them says that it begins a name.
    names = _words(_NAME.findall(text)) if _SMALL.search(text) else frozenset[str]()
    return About(
        things=_words(held) or _words(_ACTS.findall(text)) - _VERBS,
        acts=not held,
        spelt=_words(_SPELT.findall(text)),
        names=frozenset(word for word in names if not says_when((word,))),
        of_asker=of_asker,
        of_other=not of_asker and _OTHER.search(text) is not None,
        words=frozenset(question.words),
    )


def _words(parts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for part in parts for word in content_words(part))


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text.replace("_", " "))) - STOP


def _is_owners(subject: str, owners: Iterable[str]) -> bool:
    """Whether it is the owner, or something of the owner's."""
    key = name_key(subject)
    return any(key == name or key.startswith(name_key(possessed(name, ""))) for name in owners)
