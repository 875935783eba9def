"""Entities: cheap to create, expensive to merge.

A name creates an entity. That two entities may be the same is only noted (`possible_same_as`): because somebody
proposed it, or because their names look alike. They are merged when a proposition `same_as` about them is promoted,
with the evidence which that takes.
"""

from collections.abc import Iterable
from dataclasses import replace

from tallystick.rooms.memory.ids import entity_id, name_key, one_line, skeleton, text_key
from tallystick.rooms.memory.model import Entity, Event
from tallystick.rooms.memory.weigh.state import State

MAX_LOOKALIKES = 32
"""Entities with the same skeleton that are linked to each other; more than this is an attack, not a coincidence."""

_DIGITS = str.maketrans("10", "lo")


def link_entity(state: State, event: Event) -> None:
    """Fold a `create_or_link_entity_candidate` event."""
    args = event.args
    seen = {one for one in args["observation_ids"] if state.observations.get(one) is not None}
    if not seen:
        # Its observations were erased; a name without an observation is not kept either.
        return
    name, kind = one_line(args["name"]), one_line(args.get("kind", "thing"))
    own = entity_id(name, kind)
    known = state.entities.get(own)
    proposed = {one for one in args.get("possible_same_as", ()) if state.entities.get(one) is not None}
    alike = _lookalikes(state, own, (name, *args.get("aliases", ())))
    same = (proposed | alike) - {own}
    made = known or Entity(
        id=own,
        name=name,
        kind=kind,
        aliases=(),
        since=(),
        observation_ids=(),
        possible_same_as=(),
        seq=event.seq,
        receipt_id=event.receipt_id,
        at=state.now,
    )
    aliases = dict(zip(made.aliases, made.since, strict=True))
    for alias in map(one_line, args.get("aliases", ())):
        aliases.setdefault(alias, event.seq)
    state.entities.put(
        own,
        replace(
            made,
            aliases=tuple(sorted(aliases)),
            since=tuple(aliases[alias] for alias in sorted(aliases)),
            observation_ids=_joined(made.observation_ids, seen),
            possible_same_as=_joined(made.possible_same_as, same),
        ),
    )
    for other in sorted(same):
        _note_same(state, other, own)


def names_of(state: State, name: str, upto: int | None = None) -> list[str]:
    """Return all names of the entity with this name, as `name_key` writes them: the given name first.

    Args:
        state: Memory.
        name: A name or an alias of an entity, or any other.
        upto: Only names that were given up to this place of the log.
    """
    own = name_key(name)
    found: set[str] = set()
    for each in state.lookalikes.get(text_key(shape(name))) or ():
        entity = state.entities.get(each)
        if entity is not None and (upto is None or entity.seq <= upto):
            given = zip(entity.aliases, entity.since, strict=True)
            called = {name_key(entity.name), *(name_key(one) for one, at in given if upto is None or at <= upto)}
            found |= called if own in called else set()
    return [own, *sorted(found - {own})]


def shape(name: str) -> str:
    """Return the skeleton of a name without spaces, with digits as the letters they resemble."""
    return skeleton(name).replace(" ", "").translate(_DIGITS)


def _lookalikes(state: State, own: str, names: Iterable[str]) -> set[str]:
    """Return the entities whose names look like one of these, and add this one to them."""
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
        state.entities.put(name, replace(known, possible_same_as=_joined(known.possible_same_as, (other,))))


def _joined(known: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*known, *more}))
