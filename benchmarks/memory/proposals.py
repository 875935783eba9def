"""What memory does with a proposal: checked, judged and folded into the tables, with many observations held."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.admit.proposal import Rejection
from tallystick.rooms.memory.ids import observation_id
from tallystick.rooms.memory.model import Event
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.project.fold import fold
from tallystick.rooms.memory.project.projection import BATCH
from tallystick.rooms.memory.project.stored_state import StoredState
from tallystick.rooms.memory.room import PROPOSALS
from tallystick.rooms.memory.store import migrations
from tallystick.rooms.memory.store.rows import Store
from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check
from tallystick.rooms.memory.weigh.state import State
from tallystick.settings import Settings
from tallystick.storage.database import migrate_room, open_engine

PROMISES = ("memory.judged-speed", "memory.crowds")
SIZES = (50_000,)
FULL_SIZES = (50_000, 100_000, 1_000_000)
SAMPLE = 20_000
START = 1_700_000_000
A_SECOND = 5_000
"""Observations a second of log time: what is measured is a flood, not a year."""
CROWDS = (3, 1_000, 10_000)
EACH = 4
"""Every fourth observation comes with a proposition."""


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    rows = _folded(folder / "fold", FULL_SIZES if full else SIZES)
    crowds = {f"{number:,}": _crowd_us(number) for number in (CROWDS if full else CROWDS[:2])}
    lines = [
        "Into SQLite, one core; each proposal an observation or, one in five, a proposition with a quote:", "",
        "| observations held | folded/s | by CPU time | checked, judged and folded/s | by CPU time | peak MB |",
        "|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {row['held']:,} | {row['per_s']:,} | {row['cpu_per_s']:,} | {row['judged_per_s']:,} |"
            f" {row['judged_cpu_per_s']:,} | {row['peak_mb']} |"
            for row in rows
        ),
        "", "Folded: scored and put into the tables. Checked and judged: the schema, the guards and the rule, before that.",
        "", "One more source for a fact that has so many independent ones already, weighed and its status derived:", "",
        "| independent sources | CPU µs |", "|---:|---:|",
        *(f"| {number} | {spent} |" for number, spent in crowds.items()),
    ]  # fmt: skip
    return {
        "markdown": "\n".join(lines), "fold": rows, "crowds": crowds,
        "goal": "≥ 5,000 proposals/s checked, judged and folded on one core with 1,000,000 observations held",
    }  # fmt: skip


def _folded(folder: Path, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    (folder / ".control-room").mkdir(parents=True)
    engine = open_engine(Settings(), folder)
    migrate_room(engine, "memory", migrations)
    state = StoredState(Policy(), Store(engine))
    events, rows, held = _events(), [], 0
    judged = partial(_judged, *_rule(state))
    for size in sizes:
        held = _take(state, events, held, size - 2 * SAMPLE)
        folding = _timed(state, partial(_take, state, events, held, held + SAMPLE))
        both = _timed(state, partial(_take, state, events, held + SAMPLE, size, judged))
        held = size
        rows.append({
            "held": held, "per_s": folding[0], "cpu_per_s": folding[1], "judged_per_s": both[0],
            "judged_cpu_per_s": both[1], "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        })  # fmt: skip
    engine.dispose()
    return rows


def _crowd_us(number: int) -> int:
    """CPU time of one more support, in memory."""
    state, more = State(Policy()), 40
    text, named = "Mars has two moons, says source {at}.", {"class": "document"}
    tell = partial(_tell, state)
    for at in range(number + more):
        source = {**named, "id": f"source {at}"}
        tell("record_observation", {"text": text.format(at=at), "source": source, "observed_at": stamp_of(START)})
    seen = list(state.observations.held)
    fact = {"subject": "Mars", "predicate": "has", "object": "two moons"}
    tell("propose_proposition", {**fact, "observation_ids": seen[:number]})
    (name,) = state.propositions.held
    cpu = time.process_time()
    for one in seen[number:]:
        tell("attach_support", {"proposition_id": name, "observation_id": one})
    return round((time.process_time() - cpu) / more * 1e6)


def _tell(state: State, name: str, args: dict[str, Any]) -> None:
    fold(
        state,
        Event(
            seq=state.seq + 2, receipt_id=f"rcpt_{state.seq + 2:024x}", at=START, tool=name, args=args, by_owner=True
        ),
    )


def _timed(state: StoredState, work: Callable[[], object]) -> tuple[int, int]:
    """Proposals a second, by the clock and by CPU time."""
    began, cpu, before = time.perf_counter(), time.process_time(), state.seq
    work()
    taken = (state.seq - before) // 2
    return round(taken / (time.perf_counter() - began)), round(taken / (time.process_time() - cpu))


def _rule(state: StoredState) -> tuple[Catalogue, Snapshot]:
    """What admits and judges a proposal in a workspace, over these tables."""
    snapshot = Snapshot(
        digest="", policy=state.policy, ask=lambda question: question(state), now=lambda: int(time.time())
    )
    catalogue = Catalogue()
    for made in PROPOSALS:
        catalogue.add(made(snapshot).card)
    return catalogue, snapshot


def _judged(catalogue: Catalogue, snapshot: Snapshot, event: Event) -> Event:
    """The event with the arguments that schema, guards and the room's rule leave it; they refuse none of these."""
    proposal = admit_call(catalogue, event.tool, event.args)
    decision = None if isinstance(proposal, Rejection) else check(proposal, snapshot)
    if isinstance(proposal, Rejection) or decision is None or decision.verdict != "allow":
        raise RuntimeError(f"a sound proposal was refused: {proposal} {decision}")
    return event if decision.args is None else replace(event, args=decision.args)


def _take(
    state: StoredState, events: Iterator[Event], held: int, until: int, judged: Callable[[Event], Event] | None = None
) -> int:
    while held < until:
        event = next(events) if judged is None else judged(next(events))
        fold(state, event)
        state.scanned = event.seq
        held += event.tool == "record_observation"
        if state.unwritten() >= BATCH:
            state.flush()
    state.flush()
    return held


def _events() -> Iterator[Event]:
    seq, number = 1, 0
    while True:
        now = START + number // A_SECOND
        for name, args in proposals_on(number, now):
            yield Event(seq=seq, receipt_id=f"rcpt_{seq:024x}", at=now, tool=name, args=args, by_owner=True)
            seq += 2
        number += 1


def proposals_on(number: int, now: int) -> Iterator[tuple[str, dict[str, Any]]]:
    who, where, source = f"Person {number % 50_000}", f"town {number % 313}", f"paper {number % 997}"
    said = f"{who} was seen in {where}"
    text = f"{said}, says report number {number}."
    named = {"id": source, "class": "document", "group": source}
    yield "record_observation", {"text": text, "source": named, "observed_at": stamp_of(now)}
    if number % EACH == 0:
        seen = observation_id(text, source, "document", source, now, ())
        yield "propose_proposition", {
            "subject": who, "predicate": "seen_in", "object": where, "volatility": "medium",
            "observation_ids": [seen], "quotes": [{"observation_id": seen, "quote": said}],
        }  # fmt: skip
