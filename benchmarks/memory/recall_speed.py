"""Asking memory that holds many observations: time of one `recall`, answer and texts included."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from tallystick.rooms.memory.ids import observation_id
from tallystick.rooms.memory.model import Event
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.project.fold import fold
from tallystick.rooms.memory.project.stored_state import StoredState
from tallystick.rooms.memory.recall.answers import RecallRequest
from tallystick.rooms.memory.recall.queries import MemoryQueries
from tallystick.rooms.memory.store import migrations
from tallystick.rooms.memory.store.rows import Store
from tallystick.rooms.memory.times import stamp_of
from tallystick.settings import Settings
from tallystick.storage.database import migrate_room, open_engine

PROMISES = ("reading.speed",)
SMALL, FULL = 20_000, 1_000_000
WORDS = 120_000
EACH = 8
"""Every eighth observation comes with a fact that quotes it."""
BEGIN = 1_750_000_000
QUERIES = 600


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    size = FULL if full else SMALL
    workspace = folder / "ws"
    workspace.mkdir()
    engine = open_engine(Settings.model_validate({}), workspace)
    migrate_room(engine, "memory", migrations)
    state = StoredState(Policy(), Store(engine))
    texts = Texts(seed=11)
    began = time.perf_counter()
    for event in observations(size, texts):
        fold(state, event)
        state.scanned = event.seq
        if state.unwritten() >= 2_000:
            state.flush()
    state.flush()
    folded = time.perf_counter() - began
    reading = MemoryQueries(Direct(state), NoLedger(), folder, clock=lambda: BEGIN + size)
    began = time.perf_counter()
    reading.recall(RecallRequest(query="first"))
    filled = time.perf_counter() - began
    chance = random.Random(5)
    asked = [query(texts, chance) for _ in range(QUERIES)]
    times, cpu, partial, facts = [], [], 0, 0
    for text in asked:
        began, spent = time.perf_counter(), time.thread_time()
        found = reading.recall(RecallRequest(query=text))
        times.append((time.perf_counter() - began) * 1e3)
        cpu.append((time.thread_time() - spent) * 1e3)
        partial += not found.complete
        facts += bool(found.facts)
        if not found.passages:
            raise RuntimeError(text)
    held = state.store.counts()
    reading.close()
    times.sort()
    cpu.sort()
    p99, p99_cpu = times[int(len(times) * 0.99)], cpu[int(len(cpu) * 0.99)]
    lines = [
        "| observations | facts | fold and store | fill the index | recall median | recall p99 | p99 (CPU) | bounded queries "
        "| answered with facts |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        f"| {size:,} | {held['propositions']:,} | {size / folded:,.0f}/s | {size / filled:,.0f}/s "
        f"| {statistics.median(times):.1f} ms | **{p99:.1f} ms** | {p99_cpu:.1f} ms | {partial / len(asked):.0%} "
        f"| {facts / len(asked):.0%} |",
    ]
    return {
        "goal": "recall p99 < 20 ms with 1,000,000 observations",
        "markdown": "\n".join(lines),
        "observations": size,
        "median_ms": round(statistics.median(times), 2),
        "p99_ms": round(p99, 2),
        "p99_cpu_ms": round(p99_cpu, 2),
        "fill_per_s": round(size / filled),
        "fold_per_s": round(size / folded),
    }


class Texts:
    """Sentences of made-up words, a few of them common and most of them rare, as in any language."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "or", "il")]
        self.words = ["".join(self._chance.choices(syllables, k=1 + rank % 4)) + f"{rank:x}" for rank in range(WORDS)]
        self.weights = list(accumulate(1 / (rank + 3) ** 1.05 for rank in range(WORDS)))

    def next(self) -> str:
        length = self._chance.randint(8, 24)
        return " ".join(self._chance.choices(self.words, cum_weights=self.weights, k=length))


def observations(size: int, texts: Texts) -> Iterator[Event]:
    for number in range(size):
        at = BEGIN + number
        source = {"id": f"person {number % 500}", "class": "human"}
        args = {"text": texts.next(), "source": source, "observed_at": stamp_of(at), "episode_id": f"e{number // 40}"}
        yield Event(
            seq=2 * number,
            receipt_id=f"rcpt_{2 * number:012x}",
            at=at,
            tool="record_observation",
            args=args,
            by_owner=True,
        )
        if number % EACH == 0:
            seen = observation_id(args["text"], source["id"], "human", source["id"], at, ())
            fact = _fact(args["text"], seen)
            name = f"rcpt_{2 * number + 1:012x}"
            yield Event(
                seq=2 * number + 1, receipt_id=name, at=at, tool="propose_proposition", args=fact, by_owner=True
            )


def _fact(text: str, seen: str) -> dict[str, Any]:
    """The first words of a text as subject, predicate and object; static, as what is measured is not ageing."""
    subject, predicate, *rest = text.split()[:4]
    quote = " ".join((subject, predicate, *rest))
    return {
        "subject": subject.capitalize(), "predicate": predicate, "object": " ".join(rest), "volatility": "static",
        "observation_ids": [seen], "quotes": [{"observation_id": seen, "quote": quote}],
    }  # fmt: skip


def query(texts: Texts, chance: random.Random) -> str:
    """What people ask: a few words, common and rare, now and then a name."""
    words = chance.choices(texts.words, cum_weights=texts.weights, k=chance.randint(3, 8))
    if chance.random() < 0.5:
        words += ["person", str(chance.randrange(500))]
    return " ".join(words)


class Direct:
    """A projection that is already at the end of its log."""

    def __init__(self, state: StoredState) -> None:
        self._state = state

    def ask(self, question: Callable[[StoredState], Any], *, written: bool = False) -> Any:
        del written
        return question(self._state)


class NoLedger:
    """Nobody asks about other times here."""

    def size(self) -> int:
        return 0
