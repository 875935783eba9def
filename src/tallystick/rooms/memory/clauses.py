"""Where one statement of a sentence ends and the next begins.

A sentence is cut only where what follows is plainly a clause: with a subject of its own (`and I work for …`), or with a
verb that goes on about the same subject (`and works for …`). So `Smith and Sons` stays one name.
"""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.memory.extract_rules import RULES, VERB_PHRASE, without_lead

_JOINT = re.compile(
    r"(?P<mark>\s*[,;])?\s+(?:(?P<word>and|but|so|while|whereas|because|although|though|who)\s+)?", re.IGNORECASE
)
_OWN_SUBJECT = re.compile(
    r"(?:(?:now|today|then|also) )?(?:I|we|he|she|it|they|you|my|our|his|her|their|your)(?:['’]\w+)? \w"  # noqa: RUF001
    r"|an? \w+ (?:called|named) \w",
    re.IGNORECASE,
)
_ENDS_IN_NAME = re.compile(r"(?:^| )[A-Z][\w'-]*$")


@record
class Joint:
    """A place where a sentence may be cut."""

    before: str
    after: str
    goes_on: bool
    """What follows has no subject of its own: it is about the same one."""
    adds: bool
    """By «and», which a denial before it may reach across."""
    of_last: bool = False
    """By «who»: it is about the one who was named last."""


def joints(sentence: str) -> Iterator[Joint]:
    """The places where a clause begins, in order."""
    for found in _JOINT.finditer(sentence):
        if found["mark"] is None and found["word"] is None:
            continue
        before, after = sentence[: found.start()], sentence[found.end() :]
        goes_on = VERB_PHRASE.match(after) is not None
        word = (found["word"] or "and").lower()
        if word == "who" and not (goes_on and _ENDS_IN_NAME.search(before)):
            # «people who live in Rome»: only with these words is it said who.
            continue
        if before and (goes_on or _begins_statement(after)):
            yield Joint(before=before, after=after, goes_on=goes_on, adds=word == "and", of_last=word == "who")


def states(words: str) -> bool:
    """Whether some rule understands how these words begin."""
    plain = without_lead(words)
    return any(rule.pattern.match(plain) for rule in RULES)


def _begins_statement(words: str) -> bool:
    return _OWN_SUBJECT.match(words) is not None or states(words)
