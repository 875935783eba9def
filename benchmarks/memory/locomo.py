"""Evidence recall on LoCoMo: are the turns that hold the answer among at most ten, with at most 1,000 tokens?"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.memory.conversations import NO_ANSWER, Asked, Conversation, Turn, conversations
from tallystick.rooms.memory.model import Event
from tallystick.rooms.memory.project.fold import replay
from tallystick.rooms.memory.recall.answers import RecallRequest, recall
from tallystick.rooms.memory.recall.indexes import MemoryIndexes
from tallystick.rooms.memory.recall.passages import tokens_of
from tallystick.rooms.memory.recall.question import read_question
from tallystick.rooms.memory.recall.ranking import rank
from tallystick.rooms.memory.times import stamp_of

PROMISES = ("reading.locomo",)
DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[3] / "shared" / "data"))
ITEMS, TOKENS = 10, 1000
FUSED = (0.2, 0.5, 1.0)
"""How much the vectors' ranks weigh beside ours."""
DEPTH = 200
Finder = Callable[[str], tuple[list[str], bool]]
"""A question → ids of turns, best first, and whether it was said that there may be no answer."""
_STOP = frozenset(
    {
        "a", "an", "the", "is", "are", "was", "were", "be", "been", "to", "of", "and", "in", "on", "at", "for", "with",
        "did", "do", "does", "what", "when", "where", "who", "how", "which", "that", "this", "it", "her", "his",
        "their", "she", "he", "they", "i", "you",
    }
)  # fmt: skip


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    del folder, full
    talks = list(conversations(DATA)) if (DATA / "locomo").is_dir() else []
    if not talks:
        return {"goal": "recall@10 ≥ 0.68", "markdown": "Left out: locomo is not there (TALLY_DATA)."}
    ways: dict[str, Callable[[Conversation], Finder]] = {"BM25 alone": bm25, "recall": our_recall}
    vectors = word_vectors()
    if vectors is not None:
        ways["vectors alone (wordllama)"] = lambda talk: vectors_alone(vectors, talk)
        for weight in FUSED:
            ways[f"recall, vectors fused in ({weight})"] = partial(fused, vectors, weight)
    rows = {name: score(talks, way) for name, way in ways.items()}
    lines = [
        "| way | @5 | @10 | @10, answerable | no answer: says so | answer there: doubts it | most tokens |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        lines.append(
            f"| {name} | {row['at_5']:.3f} | **{row['at_10']:.3f}** | {row['at_10_answerable']:.3f} "
            f"| {row['says_so']:.1%} | {row['doubts']:.1%} | {row['most_tokens']} |"
        )
    if vectors is None:
        lines.append("\nVectors alone: left out, wordllama is not installed (it is no part of the core).")
    each = ", ".join(f"{name} {value:.3f}" for name, value in rows["recall"]["by_conversation"].items())
    lines.append(f"\n{rows['recall']['questions']} questions with evidence; `recall` @10 by conversation: {each}.")
    return {"goal": "recall@10 ≥ 0.68 (BM25 alone: 0.557)", "markdown": "\n".join(lines), **rows}


def score(talks: Sequence[Conversation], way: Callable[[Conversation], Finder]) -> dict[str, Any]:
    shares: dict[Any, list[float]] = defaultdict(list)
    most = 0
    for talk in talks:
        find = way(talk)
        texts = {turn.id: turn.text for turn in talk.turns}
        for asked in talk.questions:
            ids, doubts = find(asked.text)
            ids = within(ids, texts)
            most = max(most, sum(tokens_of(texts[name]) for name in ids))
            _note(shares, talk, asked, ids, doubts=doubts)
    mean = {key: sum(values) / len(values) for key, values in shares.items()}
    return {
        "at_5": round(mean[5], 4),
        "at_10": round(mean[10], 4),
        "at_10_answerable": round(mean["answerable"], 4),
        "says_so": round(mean.get("said", 0.0), 4),
        "doubts": round(mean.get("doubted", 0.0), 4),
        "most_tokens": most,
        "questions": len(shares[10]),
        "by_conversation": {talk.id: round(mean[talk.id], 4) for talk in talks},
    }


def _note(shares: dict[Any, list[float]], talk: Conversation, asked: Asked, ids: list[str], *, doubts: bool) -> None:
    for most in (5, 10):
        shares[most].append(len(asked.evidence.intersection(ids[:most])) / len(asked.evidence))
    shares[talk.id].append(shares[10][-1])
    if asked.category == NO_ANSWER:
        shares["said"].append(doubts)
    else:
        shares["doubted"].append(doubts)
        shares["answerable"].append(shares[10][-1])


def within(ids: Sequence[str], texts: dict[str, str]) -> list[str]:
    """At most ten turns, and no more than the tokens."""
    kept, spent = [], 0
    for name in ids[:ITEMS]:
        spent += tokens_of(texts[name])
        if spent > TOKENS:
            break
        kept.append(name)
    return kept


def our_recall(talk: Conversation) -> Finder:
    """Memory's own `recall`, over the turns recorded as observations."""
    state = replay(observed(talk.turns))
    indexes = MemoryIndexes(None)
    indexes.fill(sorted(state.observations.held.values(), key=lambda seen: seen.seq), ())
    names = {number: turn.id for number, turn in enumerate(talk.turns)}

    def find(question: str) -> tuple[list[str], bool]:
        found = recall(
            state, NoLog(), indexes, RecallRequest(query=question, limit=ITEMS, tokens=TOKENS), now=state.now
        )
        return [names[passage.seen.seq] for passage in found.passages], found.doubt is not None

    return find


def observed(turns: Sequence[Turn]) -> list[Event]:
    return [
        Event(
            seq=number, receipt_id=f"rcpt_{number}", at=turn.at, tool="record_observation", by_owner=True,
            args={
                "text": turn.text, "source": {"id": turn.speaker, "class": "human"}, "observed_at": stamp_of(turn.at),
                "episode_id": turn.session,
            },
        )
        for number, turn in enumerate(turns)
    ]  # fmt: skip


class NoLog:
    def event(self, receipt_id: str) -> None:
        del receipt_id

    def time_at(self, seq: int) -> None:
        del seq


def bm25(talk: Conversation) -> Finder:
    """The plain thing, written apart from ours: words in small letters, stop words left out, k1 1.2, b 0.75."""
    words = [[w for w in re.findall(r"\w+", t.text.split(" [")[0].lower()) if w not in _STOP] for t in talk.turns]
    usual = sum(map(len, words)) / len(words)
    holders: dict[str, dict[int, int]] = defaultdict(dict)
    for number, held in enumerate(words):
        for word, times in Counter(held).items():
            holders[word][number] = times

    def find(question: str) -> tuple[list[str], bool]:
        scores: Counter[int] = Counter()
        for word in re.findall(r"\w+", question.lower()):
            among = holders.get(word, {})
            worth = math.log(1 + (len(words) - len(among) + 0.5) / (len(among) + 0.5))
            for number, times in among.items():
                scores[number] += worth * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(words[number]) / usual))
        order = sorted(scores, key=lambda number: (-scores[number], number))
        return [talk.turns[number].id for number in order[:ITEMS]], False

    return find


def word_vectors() -> Any:
    """Static word vectors (wordllama), if they are installed."""
    try:
        import wordllama  # type: ignore[import-not-found] # noqa: PLC0415
    except ImportError:
        return None
    # Its own folder as the cache: the wheel carries weights and tokenizer, but looks for the latter elsewhere.
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


def vectors_alone(model: Any, talk: Conversation) -> Finder:
    """The nearest turns; nothing of ours beside them."""
    nearest = near(model, talk)
    return lambda question: ([talk.turns[number].id for number in nearest(question)[:ITEMS]], False)


def near(model: Any, talk: Conversation) -> Callable[[str], list[int]]:
    """A question → the numbers of the turns, the nearest first."""
    held = model.embed([f"{turn.speaker}: {turn.text}" for turn in talk.turns], norm=True)

    def order(question: str) -> list[int]:
        return [int(number) for number in (held @ model.embed(question, norm=True)[0]).argsort()[::-1]]

    return order


def fused(model: Any, weight: float, talk: Conversation) -> Finder:
    """The ranks of our ranking and of the vectors, fused (1 / (10 + rank), the vectors' times the weight)."""
    state = replay(observed(talk.turns))
    indexes = MemoryIndexes(None)
    indexes.fill(sorted(state.observations.held.values(), key=lambda seen: seen.seq), ())
    places = {seen.id: seen.seq for seen in state.observations.held.values()}
    nearest = near(model, talk)

    def find(question: str) -> tuple[list[str], bool]:
        ranking = rank(indexes.observations, read_question(question), limit=DEPTH)
        scores: Counter[int] = Counter()
        for place, ranked in enumerate(ranking.best):
            scores[places[ranked.entry.id]] += 1 / (10 + place)
        for place, number in enumerate(nearest(question)[:DEPTH]):
            scores[number] += weight / (10 + place)
        order = sorted(scores, key=lambda number: (-scores[number], -number))
        return [talk.turns[number].id for number in order[:ITEMS]], ranking.doubt is not None

    return find
