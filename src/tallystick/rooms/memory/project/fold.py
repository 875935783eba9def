"""State = fold(log). One function per proposal; each takes what the ledger keeps and nothing else.

`fold` never refuses: the rule decided before the receipt was written. Of two concurrent proposals the later one may
find its work done or its subject gone, and then changes nothing. So every state can be rebuilt from the log alone,
whatever was erased from it since.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.rooms.memory.ids import one_line, proposition_id, trial_id
from tallystick.rooms.memory.model import (
    Event,
    Stance,
    Trial,
)
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.project.entities import link_entity
from tallystick.rooms.memory.weigh.consolidation import archive_episode, consolidate, request_consolidation
from tallystick.rooms.memory.weigh.edges import attach, backed, held_observations, keep_edge, new_proposition, put_aside
from tallystick.rooms.memory.weigh.observations import observe
from tallystick.rooms.memory.weigh.rivals import add_superseded, may_supersede
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.transitions import (
    keep_trial,
    policy_test_id,
    policy_trial,
    raise_trial,
    update_status,
    with_result,
)


def replay(events: Iterable[Event], policy: Policy | None = None) -> State:
    """Return the state after these events, starting from an empty one."""
    state = State(policy or Policy())
    for event in events:
        fold(state, event)
    return state


def fold(state: State, event: Event) -> None:
    """Fold one event into a state."""
    state.seq, state.place = event.seq, 0
    # Log time does not go back: after a clock was set back, it stands still.
    state.now = max(state.now, event.at)
    handle = HANDLERS.get(event.tool)
    if handle is not None:
        handle(state, event)


# -- observations ------------------------------------------------------------------------------------------------------


def _record_observation(state: State, event: Event) -> None:
    args, source = event.args, event.args["source"]
    if observe(
        state,
        event,
        text=args["text"],
        source_id=source["id"],
        claimed=source["class"],
        group=source.get("group", source["id"]),
    ):
        state.since_consolidation += 1
        if state.since_consolidation >= state.policy.consolidate_every:
            consolidate(state, event, limit=state.policy.due_at_once)


# -- propositions and evidence -----------------------------------------------------------------------------------------


def _propose(state: State, event: Event) -> None:
    args = event.args
    name = proposition_id(args)
    held = held_observations(state, args["observation_ids"])
    if not held:
        put_aside(state, event, name)
        return
    known = state.propositions.get(name)
    if known is None:
        # Before the proposition is there: a dossier of what is not there needs not be looked for.
        state.evidence(name)
        known = new_proposition(state, event, name, held)
    claims = args.get("supersedes")
    heard = claims and may_supersede(state, backed(state, event, known, held))
    now = add_superseded(state, event, known, claims) if claims and heard else known
    state.propositions.put(name, now)
    quotes: dict[str, str] = {one["observation_id"]: one["quote"] for one in reversed(args.get("quotes", ()))}
    for seen in held:
        attach(state, event, name, seen, "support", quotes.get(seen))
    update_status(state, event, name, "proposal", held[0], links_changed=now.supersedes != known.supersedes)


def _attach_support(state: State, event: Event) -> None:
    _attach_one(state, event, "support")


def _attach_contradiction(state: State, event: Event) -> None:
    _attach_one(state, event, "contradiction")


def _attach_one(state: State, event: Event, stance: Stance) -> None:
    name, seen = event.args["proposition_id"], event.args["observation_id"]
    if attach(state, event, name, seen, stance, event.args.get("quote")):
        update_status(state, event, name, "evidence", seen)


# -- tests -------------------------------------------------------------------------------------------------------------


def _propose_test(state: State, event: Event) -> None:
    args = event.args
    name = trial_id(args["proposition_id"], args["method"], args["expectation"])
    known, tested = state.trials.get(name), state.propositions.get(args["proposition_id"])
    if known is not None:
        raise_trial(state, event, known)
    elif tested is not None and name == policy_test_id(tested):
        # Whoever is first to name it: it is policy's own, and refutes as that.
        keep_trial(state, policy_trial(state, event, tested, name))
    elif tested is not None:
        trial = Trial(
            id=name,
            proposition_id=args["proposition_id"],
            method=one_line(args["method"]),
            expectation=one_line(args["expectation"]),
            discriminating=args.get("discriminating", False),
            proposed_by="proposal",
            seq=event.seq,
            receipt_id=event.receipt_id,
            at=state.now,
        )
        keep_trial(state, trial)


def _take_test_result(state: State, event: Event) -> None:
    args: Mapping[str, Any] = event.args
    trial = state.trials.get(args["test_id"]) or _policy_test(state, event)
    if trial is None:
        return
    made = observe(
        state,
        event,
        text=args["report"],
        source_id=f"test:{trial.id}",
        claimed="test_result",
        group=trial.method,
    )
    if made is None:
        return
    if args["result"] == "inconclusive":
        # It found nothing out, so it is no finding to cite elsewhere either.
        made = replace(made, weighed_as="model_inference")
        state.observations.put(made.id, made)
    keep_trial(state, with_result(trial, made, args["result"]))
    if args["result"] != "inconclusive":
        stance: Stance = "support" if args["result"] == "passed" else "contradiction"
        keep_edge(state, event, trial.proposition_id, made.id, stance, None)
    update_status(state, event, trial.proposition_id, "test", made.id)


def _policy_test(state: State, event: Event) -> Trial | None:
    """The test that policy had asked for: its result outlives the dispute that gave rise to it."""
    tested = state.propositions.get(event.args.get("proposition_id", ""))
    return None if tested is None else policy_trial(state, event, tested, event.args["test_id"])


HANDLERS: Mapping[str, Callable[[State, Event], None]] = {
    "record_observation": _record_observation,
    "create_or_link_entity_candidate": link_entity,
    "propose_proposition": _propose,
    "attach_support": _attach_support,
    "attach_contradiction": _attach_contradiction,
    "propose_test": _propose_test,
    "execute_test_result_ingest": _take_test_result,
    "request_consolidation": request_consolidation,
    "archive_episode": archive_episode,
}
"""The nine proposals."""
