"""One proposition, weighed anew: the only place where a status is set, and every change of one is written down."""

from dataclasses import replace

from tallystick.rooms.memory.naming import check_id, content_id, name_key
from tallystick.rooms.memory.nouns import Event, Proposition, Transition, Trial
from tallystick.rooms.memory.scoring import Weighed
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.states import (
    RIVAL,
    RIVAL_WORDS,
    SUPERSEDED,
    SUPERSEDED_WORDS,
    TABLE,
    Row,
    decide,
    explain,
)

LOOKS = 8
"""Looks per half-life at what age may have changed; reading computes the present state in any case."""
_ROWS: dict[str, Row] = {row.rule: row for row in TABLE}
POLICY_METHOD = "independent check"
"""The method of the test that policy asks for itself."""


def settle(state: State, event: Event, proposition_id: str, cause: str, trigger: str | None = None) -> None:
    """Weigh a proposition at the present log time and write down what changed.

    Args:
        state: Is changed.
        event: During which this happens.
        proposition_id: Which one; an unknown one is left alone.
        cause: evidence, age, test, proposal.
        trigger: The observation that made it necessary.
    """
    known = state.propositions.get(proposition_id)
    if known is None:
        return
    declared = state.policy.predicate(known.predicate)
    weighed = state.dossier(proposition_id).weigh(known.volatility, state.now, owner_predicate=declared.owner)
    row = decide(weighed.figures, state.policy)
    # Whatever is new on a proposition takes it out of the archive; that it grew older does not.
    archived = known.archived if cause == "age" else None
    now = replace(
        known, evidence_status=row.status, rule=row.rule, figures=weighed.figures, scored_at=state.now,
        due_at=_due(state, known, weighed), archived=archived,
    )  # fmt: skip
    changed_sides = (known.evidence_status == "accepted") != (row.status == "accepted")
    if not declared.functional or "rivals" in state.policy.off:
        _conclude(state, event, known, now, weighed, cause, trigger)
    elif changed_sides:
        _settle_rivals(state, event, known, now, weighed, cause, trigger)
    else:
        _conclude(state, event, known, now, weighed, cause, trigger)


def _due(state: State, known: Proposition, weighed: Weighed) -> int | None:
    """When to look again for what age alone may change; None once nothing is left that it could."""
    half_life, figures = state.policy.half_life_s[known.volatility], weighed.figures
    # Stale and uncontradicted it is deprecated or tentative, and stays so until somebody says something new.
    stale = figures.freshness < state.policy.states.deprecated_freshness
    if half_life is None or (stale and not figures.contradiction):
        return None
    return state.now + max(half_life // LOOKS, 1)


def _conclude(
    state: State, event: Event, known: Proposition, now: Proposition, weighed: Weighed, cause: str, trigger: str | None
) -> None:
    """Derive the status from the evidence and the rivals, keep it, and note the change."""
    status = "contested" if now.rivals and now.evidence_status == "accepted" else now.evidence_status
    pending = status == "accepted" and now.canonical_id is None and now.superseded_by is None
    now = replace(now, status=status, pending=pending)
    (state.pending.add if pending else state.pending.discard)(now.id)
    superseded = now.superseded_by is not None and now.superseded_by != known.superseded_by
    first = known.rule == ""
    if first or status != known.status or superseded:
        rule, words = _reason(state, now)
        ids = weighed.evidence_ids if trigger is None else tuple(dict.fromkeys((trigger, *weighed.evidence_ids)))
        state.add_transition(
            Transition(
                proposition_id=now.id, before=None if first else known.status, after=status, rule=rule, words=words,
                cause=cause, evidence_ids=ids, figures=now.figures, policy=state.policy.digest, seq=event.seq,
                place=state.place, at=state.now,
            )
        )  # fmt: skip
        if status == "contested":
            _ask_for_test(state, event, now)
        if status != "accepted" and now.canonical_id is not None:
            retire(state, event, now.canonical_id, words)
            now = replace(now, canonical_id=None)
    state.propositions.put(now.id, now)


def _reason(state: State, now: Proposition) -> tuple[str, str]:
    if now.status == "contested" and now.rivals and now.evidence_status == "accepted":
        return RIVAL, RIVAL_WORDS.format(others=_named(state, now.rivals))
    if now.status == "accepted" and now.superseded_by is not None:
        return SUPERSEDED, SUPERSEDED_WORDS.format(others=_named(state, (now.superseded_by,)))
    return now.rule, explain(_ROWS[now.rule], now.figures)


def _named(state: State, ids: tuple[str, ...]) -> str:
    found = (state.propositions.get(one) for one in ids)
    return ", ".join(f"“{one.subject} {one.predicate} {one.object}”" for one in found if one is not None)


def retire(state: State, event: Event, canonical_id: str, why: str) -> None:
    """Take a canonical record out of force; it stays where it is."""
    held = state.canonicals.get(canonical_id)
    if held is not None and held.retired_at is None:
        state.canonicals.put(held.id, replace(held, retired_at=state.now, retired_seq=event.seq, retired_why=why))


def _ask_for_test(state: State, event: Event, now: Proposition) -> None:
    """Where sources contradict each other, ask for something that tells which is right."""
    expectation = f"{now.subject} {now.predicate} {now.object}"
    name = check_id(now.id, POLICY_METHOD, expectation)
    if state.trials.get(name) is None:
        trial = Trial(
            id=name, proposition_id=now.id, method=POLICY_METHOD, expectation=expectation, discriminating=True,
            proposed_by="policy", observation_id=None, result=None, observed_at=None, decisive=False, seq=event.seq,
            receipt_id=event.receipt_id, at=state.now,
        )  # fmt: skip
        state.trials.put(name, trial)
        state.dossier(now.id).trials[name] = trial


def sibling_key(one: Proposition) -> str:
    """What propositions have in common of which only one can hold."""
    return content_id("sib", name_key(one.subject), one.predicate)


# -- rivals ------------------------------------------------------------------------------------------------------------


def _settle_rivals(
    state: State, event: Event, known: Proposition, now: Proposition, weighed: Weighed, cause: str, trigger: str | None
) -> None:
    """The evidence began or ceased to be enough: whoever says otherwise about the same thing is looked at again."""
    key = sibling_key(now)
    others = [one for one in state.siblings.get(key) or () if one != now.id]
    family = sorted((*others, now.id)) if now.evidence_status == "accepted" else others
    state.siblings.put(key, tuple(family))
    state.propositions.put(now.id, now)
    members = [one for name in family if (one := state.propositions.get(name)) is not None]
    # One that is no longer accepted is in nobody's way.
    after = _succession(members)
    _conclude(state, event, known, _placed(now, members, after), weighed, cause, trigger)
    for other in members:
        if other.id != now.id:
            placed = _placed(other, members, after)
            if (placed.rivals, placed.superseded_by) != (other.rivals, other.superseded_by):
                _conclude(state, event, other, placed, _as_weighed(other), "rival", None)


def _as_weighed(known: Proposition) -> Weighed:
    return Weighed(figures=known.figures, evidence_ids=known.observation_ids[:1])


def _placed(one: Proposition, family: list[Proposition], after: dict[str, set[str]]) -> Proposition:
    """The proposition with its rivals, and with what takes its place."""
    if one.evidence_status != "accepted":
        return replace(one, rivals=(), superseded_by=None)
    rivals: list[str] = []
    later: list[tuple[int, str]] = []
    for other in family:
        if other.id == one.id or name_key(other.object) == name_key(one.object) or not _overlap(one, other):
            continue
        comes_after, comes_before = other.id in after[one.id], one.id in after[other.id]
        if comes_after == comes_before:
            # Neither, or round in a circle: nobody can say which of them holds now.
            rivals.append(other.id)
        elif comes_after:
            later.append((_begins(other), other.id))
    return replace(one, rivals=tuple(rivals), superseded_by=min(later)[1] if later else None)


def _succession(family: list[Proposition]) -> dict[str, set[str]]:
    """For each, all that come after it: directly, or after one that does."""
    direct = {one.id: {other.id for other in family if _follows(other, one)} for one in family}
    after: dict[str, set[str]] = {}
    for one in family:
        found: set[str] = set()
        waiting = list(direct[one.id])
        while waiting:
            name = waiting.pop()
            if name not in found and name != one.id:
                found.add(name)
                waiting.extend(direct[name])
        after[one.id] = found
    return after


def _begins(one: Proposition) -> int:
    """From when on it is said to hold; without a word about that, from when it was first proposed."""
    return one.at if one.valid_from is None else one.valid_from


def _overlap(one: Proposition, other: Proposition) -> bool:
    """Whether there is a time at which both would hold."""
    return (one.valid_to is None or other.valid_from is None or other.valid_from < one.valid_to) and (
        other.valid_to is None or one.valid_from is None or one.valid_from < other.valid_to
    )


def _follows(later: Proposition, earlier: Proposition) -> bool:
    """Whether one takes the other's place: it says so, or it is said to begin after the other."""
    if earlier.id in later.supersedes:
        return later.id not in earlier.supersedes
    if later.id in earlier.supersedes or later.valid_from is None:
        return False
    return later.valid_from > _begins(earlier)
