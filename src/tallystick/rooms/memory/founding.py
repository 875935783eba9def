"""When a proposition comes to be: every one of them traces to an observation that is held.

What it was proposed from may have been erased since. Then it is put aside, and is nowhere to be read. Should something
else that is held support it, it comes to be with that, and all that speaks against it counts.
"""

from dataclasses import replace

from tallystick.rooms.memory.naming import one_line, predicate_key
from tallystick.rooms.memory.nouns import DEFAULT_EPISODE, Event, Figures, Proposition, Stance
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.times import seconds_or_none

NO_FIGURES = Figures()


def held_of(state: State, cited: list[str]) -> list[str]:
    """Those of the observations that are there."""
    return [name for name in cited if state.observations.get(name) is not None]


def new_proposition(state: State, event: Event, name: str, held: list[str]) -> Proposition:
    """A proposition as it is proposed, before it is weighed."""
    args = event.args
    first = state.observations.get(held[0]) if held else None
    return Proposition(
        id=name, subject=one_line(args["subject"]), predicate=predicate_key(args["predicate"]),
        object=one_line(args["object"]), kind=args.get("class", "descriptive"),
        volatility=args.get("volatility", "medium"), valid_from=seconds_or_none(args.get("valid_from")),
        valid_to=seconds_or_none(args.get("valid_to")),
        episode_id=args.get("episode_id") or (DEFAULT_EPISODE if first is None else first.episode_id),
        observation_ids=tuple(held), supersedes=(), status="tentative",
        evidence_status="tentative", rule="", figures=NO_FIGURES, rivals=(), superseded_by=None, canonical_id=None,
        archived=None, due_at=None, pending=False, scored_at=state.now, seq=event.seq, receipt_id=event.receipt_id,
        at=state.now,
    )  # fmt: skip


def put_aside(state: State, event: Event, name: str) -> None:
    """Nothing that it was proposed from is held."""
    if state.propositions.get(name) is None and state.unfounded.get(name) is None:
        state.unfounded.put(name, new_proposition(state, event, name, []))


def takes_edges(state: State, event: Event, name: str, seen: str, stance: Stance) -> bool:
    """Whether an edge can be attached to it: it is there, or this support makes it be there, or it may come yet."""
    if state.propositions.get(name) is not None:
        return True
    aside = state.unfounded.get(name)
    if aside is not None and stance == "support":
        # Its place in the log is that of its first support: whoever reads on from a place must not miss it.
        state.propositions.put(
            name, replace(aside, observation_ids=(seen,), scored_at=state.now, seq=event.seq, at=state.now)
        )
    return aside is not None
