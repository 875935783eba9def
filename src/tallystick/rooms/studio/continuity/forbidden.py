"""What the canon forbids and a scene does: `No pan is fired on a Sunday` against `On Sunday he fired the third pan`.

Only what can be read without guessing: a thing, what is never done with it, and when. The scene must say all three.
"""

import re
from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.continuity.card_facts import constraints_of
from tallystick.rooms.studio.continuity.comparing import Conflict
from tallystick.rooms.studio.continuity.dates import MONTH, WEEKDAY
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention

_WHEN = (
    rf"(?:on|in|at|after|before|during)\s+(?:an?\s+|the\s+|any\s+)?(?P<when>{WEEKDAY}|{MONTH}|Christmas|Easter|Lent|"
    rf"Advent|"
    r"Michaelmas)s?\b"
)
_NO = re.compile(
    rf"\b(?:No|no)\s+(?P<thing>[a-z-]+)\s+(?:is|are|was|were|may\s+be|must\s+be|shall\s+be|"
    rf"can\s+be)\s+(?:ever\s+)?(?P<verb>[a-z]{{3,}})\s+{_WHEN}"
)
_NEVER = re.compile(
    rf"\b(?:The\s+|A\s+|An\s+)?(?P<thing>[A-Za-z-]+)\s+(?:is|are|may|must|shall)\s+(?:never|"
    rf"not)\s+(?:to\s+)?(?:be\s+)?(?P<verb>[a-z]{{3,}})\s+{_WHEN}"
)
_NOBODY = re.compile(
    rf"\b(?:Nobody|No\s+one|None|Never)\s+(?:ever\s+)?(?P<does>[a-z]{{3,}})\s+(?:an?\s+|the\s+|"
    rf"any\s+)?(?P<thing>[a-z-]+)\s+{_WHEN}"
)


@record
class Ban:
    """One thing that is never done, as a card has it."""

    card: CanonCard
    line: int
    pattern: re.Pattern[str]
    triggers: frozenset[str]


def broken_bans(narrations: Sequence[Narration], cards: Sequence[CanonCard]) -> Iterator[Conflict]:
    """Every place where a scene does what a card forbids."""
    bans = [ban for card in cards for ban in _bans(card)]
    for ban in bans:
        for narration in narrations:
            for number, found in narration.prose.matches(ban.pattern, ban.triggers):
                if narration.is_real(number) and narration.asserts(number, found.start(), found.end()):
                    yield _conflict(ban, narration, number, found)


def _bans(card: CanonCard) -> Iterator[Ban]:
    for text, line in constraints_of(card):
        found = _NO.search(text) or _NEVER.search(text) or _NOBODY.search(text)
        if found is None:
            continue
        groups = found.groupdict()
        verb = groups.get("verb") or _past(groups["does"] or "")
        thing, when = re.escape(found.group("thing").lower().removesuffix("s")), found.group("when")
        does, where = rf"\b{re.escape(verb)}\b[^;:]{{0,40}}?\b{thing}s?\b", rf"\b{when}s?\b"
        pattern = re.compile(rf"{where}[^;:]{{0,80}}?{does}|{does}[^;:]{{0,60}}?{where}")
        yield Ban(card=card, line=line, pattern=pattern, triggers=frozenset({when.lower(), f"{when.lower()}s"}))


def _past(verb: str) -> str:
    """`fires` → `fired`; of other verbs nothing is found, and so nothing is said."""
    bare = verb.removesuffix("s")
    return f"{bare}d" if bare.endswith("e") else f"{bare}ed"


def _conflict(ban: Ban, narration: Narration, number: int, found: re.Match[str]) -> Conflict:
    quote = " ".join(ban.card.source.lines[ban.line - 1].split())
    name = ban.card.name
    settled = Fact(
        subject=ban.card.path, name=name, attribute="forbidden", value=(), words=quote, path=ban.card.path,
        line=ban.line, quote=quote, order=-1, from_card=True,
    )  # fmt: skip
    subject = Mention(start=found.start(), end=found.end(), key=ban.card.path, name=name, is_possessive=False)
    done = fact_at(narration.prose, number, found.span(), subject, "forbidden", (), found.group())
    return Conflict(first=settled, second=done, message=f"'{done.words}' is what {name} forbids.")
