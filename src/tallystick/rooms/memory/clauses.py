"""Where one statement of a sentence ends and the next begins.

A sentence is cut only where what follows is plainly a clause: with a subject of its own (`and I work for …`), or with a
verb that goes on about the same subject (`and works for …`). So `Smith and Sons` stays one name.
"""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.memory.extract_rules import RULES, VERB_PHRASE

_JOINT = re.compile(
    r"(?P<mark>\s*[,;])?\s+(?:(?P<word>and|but|so|while|whereas|because|although|though)\s+)?", re.IGNORECASE
)
_OWN_SUBJECT = re.compile(
    r"(?:(?:now|today|then|also) )?(?:I|we|he|she|it|they|you|my|our|his|her|their|your)(?:['’]\w+)? \w"  # noqa: RUF001
    r"|an? \w+ (?:called|named) \w",
    re.IGNORECASE,
)


@record
class Joint:
    """A place where a sentence may be cut."""

    before: str
    after: str
    goes_on: bool
    """What follows has no subject of its own: it is about the same one."""
    adds: bool
    """By «and», which a denial before it may reach across."""


def joints(sentence: str) -> Iterator[Joint]:
    """The places where a clause begins, in order."""
    for found in _JOINT.finditer(sentence):
        if found["mark"] is None and found["word"] is None:
            continue
        before, after = sentence[: found.start()], sentence[found.end() :]
        goes_on = VERB_PHRASE.match(after) is not None
        if before and (goes_on or _begins_statement(after)):
            adds = (found["word"] or "and").lower() == "and"
            yield Joint(before=before, after=after, goes_on=goes_on, adds=adds)


def _begins_statement(words: str) -> bool:
    return _OWN_SUBJECT.match(words) is not None or any(rule.pattern.match(words) for rule in RULES)
