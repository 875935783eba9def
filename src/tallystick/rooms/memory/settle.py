"""One proposition, weighed anew: the only place where a status is set, and every change of one is written down."""

from dataclasses import replace

from tallystick.rooms.memory.ageing import look_again_in
from tallystick.rooms.memory.dossier import Weighed
from tallystick.rooms.memory.naming import check_id
from tallystick.rooms.memory.nouns import Event, Observation, Proposition, Result, Status, Transition, Trial
from tallystick.rooms.memory.rivals import Places, family_of, has_begun, is_functional, join_siblings, successors
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

_ROWS: dict[str, Row] = {row.rule: row for row in TABLE}
POLICY_METHOD = "independent check"
"""The method of the test that policy asks for itself."""
POLICY = "policy"


def settle(
    state: State,
    event: Event,
    proposition_id: str,
    cause: str,
    trigger: str | None = None,
    *,
    links_changed: bool = False,
) -> None:
    """Weigh a proposition at the present log time and write down what changed.

    Args:
        state: Is changed.
        event: During which this happens.
        proposition_id: Which one; an unknown one is left alone.
        cause: evidence, age, test, proposal.
        trigger: The observation that made it necessary.
        links_changed: It now says to take the place of another.
    """
    known = state.propositions.get(proposition_id)
    if known is None:
        return
    declared = state.policy.predicate(known.predicate)
    weighed = state.dossier(proposition_id).weigh(known.volatility, state.now, owner_predicate=declared.owner)
    row = decide(weighed.figures, state.policy)
    again = look_again_in(row.status, weighed.figures, state.policy, state.policy.half_life_s[known.volatility])
    # Whatever is new on a proposition takes it out of the archive; that it grew older does not.
    archived = known.archived if cause == "age" else None
    status, pending = _derived(known, row.status)
    now = replace(
        known, evidence_status=row.status, rule=row.rule, figures=weighed.figures, scored_at=state.now,
        due_at=_due(state, known, again), archived=archived, status=status, pending=pending,
    )  # fmt: skip
    join_siblings(state, now)
    changed_sides = (known.evidence_status == "accepted") != (row.status == "accepted")
    begins = not has_begun(known, known.scored_at) and has_begun(known, state.now)
    conclude = _settle_family if changed_sides or links_changed or begins else _conclude
    conclude(state, event, known, now, weighed, cause, trigger)


def _due(state: State, known: Proposition, again: int | None) -> int | None:
    """When to look at it again: as it ages, and when the time of which it speaks has come."""
    moments = [] if again is None else [state.now + again]
    if known.valid_from is not None and not has_begun(known, state.now):
        moments.append(known.valid_from)
    return min(moments, default=None)


def _conclude(
    state: State, event: Event, known: Proposition, now: Proposition, weighed: Weighed, cause: str, trigger: str | None
) -> None:
    """Derive the status from the evidence and the rivals, keep it, and note the change."""
    status, pending = _derived(now, now.evidence_status)
    if (status, pending) != (now.status, now.pending):
        now = replace(now, status=status, pending=pending)
    (state.pending.add if pending else state.pending.discard)(now.id)
    superseded = now.superseded_by is not None and now.superseded_by != known.superseded_by
    first = known.rule == ""
    taken_up = known.archived is not None and now.archived is None
    if first or status != known.status or superseded or taken_up:
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
        elif superseded:
            now = _give_way(state, event, now)
    state.propositions.put(now.id, now)


def _derived(now: Proposition, by_evidence: Status) -> tuple[Status, bool]:
    """The status that evidence and rivals make, and whether a consolidation is to look at it."""
    status: Status = "contested" if now.rivals and by_evidence == "accepted" else by_evidence
    return status, status == "accepted" and now.canonical_id is None and now.superseded_by is None


def _give_way(state: State, event: Event, now: Proposition) -> Proposition:
    """Retire its record, if what takes its place, or the place of that, has one already; else when one is promoted."""
    names = (other.canonical_id for other in successors(state, now) if other.canonical_id is not None)
    held = next((record for name in names if (record := state.canonicals.get(name)) is not None), None)
    if held is None or now.canonical_id is None:
        return now
    retire(state, event, now.canonical_id, f"superseded by {held.proposition_id}")
    state.canonicals.put(held.id, replace(held, supersedes=tuple(sorted({*held.supersedes, now.canonical_id}))))
    return replace(now, canonical_id=None)


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
    name = policys_check(now)
    if state.trials.get(name) is None:
        keep_trial(state, policy_trial(state, event, now, name))


def policys_check(tested: Proposition) -> str:
    """The id of the test that policy asks for."""
    return check_id(tested.id, POLICY_METHOD, _expectation(tested))


def policy_trial(state: State, event: Event, tested: Proposition, name: str) -> Trial:
    """The test that policy asks for."""
    return Trial(
        id=name, proposition_id=tested.id, method=POLICY_METHOD, expectation=_expectation(tested), discriminating=True,
        proposed_by=POLICY, seq=event.seq, receipt_id=event.receipt_id, at=state.now,
    )  # fmt: skip


def keep_trial(state: State, trial: Trial) -> None:
    """Keep a test, with its proposition's evidence too."""
    state.trials.put(trial.id, trial)
    state.dossier(trial.proposition_id).trials[trial.id] = trial


def raise_trial(state: State, event: Event, known: Trial) -> None:
    """Let somebody who is no agent say that a test refutes, where it was first proposed as one that does not."""
    if not event.by.is_program and event.args.get("discriminating") and not known.discriminating:
        keep_trial(state, replace(known, discriminating=True, raised_seq=event.seq, raised_receipt=event.receipt_id))
        settle(state, event, known.proposition_id, "test")


def with_result(trial: Trial, seen: Observation, result: Result) -> Trial:
    """The test with one more result. An agent's word and a test that found nothing take no better one's place."""
    told = replace(trial, result_ids=(*trial.result_ids, seen.id))
    decisive = seen.weighed_as == "test_result"
    new = (decisive, result != "inconclusive", seen.observed_at, seen.id)
    if trial.observed_at is not None and trial.observation_id is not None:
        # What was observed may lie in any past: the first result of all is better than none, however old.
        found = trial.result != "inconclusive"
        if new <= (trial.decisive, found, trial.observed_at, trial.observation_id):
            return told
    return replace(told, observation_id=seen.id, result=result, observed_at=seen.observed_at, decisive=decisive)


def _expectation(tested: Proposition) -> str:
    return f"{tested.subject} {tested.predicate} {tested.object}"


# -- rivals ------------------------------------------------------------------------------------------------------------


def _settle_family(
    state: State, event: Event, known: Proposition, now: Proposition, weighed: Weighed, cause: str, trigger: str | None
) -> None:
    """Who is accepted, or who says to take whose place, has changed: all that this bears on are looked at again."""
    state.propositions.put(now.id, now)
    # One that is not accepted is in nobody's way.
    members = [one for one in family_of(state, now) if one.evidence_status == "accepted"]
    places = Places(members, functional=is_functional(now, state.policy), now=state.now)
    rivals, later = places.of(now) if now.evidence_status == "accepted" else ((), None)
    _conclude(state, event, known, replace(now, rivals=rivals, superseded_by=later), weighed, cause, trigger)
    for other in members:
        if other.id != now.id and places.concern(other, now):
            rivals, later = places.of(other)
            if (rivals, later) != (other.rivals, other.superseded_by):
                placed = replace(other, rivals=rivals, superseded_by=later)
                _conclude(state, event, other, placed, _as_weighed(other), "rival", None)


def _as_weighed(known: Proposition) -> Weighed:
    return Weighed(figures=known.figures, evidence_ids=known.observation_ids[:1])
