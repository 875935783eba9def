"""Which propositions stand in each other's way, and which takes another's place.

Of a functional predicate only one object can hold at a time: the accepted ones of a subject are rivals, unless one of
them is said to begin after the other. Of any predicate one proposition may say that it takes another's place
(`supersedes`). Only what is itself accepted takes a place or is in the way, and only once its time has come.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tallystick.rooms.memory.naming import content_id, name_key
from tallystick.rooms.memory.nouns import Event, Proposition
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.states import could_be_accepted

MOST_RIVALS = 16
"""Rivals that are named: with one alone it is contested, and who is one of thousands need not know all of them."""
_RIVAL, _TAKES_IT = "rival", "takes it"


def sibling_key(one: Proposition) -> str:
    """What propositions have in common that say something of the same thing."""
    return content_id("sib", name_key(one.subject), one.predicate)


def is_functional(one: Proposition, policy: Policy) -> bool:
    """Whether only one object can hold at a time."""
    return policy.predicate(one.predicate).functional and "rivals" not in policy.off


def join_siblings(state: State, one: Proposition) -> None:
    """Note one that could be in others' way. It stays noted: how things stood before is asked, too."""
    if is_functional(one, state.policy) and could_be_accepted(one.figures, state.policy):
        key = sibling_key(one)
        known = state.siblings.get(key) or ()
        if one.id not in known:
            state.siblings.put(key, tuple(sorted((*known, one.id))))


def family_of(state: State, one: Proposition) -> list[Proposition]:
    """All that may ever have been in its way or taken its place, and the other way round; itself too. By id."""
    names = {one.id, *_linked(state, one)}
    if is_functional(one, state.policy):
        names.update(state.siblings.get(sibling_key(one)) or ())
    return list(state.propositions.some(sorted(names)).values())


def _linked(state: State, one: Proposition) -> set[str]:
    """Those that it says it takes the place of, that say so of it, and so on."""
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
    """What takes its place, what takes the place of that, and so on."""
    seen = {one.id}
    after = one.superseded_by
    while after is not None and after not in seen:
        seen.add(after)
        found = state.propositions.get(after)
        if found is None:
            return
        yield found
        after = found.superseded_by


def may_claim_places(state: State, observation_ids: Iterable[str]) -> bool:
    """Whether what somebody brings is good enough to say what takes whose place: as good as the best of a fact's."""
    worth, least = state.policy.reliability_of, state.policy.states.accepted_class
    brought = (state.observations.get(name) for name in observation_ids)
    return any(seen is not None and worth[seen.weighed_as] >= least for seen in brought)


def claim_places(state: State, event: Event, one: Proposition, claimed: Iterable[str]) -> Proposition:
    """The proposition with what it says it takes the place of; of other things it can say nothing."""
    key = sibling_key(one)
    taken: set[str] = set()
    for name in set(claimed) - {one.id}:
        other = state.propositions.get(name)
        if other is not None and sibling_key(other) == key:
            taken.add(name)
            claims = {*(state.superseders.get(name) or ()), (one.id, event.receipt_id)}
            state.superseders.put(name, tuple(sorted(claims)))
    return replace(one, supersedes=tuple(sorted({*one.supersedes, *taken})))


class Places:
    """Who is in whose way, and who takes whose place, among accepted propositions of one subject and predicate."""

    def __init__(self, accepted: Iterable[Proposition], *, functional: bool, now: int) -> None:
        self._family = {one.id: one for one in accepted}
        self._functional = functional
        self._now = now
        # Where nobody claims a place there are only times of beginning, and who begins after whom is seen at once.
        claimed = any(one.supersedes for one in self._family.values())
        self._after = {name: self._all_after(one) for name, one in self._family.items()} if claimed else None

    def of(self, one: Proposition) -> tuple[tuple[str, ...], str | None]:
        """The rivals of one of them, and which takes its place."""
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
        """Whether that another was accepted, ceased to be, or began, can matter to one of them."""
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
        """What another is to one of them."""
        begun = has_begun(other, self._now)
        # What is only announced stands in nobody's way until its time has come.
        if other.id == one.id or not _overlap(one, other) or begun != has_begun(one, self._now):
            return None
        differs = name_key(other.object) != name_key(one.object)
        comes_after, comes_before = self._comes_after(other, one), self._comes_after(one, other)
        if comes_after and not comes_before:
            return _TAKES_IT if begun and (differs or one.id in other.supersedes) else None
        # Neither, or round in a circle: nobody can say which of them holds now.
        return _RIVAL if self._functional and differs and comes_after == comes_before else None

    def _comes_after(self, later: Proposition, earlier: Proposition) -> bool:
        return self._follows(later, earlier) if self._after is None else later.id in self._after[earlier.id]

    def _all_after(self, one: Proposition) -> set[str]:
        """All that come after it: directly, or after one that does."""
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
        """Whether one takes the other's place: it says so, or it is said to begin after the other."""
        if earlier.id in later.supersedes:
            return later.id not in earlier.supersedes
        if not self._functional or later.id in earlier.supersedes or later.valid_from is None:
            return False
        return later.valid_from > _begins(earlier)


def has_begun(one: Proposition, now: int) -> bool:
    """Whether the time of which it speaks has come."""
    return one.valid_from is None or one.valid_from <= now


def _begins(one: Proposition) -> int:
    """From when on it is said to hold; without a word about that, from when it was first proposed."""
    return one.at if one.valid_from is None else one.valid_from


def _overlap(one: Proposition, other: Proposition) -> bool:
    """Whether there is a time at which both would hold."""
    return (one.valid_to is None or other.valid_from is None or other.valid_from < one.valid_to) and (
        other.valid_to is None or one.valid_from is None or one.valid_from < other.valid_to
    )
