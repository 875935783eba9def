"""Where a claim belongs among what its speaker said before: the same again, or in the place of something else.

Whoever speaks of himself, or says that something has changed, does not speak beside what he said before but after it.
That is proposed in policy's own terms, `supersedes` and `valid_from`; what comes of it, policy decides. Nobody's word
takes the place of another's, and only a person's word takes any.
"""

from collections.abc import Sequence

from tallystick.records import record
from tallystick.rooms.memory.extract import Claim
from tallystick.rooms.memory.known import Known
from tallystick.rooms.memory.naming import name_key, possessed
from tallystick.rooms.memory.times import seconds

PERSON = "human"


@record
class Place:
    """How a claim is to be proposed."""

    again: str | None = None
    """The proposition that its speaker holds to already: one more support for it."""
    valid_from: str | None = None
    supersedes: tuple[str, ...] = ()


def place_of(claim: Claim, there: Sequence[Known], *, who: str, kind: str, when: str) -> Place:
    """Find a claim's place.

    Args:
        claim: What is said now.
        there: What memory holds of its subject and predicate.
        who: Who says it.
        kind: The class of that source.
        when: When it was said, RFC 3339.
    """
    of_himself = _is_of(who, claim.subject)
    # The day is enough where several tell of one change: they would not agree on the second.
    since = when if of_himself else when[:10]
    if kind != PERSON or not (of_himself or claim.begins):
        return Place(valid_from=since if claim.begins else None)
    moment = seconds(when) or 0
    replaced = {name for one in there for name in one.one.supersedes}
    held = [one for one in there if one.id not in replaced and one.still_said_by(who, moment)]
    same = [one for one in held if one.says(claim.object)]
    if same:
        return Place(again=max(same, key=lambda one: one.one.seq).id)
    # What its speaker said before, and took back or put something else in the place of, is said anew: it begins again.
    before = [one for one in there if one.says(claim.object) and name_key(who) in one.said]
    others = [one.id for one in held if one.functional]
    begins = claim.begins or bool(before)
    ended = [one.id for one in before if one.id not in replaced]
    return Place(valid_from=since if begins else None, supersedes=tuple(sorted({*others, *ended})))


def _is_of(who: str, subject: str) -> bool:
    """Whether it is about the speaker, or about something of his."""
    return name_key(subject) == name_key(who) or name_key(subject).startswith(name_key(possessed(who, "")))
