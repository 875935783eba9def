"""State = fold(log). One function per proposal; each takes what the ledger keeps and nothing else.

`fold` never refuses. What a proposal may be was decided before its receipt was written; should two of them have crossed
each other on the way, the later one finds its work done or its subject gone and changes nothing. So every state can be
built again from the log alone, whatever was erased from it since.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.rooms.memory.attaching import attach, backed, keep_edge
from tallystick.rooms.memory.consolidation import archive_episode, consolidate, request_consolidation
from tallystick.rooms.memory.entities import link_entity
from tallystick.rooms.memory.founding import held_of, new_proposition, put_aside
from tallystick.rooms.memory.naming import (
    check_id,
    name_key,
    observation_id,
    one_line,
    proposition_id,
    text_key,
)
from tallystick.rooms.memory.nouns import (
    DEFAULT_EPISODE,
    Episode,
    Event,
    Observation,
    Source,
    SourceClass,
    Stance,
    Trial,
)
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.rereading import keep_note
from tallystick.rooms.memory.rivals import claim_places, may_claim_places
from tallystick.rooms.memory.settle import keep_trial, policy_trial, policys_check, raise_trial, settle, with_result
from tallystick.rooms.memory.source_claims import highest_claim, lowest_class
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.times import seconds


def replay(events: Iterable[Event], policy: Policy | None = None) -> State:
    """The state after these events, from nothing."""
    state = State(policy or Policy())
    for event in events:
        fold(state, event)
    return state


def fold(state: State, event: Event) -> None:
    """Take one more event into a state."""
    state.seq, state.place = event.seq, 0
    # Log time does not go back: a clock that was set back only stands still here.
    state.now = max(state.now, event.at)
    handle = HANDLERS.get(event.tool)
    if handle is not None:
        handle(state, event)


# -- observations ------------------------------------------------------------------------------------------------------


def _record_observation(state: State, event: Event) -> None:
    args, source = event.args, event.args["source"]
    seen = seconds(args["observed_at"])
    if _observe(
        state, event, text=args["text"], source_id=source["id"], claimed=source["class"],
        group=source.get("group", source["id"]), observed_at=state.now if seen is None else seen,
        parents=args.get("derived_from", ()), episode_id=args.get("episode_id", DEFAULT_EPISODE),
    ):  # fmt: skip
        state.since_consolidation += 1
        if state.since_consolidation >= state.policy.consolidate_every:
            consolidate(state, event, limit=state.policy.due_at_once)


def _observe(
    state: State,
    event: Event,
    *,
    text: str,
    source_id: str,
    claimed: SourceClass,
    group: str,
    observed_at: int,
    parents: Iterable[str],
    episode_id: str,
) -> Observation | None:
    """Keep an observation; None if it is there already."""
    lineage = tuple(sorted(set(parents)))
    by = event.by
    name = observation_id(text, source_id, claimed, group, observed_at, lineage, by.mark, event.args.get("result", ""))
    if state.observations.get(name) is not None:
        return None
    policy = state.policy
    weighed = highest_claim(claimed, by, policy)
    whose = by.group if by.subject is not None or policy.agents_are_one_source else None
    groups, contents, weighed = _lineage(state, lineage, weighed, whose or group, text, claimed)
    if whose is not None:
        # A summary is in the words of whoever made it, whatever it was made of.
        groups = tuple(sorted({*groups, whose}))
    own = by.is_owner and claimed == "human" and not lineage and source_id in policy.owners
    made = Observation(
        id=name, text=text, source_id=source_id, claimed=claimed, weighed_as=weighed, groups=groups,
        contents=contents, observed_at=observed_at, derived_from=lineage, episode_id=episode_id, seq=event.seq,
        receipt_id=event.receipt_id, at=state.now, agent=event.agent, owner=own,
    )  # fmt: skip
    state.observations.put(name, made)
    keep_note(state, made)
    _know_source(state, event, source_id, claimed, group)
    _count_in_episode(state, event, episode_id)
    return made


def _lineage(
    state: State, parents: tuple[str, ...], weighed: SourceClass, group: str, text: str, claimed: SourceClass
) -> tuple[tuple[str, ...], tuple[str, ...], SourceClass]:
    """Groups, root texts and class: its own, or those it goes back to."""
    if not parents or "lineage" in state.policy.off:
        own, key = name_key(group), text_key(text)
        # Two people may use the same words; two copies of a document are one document.
        return (own,), (f"{own}\x1f{key}" if claimed == "human" else key,), weighed
    known = [one for name in parents if (one := state.observations.get(name)) is not None]
    if len(known) < len(parents):
        # What it was drawn from was erased, and with it the reason to believe it.
        return (name_key(group),), (text_key(text),), "model_inference"
    groups = sorted({name for one in known for name in one.groups})
    contents = sorted({name for one in known for name in one.contents})
    lowest = lowest_class(weighed, *(one.weighed_as for one in known))
    return tuple(groups), tuple(contents), lowest


def _know_source(state: State, event: Event, source_id: str, claimed: str, group: str) -> None:
    known = state.sources.get(source_id)
    if known is not None and claimed in known.classes and group in known.groups:
        return
    classes = {} if known is None else dict(zip(known.classes, known.since, strict=True))
    classes.setdefault(claimed, event.seq)
    made = Source(
        id=source_id, classes=tuple(sorted(classes)), since=tuple(classes[name] for name in sorted(classes)),
        groups=tuple(sorted({group, *(() if known is None else known.groups)})),
        first_seq=event.seq if known is None else known.first_seq,
    )  # fmt: skip
    state.sources.put(source_id, made)


def _count_in_episode(state: State, event: Event, episode_id: str) -> None:
    known = state.episodes.get(episode_id)
    state.episodes.put(
        episode_id,
        Episode(
            id=episode_id,
            opened_at=state.now if known is None else known.opened_at,
            closed_at=None if known is None else known.closed_at,
            observations=1 if known is None else known.observations + 1,
            carried_over=() if known is None else known.carried_over,
            archived=() if known is None else known.archived,
            put_aside=0 if known is None else known.put_aside,
            promoted=0 if known is None else known.promoted,
            seq=event.seq if known is None else known.seq,
        ),
    )


# -- propositions and evidence -----------------------------------------------------------------------------------------


def _propose(state: State, event: Event) -> None:
    args = event.args
    name = proposition_id(args)
    held = held_of(state, args["observation_ids"])
    if not held:
        put_aside(state, event, name)
        return
    known = state.propositions.get(name)
    if known is None:
        # Before the proposition is there: a dossier of what is not there needs not be looked for.
        state.dossier(name)
        known = new_proposition(state, event, name, held)
    claims = args.get("supersedes")
    heard = claims and may_claim_places(state, backed(state, event, known, held))
    now = claim_places(state, event, known, claims) if claims and heard else known
    state.propositions.put(name, now)
    quotes: dict[str, str] = {one["observation_id"]: one["quote"] for one in reversed(args.get("quotes", ()))}
    for seen in held:
        attach(state, event, name, seen, "support", quotes.get(seen))
    settle(state, event, name, "proposal", held[0], links_changed=now.supersedes != known.supersedes)


def _attach_support(state: State, event: Event) -> None:
    _attach_one(state, event, "support")


def _attach_contradiction(state: State, event: Event) -> None:
    _attach_one(state, event, "contradiction")


def _attach_one(state: State, event: Event, stance: Stance) -> None:
    name, seen = event.args["proposition_id"], event.args["observation_id"]
    if attach(state, event, name, seen, stance, event.args.get("quote")):
        settle(state, event, name, "evidence", seen)


# -- tests -------------------------------------------------------------------------------------------------------------


def _propose_test(state: State, event: Event) -> None:
    args = event.args
    name = check_id(args["proposition_id"], args["method"], args["expectation"])
    known, tested = state.trials.get(name), state.propositions.get(args["proposition_id"])
    if known is not None:
        raise_trial(state, event, known)
    elif tested is not None and name == policys_check(tested):
        # Whoever is first to name it: it is policy's own, and refutes as that.
        keep_trial(state, policy_trial(state, event, tested, name))
    elif tested is not None:
        trial = Trial(
            id=name, proposition_id=args["proposition_id"], method=one_line(args["method"]),
            expectation=one_line(args["expectation"]), discriminating=args.get("discriminating", False),
            proposed_by="proposal", seq=event.seq, receipt_id=event.receipt_id, at=state.now,
        )  # fmt: skip
        keep_trial(state, trial)


def _take_test_result(state: State, event: Event) -> None:
    args: Mapping[str, Any] = event.args
    trial = state.trials.get(args["test_id"]) or _policys_own(state, event)
    if trial is None:
        return
    seen = seconds(args["observed_at"])
    made = _observe(
        state, event, text=args["report"], source_id=f"test:{trial.id}", claimed="test_result", group=trial.method,
        observed_at=state.now if seen is None else seen, parents=(),
        episode_id=args.get("episode_id", DEFAULT_EPISODE),
    )  # fmt: skip
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
    settle(state, event, trial.proposition_id, "test", made.id)


def _policys_own(state: State, event: Event) -> Trial | None:
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
