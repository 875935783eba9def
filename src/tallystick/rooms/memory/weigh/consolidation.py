"""Consolidation: accepted propositions are promoted, aged ones reviewed, open ones carried over or archived.

Nothing becomes canonical anywhere else.
"""

from dataclasses import replace

from tallystick.gate.quotes import find_quote, fold_text
from tallystick.rooms.memory.ids import content_id
from tallystick.rooms.memory.model import DEFAULT_EPISODE, Canonical, Event, Proposition
from tallystick.rooms.memory.weigh.observations import new_episode
from tallystick.rooms.memory.weigh.rivals import family_of, successors
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.transitions import add_transition, retire, update_status

CAP_EXCEEDED = "carryover_cap_exceeded"
LISTED = 100
"""Ids of archived propositions that an episode lists; each proposition is marked as well."""
CARRY_RULE = "C1-carry-over"
_ORDER = {"contested": 0, "provisional": 1, "tentative": 2}


def request_consolidation(state: State, event: Event) -> None:
    """Fold a `request_consolidation` event."""
    promoted = consolidate(state, event, limit=None)
    _carry_over(state, event, event.args.get("episode_id", DEFAULT_EPISODE), promoted, closes=False)


def archive_episode(state: State, event: Event) -> None:
    """Fold an `archive_episode` event."""
    known = state.episodes.get(event.args["episode_id"])
    if known is not None and known.closed_at is None:
        promoted = consolidate(state, event, limit=None)
        _carry_over(state, event, known.id, promoted, closes=True)


def consolidate(state: State, event: Event, *, limit: int | None) -> int:
    """Review what age may have changed, then promote what passes; return how many that were.

    Args:
        state: Is changed.
        event: During which this happens.
        limit: Aged propositions to review; None: all.
    """
    state.since_consolidation = 0
    for name in state.due(state.now, limit):
        update_status(state, event, name, "age")
    promoted = 0
    names = sorted(state.pending)
    for name in names:
        promoted += _try_promote(state, event, name)
    state.pending.difference_update(names)
    return promoted


def _try_promote(state: State, event: Event, name: str) -> bool:
    update_status(state, event, name, "age")
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
        # It is reviewed again when there is something new about it.
        state.propositions.put(name, replace(found, pending=False))
        return False
    _promote(state, event, found)
    return True


def quotes_hold(state: State, found: Proposition) -> bool:
    """Return whether it has support and every quote still occurs in its observation."""
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
            id=name,
            proposition_id=found.id,
            subject=found.subject,
            predicate=found.predicate,
            object=found.object,
            promoted_at=state.now,
            promoted_seq=event.seq,
            retired_at=None,
            retired_seq=None,
            retired_why=None,
            supersedes=replaced,
            policy=state.policy.digest,
        ),
    )
    state.propositions.put(found.id, replace(found, pending=False, canonical_id=name))


def _take_place_of(state: State, event: Event, found: Proposition) -> tuple[str, ...]:
    """Retire the canonical records of propositions that this one supersedes; return their ids."""
    retired: list[str] = []
    for other, name in _superseded(state, found):
        retire(state, event, name, f"superseded by {found.id}")
        retired.append(name)
        state.propositions.put(other.id, replace(other, canonical_id=None))
    return tuple(retired)


def _superseded(state: State, found: Proposition) -> list[tuple[Proposition, str]]:
    """Return what it supersedes, directly or transitively, each with its canonical record."""
    return [
        (one, one.canonical_id)
        for one in family_of(state, found)
        if one.canonical_id is not None and any(after.id == found.id for after in successors(state, one))
    ]


def _carry_over(state: State, event: Event, episode_id: str, promoted: int, *, closes: bool) -> None:
    """Carry over the most pressing open propositions and archive the rest."""
    left = sorted(state.unresolved_in(episode_id), key=lambda one: (_ORDER[one.status], -one.figures.belief, one.id))
    most = state.policy.carry_over
    for one in left[most:]:
        _put_aside(state, event, one)
    known = state.episodes.get(episode_id) or new_episode(state, event, episode_id)
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
    add_transition(state, event, one, before=one.status, rule=CARRY_RULE, words=words, cause="archive")
