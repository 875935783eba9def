"""Where a place lies: `The Gull stands on Fish Street`; two streets, or two towns, cannot both be."""

from collections.abc import Iterator

from tallystick.reading.parser import ParsedWord
from tallystick.rooms.studio.continuity.fields.found import Found, found_at
from tallystick.rooms.studio.continuity.mentions import Mention, ParsedPassage, who_is
from tallystick.rooms.studio.continuity.statements import Statement

_STANDS = {"stand", "lie", "be", "situate", "live", "reside", "dwell", "lodge"}
_KINDS = {
    "street",
    "lane",
    "road",
    "square",
    "row",
    "alley",
    "avenue",
    "court",
    "quay",
    "hill",
    "bridge",
    "gate",
    "terrace",
    "crescent",
}
_BANKS = {"bank", "side", "shore", "coast", "end"}
_COMPASS = {"north", "south", "east", "west", "northern", "southern", "eastern", "western", "left", "right"}
LIVING = {"live", "reside", "dwell", "lodge"}


def read_place(passage: ParsedPassage, default: Mention | None) -> Iterator[Found]:
    """Yield where a place stands, or where somebody lives."""
    for word in passage.parsed.words:
        if word.lower not in {"in", "on", "at"} or word.relation != "prep" or word.head.lemma not in _STANDS:
            continue
        named = word.child("pobj")
        who = passage.mention_of(word.head.child("nsubj", "nsubjpass")) or (
            default if word.head.child("nsubj", "nsubjpass") is None else None
        )
        if named is None or not named.text[:1].isupper() or who is None:
            continue
        if who.person.is_person != (word.head.lemma in LIVING):
            continue
        value = proper_place(named)
        yield found_at(who, f"place:{kind_of(value)}", (value.lower(),), value, named, hard=not who.person.is_person)


def read_bank(passage: ParsedPassage, default: Mention | None) -> Iterator[Found]:
    """Yield on which bank or side a place lies: `the mill on the south bank`."""
    for word in passage.parsed.words:
        side = word.child("amod", "compound")
        if word.lemma not in _BANKS or side is None or side.lower not in _COMPASS or word.head.lower != "on":
            continue
        found = who_is(passage, word.head.head) or passage.mention_of(word.head.head.child("nsubj", "dobj")) or default
        if found is not None and not found.person.is_person:
            yield found_at(found, "place:bank", (side.lower,), f"{side.text} {word.text}", word)


def proper_place(word: ParsedWord) -> str:
    """The whole name of a place."""
    parts = [one for one in word.subtree() if one.text[:1].isupper() and abs(one.index - word.index) < 3]  # noqa: PLR2004
    return " ".join(one.text for one in sorted(parts, key=lambda one: one.index))


def kind_of(place: str) -> str:
    """`street` for a street or square, else `town`."""
    last = place.lower().split()[-1:] or [""]
    return "street" if last[0] in _KINDS else "town"


def disagree(one: Statement, other: Statement) -> bool:
    """Whether two streets differ. A town may lie in another, so towns do not."""
    return one.field in {"place:street", "place:bank"} and one.value != other.value
