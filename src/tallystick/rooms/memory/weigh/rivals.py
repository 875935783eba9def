"""Which propositions are rivals, and which supersedes another.

A functional predicate has one object at a time: the accepted propositions of a subject are rivals, unless one is stated
to begin after the other. With any predicate a proposition may claim to supersede another (`supersedes`). Only an
accepted proposition supersedes or is a rival, and only once its valid time has begun.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tallystick.rooms.memory.ids import content_id, name_key
from tallystick.rooms.memory.model import Event, Proposition
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.status_rules import could_be_accepted

MOST_RIVALS = 16
"""Rivals that are listed; one suffices to be contested."""
_RIVAL, _TAKES_IT = "rival", "takes it"


def sibling_key(one: Proposition) -> str:
    """Return the key that propositions with one subject and predicate share."""
    return content_id("sib", name_key(one.subject), one.predicate)


def is_functional(one: Proposition, policy: Policy) -> bool:
    """Return whether the predicate has one object at a time."""
    return policy.predicate(one.predicate).functional and "rivals" not in policy.off


def join_siblings(state: State, one: Proposition) -> None:
    """Add a possible rival to its siblings. It stays there: past states are queried, too."""
    if is_functional(one, state.policy) and could_be_accepted(one.figures, state.policy):
        key = sibling_key(one)
        known = state.siblings.get(key) or ()
        if one.id not in known:
            state.siblings.put(key, tuple(sorted((*known, one.id))))


def family_of(state: State, one: Proposition) -> list[Proposition]:
    """Return itself and everything that may ever have been its rival, its predecessor or its successor, by id."""
    names = {one.id, *_linked(state, one)}
    if is_functional(one, state.policy):
        names.update(state.siblings.get(sibling_key(one)) or ())
    return list(state.propositions.some(sorted(names)).values())


def _linked(state: State, one: Proposition) -> set[str]:
    """Return the ids that it claims to supersede or that claim to supersede it, transitively."""
    found: set[str] = set()
    waiting = [one]
    while waiting:
        each = waiting.pop()
        claimants = (name for name, _ in state.superseders.get(each.id) or ())
        for name in {*each.supersedes, *claimants} - found:
            found.add(name)
            known = state.propositions.get(name)
            if known is not None:
                waiting.append(known)
    return found


def successors(state: State, one: Proposition) -> Iterator[Proposition]:
    """Yield what supersedes it, what supersedes that, and so on."""
    seen = {one.id}
    after = one.superseded_by
    while after is not None and after not in seen:
        seen.add(after)
        found = state.propositions.get(after)
        if found is None:
            return
        yield found
        after = found.superseded_by


def may_supersede(state: State, observation_ids: Iterable[str]) -> bool:
    """Return whether an observation is of the class that acceptance requires, as a claim to supersede needs."""
    worth, least = state.policy.reliability_of, state.policy.states.accepted_class
    brought = (state.observations.get(name) for name in observation_ids)
    return any(seen is not None and worth[seen.weighed_as] >= least for seen in brought)


def add_superseded(state: State, event: Event, one: Proposition, claimed: Iterable[str]) -> Proposition:
    """Return the proposition with what it claims to supersede, limited to its own subject and predicate."""
    key = sibling_key(one)
    taken: set[str] = set()
    for name in set(claimed) - {one.id}:
        other = state.propositions.get(name)
        if other is not None and sibling_key(other) == key:
            taken.add(name)
            claims = {*(state.superseders.get(name) or ()), (one.id, event.receipt_id)}
            state.superseders.put(name, tuple(sorted(claims)))
    return replace(one, supersedes=tuple(sorted({*one.supersedes, *taken})))


class Precedence:
    """Rivals and successors among the accepted propositions of one subject and predicate."""

    def __init__(self, accepted: Iterable[Proposition], *, functional: bool, now: int) -> None:
        self._family = {one.id: one for one in accepted}
        self._functional = functional
        self._now = now
        # Without claims only times of beginning matter, and they compare directly.
        claimed = any(one.supersedes for one in self._family.values())
        self._after = {name: self._all_after(one) for name, one in self._family.items()} if claimed else None

    def of(self, one: Proposition) -> tuple[tuple[str, ...], str | None]:
        """Return the rivals of a proposition, and what supersedes it."""
        rivals: list[str] = []
        later: list[tuple[int, str]] = []
        for other in self._family.values():
            place = self._place(one, other)
            if place == _RIVAL:
                rivals.append(other.id)
            elif place == _TAKES_IT:
                later.append((_begins(other), other.id))
        return tuple(sorted(rivals)[:MOST_RIVALS]), min(later)[1] if later else None

    def concern(self, one: Proposition, changed: Proposition) -> bool:
        """Return whether another's acceptance, its end or its beginning can affect a proposition."""
        if self._after is not None or changed.supersedes:
            return True
        if changed.id in one.rivals or one.superseded_by == changed.id:
            return True
        place = self._place(one, changed) if changed.id in self._family else None
        if place == _RIVAL:
            return len(one.rivals) < MOST_RIVALS or changed.id < one.rivals[-1]
        known = self._family.get(one.superseded_by or "")
        return place == _TAKES_IT and (known is None or (_begins(changed), changed.id) < (_begins(known), known.id))

    def _place(self, one: Proposition, other: Proposition) -> str | None:
        """Return how another relates to a proposition."""
        begun = has_begun(other, self._now)
        # What begins in the future is no rival yet.
        if other.id == one.id or not _overlap(one, other) or begun != has_begun(one, self._now):
            return None
        differs = name_key(other.object) != name_key(one.object)
        comes_after, comes_before = self._comes_after(other, one), self._comes_after(one, other)
        if comes_after and not comes_before:
            return _TAKES_IT if begun and (differs or one.id in other.supersedes) else None
        # Neither, or a cycle: nothing tells which of them holds now.
        return _RIVAL if self._functional and differs and comes_after == comes_before else None

    def _comes_after(self, later: Proposition, earlier: Proposition) -> bool:
        return self._follows(later, earlier) if self._after is None else later.id in self._after[earlier.id]

    def _all_after(self, one: Proposition) -> set[str]:
        """Return all that come after it, directly or transitively."""
        found: set[str] = set()
        waiting = [one]
        while waiting:
            earlier = waiting.pop()
            for other in self._family.values():
                if other.id not in found and other.id != one.id and self._follows(other, earlier):
                    found.add(other.id)
                    waiting.append(other)
        return found

    def _follows(self, later: Proposition, earlier: Proposition) -> bool:
        """Return whether one supersedes the other: it claims so, or it is stated to begin after it."""
        if earlier.id in later.supersedes:
            return later.id not in earlier.supersedes
        if not self._functional or later.id in earlier.supersedes or later.valid_from is None:
            return False
        return later.valid_from > _begins(earlier)


def has_begun(one: Proposition, now: int) -> bool:
    """Return whether its valid time has begun."""
    return one.valid_from is None or one.valid_from <= now


def _begins(one: Proposition) -> int:
    """Return when it begins to hold: as stated, otherwise when it was first proposed."""
    return one.at if one.valid_from is None else one.valid_from


def _overlap(one: Proposition, other: Proposition) -> bool:
    """Return whether their valid times overlap."""
    return (one.valid_to is None or other.valid_from is None or other.valid_from < one.valid_to) and (
        other.valid_to is None or one.valid_from is None or one.valid_from < other.valid_to
    )
