"""Consolidation: what passed is promoted, what aged is looked at again, what stays open is carried over or put aside.

Only here does anything become canonical.
"""

from dataclasses import replace

from tallystick.gate.quotes import find_quote, fold_text
from tallystick.rooms.memory.naming import content_id
from tallystick.rooms.memory.nouns import DEFAULT_EPISODE, Canonical, Episode, Event, Proposition, Transition
from tallystick.rooms.memory.rivals import family_of, successors
from tallystick.rooms.memory.settle import retire, settle
from tallystick.rooms.memory.state import State

CAP_EXCEEDED = "carryover_cap_exceeded"
LISTED = 100
"""Names of propositions put aside that an episode keeps: each of them says so itself."""
CARRY_RULE = "C1-carry-over"
_ORDER = {"contested": 0, "provisional": 1, "tentative": 2}


def request_consolidation(state: State, event: Event) -> None:
    """Somebody asked for it."""
    promoted = consolidate(state, event, limit=None)
    _carry_over(state, event, event.args.get("episode_id", DEFAULT_EPISODE), promoted, closes=False)


def archive_episode(state: State, event: Event) -> None:
    """An episode ends."""
    known = state.episodes.get(event.args["episode_id"])
    if known is not None and known.closed_at is None:
        promoted = consolidate(state, event, limit=None)
        _carry_over(state, event, known.id, promoted, closes=True)


def consolidate(state: State, event: Event, *, limit: int | None) -> int:
    """Look at what age may have changed, then promote what passes; how many that were.

    Args:
        state: Is changed.
        event: During which this happens.
        limit: Of the aged ones to look at; None: all.
    """
    state.since_consolidation = 0
    for name in state.due(state.now, limit):
        settle(state, event, name, "age")
    promoted = 0
    names = sorted(state.pending)
    for name in names:
        promoted += _try_promote(state, event, name)
    state.pending.difference_update(names)
    return promoted


def _try_promote(state: State, event: Event, name: str) -> bool:
    settle(state, event, name, "age")
    found = state.propositions.get(name)
    if found is None or not found.pending:
        return False
    passes = (
        found.figures.freshness >= state.policy.promote_freshness
        and found.figures.disbelief < state.policy.states.accepted_disbelief
        and not found.rivals
        and quotes_hold(state, found)
    )
    if not passes:
        # It will be looked at again when there is something new about it.
        state.propositions.put(name, replace(found, pending=False))
        return False
    _promote(state, event, found)
    return True


def quotes_hold(state: State, found: Proposition) -> bool:
    """Whether every quote still stands in what it was taken from, and something does support it."""
    support = [edge for edge in state.edges_of(found.id) if edge.stance == "support"]
    for edge in support:
        seen = state.observations.get(edge.observation_id)
        if seen is None or (edge.quote is not None and find_quote(edge.quote, fold_text(seen.text)) is None):
            return False
    return bool(support)


def _promote(state: State, event: Event, found: Proposition) -> None:
    name = content_id("can", found.id, event.seq)
    replaced = _take_place_of(state, event, found)
    state.canonicals.put(
        name,
        Canonical(
            id=name, proposition_id=found.id, subject=found.subject, predicate=found.predicate, object=found.object,
            promoted_at=state.now, promoted_seq=event.seq, retired_at=None, retired_seq=None, retired_why=None,
            supersedes=replaced, policy=state.policy.digest,
        ),
    )  # fmt: skip
    state.propositions.put(found.id, replace(found, pending=False, canonical_id=name))


def _take_place_of(state: State, event: Event, found: Proposition) -> tuple[str, ...]:
    """Retire the records of propositions that this one supersedes; their ids."""
    retired: list[str] = []
    for other, name in _superseded(state, found):
        retire(state, event, name, f"superseded by {found.id}")
        retired.append(name)
        state.propositions.put(other.id, replace(other, canonical_id=None))
    return tuple(retired)


def _superseded(state: State, found: Proposition) -> list[tuple[Proposition, str]]:
    """Those whose place it takes, or the place of what takes theirs, with the record that each has."""
    return [
        (one, one.canonical_id)
        for one in family_of(state, found)
        if one.canonical_id is not None and any(after.id == found.id for after in successors(state, one))
    ]


def _carry_over(state: State, event: Event, episode_id: str, promoted: int, *, closes: bool) -> None:
    """Keep the most pressing of what is open; put the rest aside, by name."""
    left = sorted(state.unresolved_in(episode_id), key=lambda one: (_ORDER[one.status], -one.figures.belief, one.id))
    most = state.policy.carry_over
    for one in left[most:]:
        _put_aside(state, event, one)
    known = state.episodes.get(episode_id) or Episode(
        id=episode_id, opened_at=state.now, closed_at=None, observations=0, carried_over=(), archived=(), put_aside=0,
        promoted=0,
        seq=event.seq,
    )  # fmt: skip
    state.episodes.put(
        episode_id,
        replace(
            known,
            closed_at=state.now if closes else known.closed_at,
            carried_over=tuple(one.id for one in left[:most]),
            archived=tuple(one.id for one in left[most : most + LISTED]),
            put_aside=known.put_aside + len(left[most:]),
            promoted=known.promoted + promoted,
        ),
    )


def _put_aside(state: State, event: Event, one: Proposition) -> None:
    state.propositions.put(one.id, replace(one, archived=CAP_EXCEEDED))
    words = "Put aside: more was left open than is carried over, and others were more pressing."
    state.add_transition(
        Transition(
            proposition_id=one.id, before=one.status, after=one.status, rule=CARRY_RULE, words=words, cause="archive",
            evidence_ids=(), figures=one.figures, policy=state.policy.digest, seq=event.seq, place=state.place,
            at=state.now,
        )
    )  # fmt: skip
