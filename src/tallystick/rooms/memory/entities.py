"""Entities: cheap to make, dear to merge.

A name makes an entity. That two of them may be one is only ever noted (`possible_same_as`): because somebody proposed
it, or because their names look alike. They are one when a proposition `same_as` about them was promoted, with all that
takes.
"""

import unicodedata
from collections.abc import Iterable

from tallystick.rooms.memory.naming import entity_id, name_key, one_line, text_key
from tallystick.rooms.memory.nouns import Entity, Event
from tallystick.rooms.memory.state import State

MAX_LOOKALIKES = 32
"""Names that look the same and are noted with each other; more than this is an attack, not a coincidence."""

_SHAPES = {
    ord(sign): letter
    for letter, signs in {
        "a": "\u0430\u03b1", "b": "\u0432", "c": "\u0441", "d": "\u0501",
        "e": "\u0435", "g": "\u0261", "h": "\u043d\u04bb", "i": "\u0456\u0131\u03b9",
        "j": "\u0458", "k": "\u03ba\u043a", "l": "1", "m": "\u043c",
        "n": "\u0578", "o": "\u043e\u03bf0", "p": "\u0440\u03c1", "q": "\u051b",
        "r": "\u0433", "s": "\u0455", "t": "\u0442\u03c4", "u": "\u057d",
        "v": "\u03bd", "x": "\u0445", "y": "\u0443",
    }.items()
    for sign in signs
}  # fmt: skip
"""Letters of other scripts, and digits, that look like ours. A list of the common ones; nothing is merged by it."""


def link_entity(state: State, event: Event) -> None:
    """`create_or_link_entity_candidate`."""
    args = event.args
    name, kind = one_line(args["name"]), one_line(args.get("kind", "thing"))
    own = entity_id(name, kind)
    known = state.entities.get(own)
    proposed = {one for one in args.get("possible_same_as", ()) if state.entities.get(one) is not None}
    alike = _lookalikes(state, own, (name, *args.get("aliases", ())))
    same = (proposed | alike) - {own}
    seen = {one for one in args["observation_ids"] if state.observations.get(one) is not None}
    state.entities.put(
        own,
        Entity(
            id=own, name=name if known is None else known.name, kind=kind if known is None else known.kind,
            aliases=_joined(() if known is None else known.aliases, map(one_line, args.get("aliases", ()))),
            observation_ids=_joined(() if known is None else known.observation_ids, seen),
            possible_same_as=_joined(() if known is None else known.possible_same_as, same),
            seq=event.seq if known is None else known.seq,
            receipt_id=event.receipt_id if known is None else known.receipt_id,
            at=state.now if known is None else known.at,
        ),
    )  # fmt: skip
    for other in sorted(same):
        _note_same(state, other, own)


def shape(name: str) -> str:
    """How a name looks: without case, accents, spaces and the script its letters are from."""
    plain = unicodedata.normalize("NFKD", name_key(name))
    bare = "".join(sign for sign in plain if sign.isalnum())
    return bare.translate(_SHAPES)


def _lookalikes(state: State, own: str, names: Iterable[str]) -> set[str]:
    """Entities whose names look like one of these; ours is kept with them."""
    found: set[str] = set()
    for key in {text_key(look) for name in names if (look := shape(name))}:
        known = state.lookalikes.get(key) or ()
        found.update(known)
        if own not in known and len(known) < MAX_LOOKALIKES:
            state.lookalikes.put(key, tuple(sorted((*known, own))))
    return found


def _note_same(state: State, name: str, other: str) -> None:
    known = state.entities.get(name)
    if known is not None and other not in known.possible_same_as:
        state.entities.put(
            name,
            Entity(
                id=known.id, name=known.name, kind=known.kind, aliases=known.aliases,
                observation_ids=known.observation_ids, possible_same_as=_joined(known.possible_same_as, (other,)),
                seq=known.seq, receipt_id=known.receipt_id, at=known.at,
            ),
        )  # fmt: skip


def _joined(known: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*known, *more}))
