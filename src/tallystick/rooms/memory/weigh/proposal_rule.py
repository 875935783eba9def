"""The room's rule: what a proposal must be before anything of it is stored.

The payload has passed its schema and contains no field that only policy writes; the remaining checks need memory
itself. Each refusal has one of the boundary's five codes:

    INVALID_PAYLOAD      an unreadable time, an empty text, an end before its beginning
    MISSING_PROVENANCE   an id that memory does not hold; a quote that does not occur in its observation
    POLICY_VIOLATION     the same observation twice, a test result without a test, time going back, a closed episode, …
"""

from collections.abc import Callable, Mapping
from typing import Any

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import BAD_ARGS, DENIED, NO_PROVENANCE, Fault
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.quotes import find_quote, fold_text
from tallystick.records import record
from tallystick.rooms.memory.ids import name_key, observation_id, proposition_id
from tallystick.rooms.memory.model import DEFAULT_EPISODE
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.propose.normal_form import empty_name, normal_form, secret_name, unreadable_time
from tallystick.rooms.memory.propose.speakers import Speaker, bind_source, speaker_in
from tallystick.rooms.memory.times import seconds, seconds_or_none
from tallystick.rooms.memory.weigh.assessment import assess
from tallystick.rooms.memory.weigh.evidence import Evidence
from tallystick.rooms.memory.weigh.observations import find_note, is_tool_reading
from tallystick.rooms.memory.weigh.rivals import may_supersede
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.transitions import POLICY

CLOCK_SLACK_S = 2
"""A clock that is read twice by two processes may differ by this."""

Args = dict[str, Any]


@record
class Snapshot:
    """What the rule reads. Its digest is that of memory's policy.

    It does not include the length of the log: evidence only grows, and concurrent proposals are both folded in, in the
    order of the log. Only another policy makes a decision stale.
    """

    digest: str
    policy: Policy
    ask: Callable[[Callable[[State], Decision]], Decision]
    """Runs a query on memory at the end of the log."""
    now: Callable[[], int]
    """The wall clock, in seconds: only to refuse future times."""


@record
class ProposalContext:
    """Who proposes, and when."""

    by: Speaker
    at: int


def check(proposal: Proposal, snapshot: Snapshot) -> Decision:
    """Decide on one of the nine proposals."""
    bad = unreadable_time(proposal.args)
    if bad is not None:
        return _refuse(BAD_ARGS, "not a time; write it as 2026-01-31T12:00:00Z", f"/{bad}")
    normal = normal_form(proposal.args, snapshot.policy)
    empty = empty_name(normal)
    if empty is not None:
        return _refuse(BAD_ARGS, "there is nothing but white space", f"/{empty}")
    secret = secret_name(normal)
    if secret is not None:
        return _refuse(BAD_ARGS, "this looks like a key or a token; memory keeps none, call it by a name", f"/{secret}")
    by = speaker_in(proposal.session)
    bound = bind_source(normal, by, snapshot.policy)

    def judge(state: State) -> Decision:
        # The query may run again and must start from the original arguments.
        args = dict(bound.args)
        # Read late: waiting for the log may take seconds in which others write.
        wall = snapshot.now()
        at = seconds_or_none(args.get("at"))
        said = ProposalContext(by=by, at=wall if at is None else at)
        refused = _time(args, state, wall) or _CHECKS[proposal.card.name](args, state, said)
        if refused is not None or args == proposal.args:
            return refused or Decision(verdict="allow")
        return Decision(verdict="allow", args=args, reason=bound.reason, pointer=bound.pointer)

    return snapshot.ask(judge)


def _refuse(fault: Fault, reason: str, pointer: str | None = None) -> Decision:
    return Decision(verdict="deny", fault=fault, reason=reason, pointer=pointer)


# -- time --------------------------------------------------------------------------------------------------------------


def _time(args: Args, state: State, wall: int) -> Decision | None:
    """Refuse a log time that goes back or is ahead of the clock; an observation may be in the past."""
    said = seconds_or_none(args.get("at"))
    if said is None and wall + CLOCK_SLACK_S < state.now:
        return _refuse(DENIED, "this machine's clock is behind the log")
    if said is not None and said < state.now:
        return _refuse(DENIED, "log time does not go back", "/at")
    if said is not None and said > wall + CLOCK_SLACK_S:
        return _refuse(DENIED, "log time lies ahead of the clock", "/at")
    seen = seconds_or_none(args.get("observed_at"))
    if seen is not None and seen > (wall if said is None else said) + state.policy.future_s:
        return _refuse(DENIED, "observed in the future", "/observed_at")
    return None


def _open_episode(args: Args, state: State) -> Decision | None:
    known = state.episodes.get(args.get("episode_id", DEFAULT_EPISODE))
    if known is not None and known.closed_at is not None:
        return _refuse(DENIED, "the episode is closed", "/episode_id")
    return None


# -- observations and entities -----------------------------------------------------------------------------------------


def _observation(args: Args, state: State, said: ProposalContext) -> Decision | None:
    source = args["source"]
    if source["class"] == "test_result":
        return _refuse(DENIED, "a test result comes through execute_test_result_ingest", "/source/class")
    refused = _open_episode(args, state) or _known(state.observations, args, "derived_from")
    if refused is not None:
        return refused
    seen = seconds(args["observed_at"]) or 0
    if is_tool_reading(args) and "rereading" not in state.policy.off:
        note = find_note(state, args["text"], source["id"], min(seen, said.at))  # it was not read after it is told
        if note is not None:
            args["derived_from"] = [note]
    group = source.get("group", source["id"])
    parents = args.get("derived_from", ())
    name = observation_id(args["text"], source["id"], source["class"], group, seen, parents, said.by.mark)
    there = state.observations.get(name) is not None
    if args.get("duplicate_of", name) != name or ("duplicate_of" in args and not there):
        return _refuse(NO_PROVENANCE, "memory does not hold this observation already", "/duplicate_of")
    if there:
        args["duplicate_of"] = name
    return None


def _entity(args: Args, state: State, _said: ProposalContext) -> Decision | None:
    return _known(state.observations, args, "observation_ids") or _known(state.entities, args, "possible_same_as")


# -- propositions and evidence -----------------------------------------------------------------------------------------


def _proposition(args: Args, state: State, said: ProposalContext) -> Decision | None:
    begins, ends = seconds_or_none(args.get("valid_from")), seconds_or_none(args.get("valid_to"))
    if begins is not None and ends is not None and ends <= begins:
        return _refuse(BAD_ARGS, "valid_to is not after valid_from", "/valid_to")
    refused = (
        _open_episode(args, state)
        or _known(state.observations, args, "observation_ids")
        or _known(state.propositions, args, "supersedes")
        or _places(args, state)
        or _quotes(args, state)
    )
    if refused is not None:
        return refused
    _leave_closed_episode(args, state)
    name = proposition_id(args)
    if state.propositions.get(name) is not None:
        return _used(args["observation_ids"], state.evidence(name), said.by)
    return None


def _used(observation_ids: list[str], evidence: Evidence, by: Speaker) -> Decision | None:
    """Refuse a proposal without new observations, and an observation that already contradicts."""
    open_ = [evidence.takes(one, by_agent=by.is_program) for one in observation_ids]
    for place, one in enumerate(observation_ids):
        if not open_[place] and evidence.known[one][0] == "contradiction":
            return _refuse(DENIED, _TWICE, f"/observation_ids/{place}")
    return None if any(open_) else _refuse(DENIED, _TWICE, "/observation_ids")


def _places(args: Args, state: State) -> Decision | None:
    """Refuse to supersede another subject or predicate; drop the claim if the source is too weak for one."""
    about = (name_key(args["subject"]), args["predicate"])
    for place, name in enumerate(args.get("supersedes", ())):
        other = state.propositions.get(name)
        if other is not None and (name_key(other.subject), other.predicate) != about:
            return _refuse(DENIED, "it has another subject or predicate; contradict it", f"/supersedes/{place}")
    if args.get("supersedes") and not may_supersede(state, args["observation_ids"]):
        args["supersedes"] = []
    return None


def _leave_closed_episode(args: Args, state: State) -> None:
    """Use the default episode for a proposal that names none and cites a closed one."""
    seen = state.observations.get(args["observation_ids"][0])
    if "episode_id" not in args and seen is not None and _open_episode({"episode_id": seen.episode_id}, state):
        args["episode_id"] = DEFAULT_EPISODE


def _quotes(args: Args, state: State) -> Decision | None:
    for place, one in enumerate(args.get("quotes", ())):
        if one["observation_id"] not in args["observation_ids"]:
            return _refuse(NO_PROVENANCE, "the quote is from none of the observations", f"/quotes/{place}")
        refused = _quoted(state, one["observation_id"], one["quote"], f"/quotes/{place}/quote")
        if refused is not None:
            return refused
    return None


def _quoted(state: State, name: str, quote: str, pointer: str) -> Decision | None:
    seen = state.observations.get(name)
    if seen is None or find_quote(quote, fold_text(seen.text)) is None:
        return _refuse(NO_PROVENANCE, "the quote is not in the observation", pointer)
    return None


def _edge(args: Args, state: State, said: ProposalContext) -> Decision | None:
    name, seen = args["proposition_id"], args["observation_id"]
    refused = _known(state.propositions, args, "proposition_id") or _known(state.observations, args, "observation_id")
    if refused is not None:
        return refused
    if not state.evidence(name).takes(seen, by_agent=said.by.is_program):
        return _refuse(DENIED, _TWICE, "/observation_id")
    return _quoted(state, seen, args["quote"], "/quote")


# -- tests -------------------------------------------------------------------------------------------------------------


def _test(args: Args, state: State, said: ProposalContext) -> Decision | None:
    refused = _known(state.propositions, args, "proposition_id")
    if refused is not None:
        return refused
    found = state.propositions.get(args["proposition_id"])
    assessment = None if found is None else assess(state, found, said.at)
    if assessment is not None and assessment.status == "accepted" and not assessment.figures.contradiction:
        return _refuse(DENIED, "accepted, and nothing speaks against it: there is nothing to test", "/proposition_id")
    return None


def _result(args: Args, state: State, said: ProposalContext) -> Decision | None:
    refused = _known(state.trials, args, "test_id") or _open_episode(args, state)
    if refused is not None:
        return refused
    trial = state.trials.get(args["test_id"])
    seen = seconds(args["observed_at"]) or 0
    if trial is not None:
        if args.pop("proposition_id", trial.proposition_id) != trial.proposition_id:
            return _refuse(NO_PROVENANCE, "the test is of another proposition", "/proposition_id")
        if trial.proposed_by == POLICY:
            # No receipt tells of this test but that of its result.
            args["proposition_id"] = trial.proposition_id
        source, more = f"test:{trial.id}", (said.by.mark, args["result"])
        name = observation_id(args["report"], source, "test_result", trial.method, seen, (), *more)
        if state.observations.get(name) is not None:
            return _refuse(DENIED, _TWICE, "/report")
    return None


# -- consolidation and episodes ----------------------------------------------------------------------------------------


def _consolidation(args: Args, state: State, _said: ProposalContext) -> Decision | None:
    return _known(state.episodes, args, "episode_id") or _open_episode(args, state)


def _end(args: Args, state: State, said: ProposalContext) -> Decision | None:
    if args["episode_id"] == DEFAULT_EPISODE:
        return _refuse(DENIED, "the default episode does not end: name the one that does", "/episode_id")
    return _consolidation(args, state, said)


def _known(shelf: Any, args: Mapping[str, Any], key: str) -> Decision | None:
    """Refuse ids that memory does not hold."""
    value = args.get(key)
    if value is None:
        return None
    for place, name in enumerate([value] if isinstance(value, str) else value):
        if shelf.get(name) is None:
            pointer = f"/{key}" if isinstance(value, str) else f"/{key}/{place}"
            return _refuse(NO_PROVENANCE, "memory holds nothing of this id", pointer)
    return None


_TWICE = "this observation is evidence on it already"
_CHECKS: Mapping[str, Callable[[Args, State, ProposalContext], Decision | None]] = {
    "record_observation": _observation,
    "create_or_link_entity_candidate": _entity,
    "propose_proposition": _proposition,
    "attach_support": _edge,
    "attach_contradiction": _edge,
    "propose_test": _test,
    "execute_test_result_ingest": _result,
    "request_consolidation": _consolidation,
    "archive_episode": _end,
}
