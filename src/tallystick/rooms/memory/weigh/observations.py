"""Observations: what one weighs, which groups and root texts it goes back to, and what a tool read back.

An agent that reads its own notes learns nothing, so what a tool reads back weighs no more than the note. A tool's
reading is linked to a note with the same words that was written before. A note that was only recorded before does not
count: otherwise an agent could copy what a tool has just read, be recorded first, and make it worthless. A note is as
old as its record, whoever wrote it and whatever time it states. So whether something is a note read back depends on
times alone, never on which of the two was recorded first.
"""

from dataclasses import replace
from typing import Any

from tallystick.rooms.memory.ids import group_key, observation_id, text_key
from tallystick.rooms.memory.model import DEFAULT_EPISODE, Episode, Event, Observation, Source, SourceClass
from tallystick.rooms.memory.propose.speakers import highest_claim, lowest_class, proposer_of
from tallystick.rooms.memory.times import seconds
from tallystick.rooms.memory.weigh.state import State


def observe(
    state: State, event: Event, *, text: str, source_id: str, claimed: SourceClass, group: str
) -> Observation | None:
    """Record an observation; None if memory holds it already."""
    args, by, policy = event.args, proposer_of(event), state.policy
    seen, lineage = seconds(args["observed_at"]), tuple(sorted(set(args.get("derived_from", ()))))
    observed_at, episode_id = state.now if seen is None else seen, args.get("episode_id", DEFAULT_EPISODE)
    name = observation_id(text, source_id, claimed, group, observed_at, lineage, by.mark, args.get("result", ""))
    if state.observations.get(name) is not None:
        return None
    weighed = highest_claim(claimed, by, policy)
    whose = by.group if by.subject is not None or policy.agents_are_one_source else None
    groups, contents, weighed = _lineage(state, lineage, weighed, whose or group_key(group), text, claimed)
    if whose is not None:
        # A summary is in the words of whoever made it, whatever it was made of.
        groups = tuple(sorted({*groups, whose}))
    elif not lineage:
        groups = tuple(sorted({*groups, *_earlier_groups(state, source_id)}))
    made = Observation(
        id=name,
        text=text,
        source_id=source_id,
        claimed=claimed,
        weighed_as=weighed,
        groups=groups,
        contents=contents,
        observed_at=observed_at,
        derived_from=lineage,
        episode_id=episode_id,
        seq=event.seq,
        receipt_id=event.receipt_id,
        at=state.now,
        agent=event.agent,
        owner=by.is_owner and claimed == "human" and not lineage and source_id in policy.owners,
    )
    state.observations.put(name, made)
    add_note(state, made)
    _know_source(state, event, source_id, claimed, group)
    _count_in_episode(state, event, episode_id)
    return made


def _lineage(
    state: State, parents: tuple[str, ...], weighed: SourceClass, group: str, text: str, claimed: SourceClass
) -> tuple[tuple[str, ...], tuple[str, ...], SourceClass]:
    """Groups, root texts and class: its own, or those it goes back to."""
    if not parents or "lineage" in state.policy.off:
        own, key = group, text_key(text)
        # Two people may use the same words; two copies of a document are one document.
        return (own,), (f"{own}\x1f{key}" if claimed == "human" else key,), weighed
    known = [one for name in parents if (one := state.observations.get(name)) is not None]
    if len(known) < len(parents):
        # What it was drawn from was erased, and with it the reason to believe it.
        return (group,), (text_key(text),), "model_inference"
    groups = sorted({name for one in known for name in one.groups})
    contents = sorted({name for one in known for name in one.contents})
    lowest = lowest_class(weighed, *(one.weighed_as for one in known))
    return tuple(groups), tuple(contents), lowest


def _earlier_groups(state: State, source_id: str) -> set[str]:
    """The groups that a source has named before: under another one it is the same source still."""
    known = state.sources.get(source_id)
    return set() if known is None else {group_key(group) for group in known.groups}


def _know_source(state: State, event: Event, source_id: str, claimed: str, group: str) -> None:
    known = state.sources.get(source_id)
    if known is not None and claimed in known.classes and group in known.groups:
        return
    classes = {} if known is None else dict(zip(known.classes, known.since, strict=True))
    classes.setdefault(claimed, event.seq)
    made = Source(
        id=source_id,
        classes=tuple(sorted(classes)),
        since=tuple(classes[name] for name in sorted(classes)),
        groups=tuple(sorted({group, *(() if known is None else known.groups)})),
        first_seq=event.seq if known is None else known.first_seq,
    )
    state.sources.put(source_id, made)


def _count_in_episode(state: State, event: Event, episode_id: str) -> None:
    known = state.episodes.get(episode_id) or new_episode(state, event, episode_id)
    state.episodes.put(episode_id, replace(known, observations=known.observations + 1))


def new_episode(state: State, event: Event, episode_id: str) -> Episode:
    """Return an episode that begins with this event."""
    return Episode(
        id=episode_id,
        opened_at=state.now,
        closed_at=None,
        observations=0,
        carried_over=(),
        archived=(),
        put_aside=0,
        promoted=0,
        seq=event.seq,
    )


def add_note(state: State, made: Observation) -> None:
    """Remember what a model has written, or what was derived; of several with the same words the first."""
    if not made.derived_from and made.weighed_as != "model_inference":
        return
    key = text_key(made.text)
    if _note(state, key) is None:
        state.notes.put(key, made.id)


def find_note(state: State, text: str, source_id: str, seen: int) -> str | None:
    """The note that a tool has read back, if what it read at this time had been written by then."""
    found = _note(state, text_key(text))
    return None if found is None or found.source_id == source_id or found.at > seen else found.id


def _note(state: State, key: str) -> Observation | None:
    name = state.notes.get(key)
    return None if name is None else state.observations.get(name)


def is_tool_reading(args: dict[str, Any]) -> bool:
    """Whether it is something that a tool may have read back: no person's words, and of no known origin."""
    return not args.get("derived_from") and args["source"]["class"] != "human"
