"""Status transitions: the only place where a status is set, and every change of one is recorded."""

from dataclasses import replace

from tallystick.records import record
from tallystick.rooms.memory.ids import trial_id
from tallystick.rooms.memory.model import Event, Observation, Proposition, Result, Status, Transition, Trial
from tallystick.rooms.memory.propose.speakers import proposer_of
from tallystick.rooms.memory.weigh.evidence import WeighedEvidence
from tallystick.rooms.memory.weigh.rivals import (
    Precedence,
    family_of,
    has_begun,
    is_functional,
    join_siblings,
    successors,
)
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.status_rules import (
    RIVAL,
    RIVAL_WORDS,
    SUPERSEDED,
    SUPERSEDED_WORDS,
    TABLE,
    Row,
    decide,
    explain,
    review_after,
)

_ROWS: dict[str, Row] = {row.rule: row for row in TABLE}
POLICY_METHOD = "independent check"
"""The method of the test that policy itself requests."""
POLICY = "policy"


@record
class _Update:
    """Why a status is computed again."""

    event: Event
    cause: str
    trigger: str | None = None
    """The observation that made it necessary."""


def update_status(
    state: State,
    event: Event,
    proposition_id: str,
    cause: str,
    trigger: str | None = None,
    *,
    links_changed: bool = False,
) -> None:
    """Weigh a proposition at the present log time and record what changed.

    Args:
        state: Is changed.
        event: During which this happens.
        proposition_id: Its id; an unknown one is ignored.
        cause: evidence, age, test, proposal.
        trigger: The observation that made it necessary.
        links_changed: Whether it now claims to supersede another.
    """
    known = state.propositions.get(proposition_id)
    if known is None:
        return
    now, weighed = _reweigh(state, known, cause)
    join_siblings(state, now)
    changed_sides = (known.evidence_status == "accepted") != (now.evidence_status == "accepted")
    begins = not has_begun(known, known.scored_at) and has_begun(known, state.now)
    conclude = _update_family if changed_sides or links_changed or begins else _conclude
    conclude(state, _Update(event=event, cause=cause, trigger=trigger), known, now, weighed)


def _reweigh(state: State, known: Proposition, cause: str) -> tuple[Proposition, WeighedEvidence]:
    """Return the proposition with the figures and the status that its own evidence makes now."""
    owners = state.policy.is_owners(known.subject, known.predicate)
    weighed = state.evidence(known.id).weigh(known.volatility, state.now, owner_predicate=owners)
    row = decide(weighed.figures, state.policy)
    again = review_after(row.status, weighed.figures, state.policy, state.policy.half_life_s[known.volatility])
    status, pending = _derived(known, row.status)
    now = replace(
        known,
        evidence_status=row.status,
        rule=row.rule,
        figures=weighed.figures,
        scored_at=state.now,
        due_at=_due(state, known, again),
        # Anything new about a proposition takes it out of the archive; growing older does not.
        archived=known.archived if cause == "age" else None,
        status=status,
        pending=pending,
    )
    return now, weighed


def _due(state: State, known: Proposition, again: int | None) -> int | None:
    """Return when to review it: as it ages, and when its valid time begins."""
    moments = [] if again is None else [state.now + again]
    if known.valid_from is not None and not has_begun(known, state.now):
        moments.append(known.valid_from)
    return min(moments, default=None)


def _conclude(state: State, update: _Update, known: Proposition, now: Proposition, weighed: WeighedEvidence) -> None:
    """Derive the status from the evidence and the rivals, keep it, and record the change."""
    event, trigger = update.event, update.trigger
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
        before = None if first else known.status
        add_transition(state, event, now, before=before, rule=rule, words=words, cause=update.cause, evidence_ids=ids)
        if status == "contested":
            _ask_for_test(state, event, now)
        if status != "accepted" and now.canonical_id is not None:
            retire(state, event, now.canonical_id, words)
            now = replace(now, canonical_id=None)
        elif superseded:
            now = _give_way(state, event, now)
    state.propositions.put(now.id, now)


def add_transition(
    state: State,
    event: Event,
    now: Proposition,
    *,
    before: Status | None,
    rule: str,
    words: str,
    cause: str,
    evidence_ids: tuple[str, ...] = (),
) -> None:
    """Record a change of a proposition, as it is now."""
    state.add_transition(
        Transition(
            proposition_id=now.id,
            before=before,
            after=now.status,
            rule=rule,
            words=words,
            cause=cause,
            evidence_ids=evidence_ids,
            figures=now.figures,
            policy=state.policy.digest,
            seq=event.seq,
            place=state.place,
            at=state.now,
        )
    )


def _derived(now: Proposition, by_evidence: Status) -> tuple[Status, bool]:
    """Return the status by evidence and rivals, and whether a consolidation is to review it."""
    status: Status = "contested" if now.rivals and by_evidence == "accepted" else by_evidence
    return status, status == "accepted" and now.canonical_id is None and now.superseded_by is None


def _give_way(state: State, event: Event, now: Proposition) -> Proposition:
    """Retire its canonical record if one of its successors has one already; otherwise that happens on promotion."""
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
    """Retire a canonical record; it stays stored."""
    held = state.canonicals.get(canonical_id)
    if held is not None and held.retired_at is None:
        state.canonicals.put(held.id, replace(held, retired_at=state.now, retired_seq=event.seq, retired_why=why))


def _ask_for_test(state: State, event: Event, now: Proposition) -> None:
    """Request a test, since sources contradict each other."""
    name = policy_test_id(now)
    if state.trials.get(name) is None:
        keep_trial(state, policy_trial(state, event, now, name))


def policy_test_id(tested: Proposition) -> str:
    """Return the id of the test that policy requests."""
    return trial_id(tested.id, POLICY_METHOD, _expectation(tested))


def policy_trial(state: State, event: Event, tested: Proposition, name: str) -> Trial:
    """Return the test that policy requests."""
    return Trial(
        id=name,
        proposition_id=tested.id,
        method=POLICY_METHOD,
        expectation=_expectation(tested),
        discriminating=True,
        proposed_by=POLICY,
        seq=event.seq,
        receipt_id=event.receipt_id,
        at=state.now,
    )


def keep_trial(state: State, trial: Trial) -> None:
    """Store a test, also with the evidence of its proposition."""
    state.trials.put(trial.id, trial)
    state.evidence(trial.proposition_id).trials[trial.id] = trial


def raise_trial(state: State, event: Event, known: Trial) -> None:
    """Make a test discriminating if a caller who is no agent proposes it so."""
    if not proposer_of(event).is_program and event.args.get("discriminating") and not known.discriminating:
        keep_trial(state, replace(known, discriminating=True, raised_seq=event.seq, raised_receipt=event.receipt_id))
        update_status(state, event, known.proposition_id, "test")


def with_result(trial: Trial, seen: Observation, result: Result) -> Trial:
    """Return the test with one more result. An agent's report or an inconclusive result replaces no better one."""
    told = replace(trial, result_ids=(*trial.result_ids, seen.id))
    decisive = seen.weighed_as == "test_result"
    new = (decisive, result != "inconclusive", seen.observed_at, seen.id)
    if trial.observed_at is not None and trial.observation_id is not None:
        # However old, the first result is better than none.
        found = trial.result != "inconclusive"
        if new <= (trial.decisive, found, trial.observed_at, trial.observation_id):
            return told
    return replace(told, observation_id=seen.id, result=result, observed_at=seen.observed_at, decisive=decisive)


def _expectation(tested: Proposition) -> str:
    return f"{tested.subject} {tested.predicate} {tested.object}"


# -- rivals ------------------------------------------------------------------------------------------------------------


def _update_family(
    state: State, update: _Update, known: Proposition, now: Proposition, weighed: WeighedEvidence
) -> None:
    """Update all rivals after a change of acceptance or of a claim to supersede."""
    state.propositions.put(now.id, now)
    # A proposition that is not accepted is no rival.
    members = [one for one in family_of(state, now) if one.evidence_status == "accepted"]
    places = Precedence(members, functional=is_functional(now, state.policy), now=state.now)
    rivals, later = places.of(now) if now.evidence_status == "accepted" else ((), None)
    _conclude(state, update, known, replace(now, rivals=rivals, superseded_by=later), weighed)
    for other in members:
        if other.id != now.id and places.concern(other, now):
            rivals, later = places.of(other)
            if (rivals, later) != (other.rivals, other.superseded_by):
                placed = replace(other, rivals=rivals, superseded_by=later)
                _conclude(state, _Update(event=update.event, cause="rival"), other, placed, _as_weighed(other))


def _as_weighed(known: Proposition) -> WeighedEvidence:
    return WeighedEvidence(figures=known.figures, evidence_ids=known.observation_ids[:1])
