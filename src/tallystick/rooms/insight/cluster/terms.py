"""The words that tell a group from the others: class-based TF-IDF over words and pairs of words.

A pair is two words that stand beside each other in the text, so that it can be read. Forms of a word are counted
together and shown in the form that is used most.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from tallystick.rooms.insight.cluster.space import READ
from tallystick.rooms.insight.figures.words import STOP, stem, words_of
from tallystick.rooms.insight.pii import PLACEHOLDER

TERMS = 5
NAMED = 3
"""Terms in a label."""
_POLITE = (
    "hi hello hey dear thanks thank regards kind best please help need want know tell see try tried trying still even "
    "going go really way one two also able thing something anything someone sure lot bit guys team good morning "
    "afternoon ok okay yes yet may might must seem seems look looks looking give say said ask asked don doesn didn "
    "isn won couldn wouldn can't couldn't wasn't haven't hasn't i'd i'll you're they're we're what's whether since"
)
_LEFT_OUT = STOP | set(_POLITE.split())
_PARTICLES = frozenset({"up", "out", "off", "back", "in", "on", "down"})
"""`top up` and `sign in` are one word in two."""
_TOGETHER = 0.6
"""Where a word stands so often before the same particle, they are shown together."""
_PAIR = 1.4
"""What a pair counts beside a word: it says more, and is rarer by itself."""
_SHORTEST = 3
Key = tuple[str, ...]


def terms_of(texts: Mapping[int, Sequence[str]]) -> dict[int, tuple[str, ...]]:
    """Cluster → the terms that stand out in its texts, the most telling first."""
    shown: dict[Key, Counter[str]] = defaultdict(Counter)
    counts = {cluster: _counted(said, shown) for cluster, said in texts.items()}
    everywhere: Counter[Key] = Counter()
    for many in counts.values():
        everywhere.update(many)
    usual = sum(everywhere.values()) / max(len(counts), 1)
    return {cluster: _telling(many, everywhere, usual, shown) for cluster, many in counts.items()}


def labels_of(terms: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """Cluster → a label of its first terms; no two are the same where their terms differ at all."""
    taken: set[str] = set()
    labels: dict[int, str] = {}
    for cluster in sorted(terms):
        said = list(terms[cluster])
        tries = [said[:NAMED], *([*said[: NAMED - 1], other] for other in said[NAMED:]), said]
        names = [", ".join(one) for one in tries]
        label = next((name for name in names if name not in taken), names[-1])
        taken.add(label)
        labels[cluster] = label
    return labels


def _counted(texts: Sequence[str], shown: dict[Key, Counter[str]]) -> Counter[Key]:
    """In how many texts each term stands."""
    counts: Counter[Key] = Counter()
    for text in texts:
        found: dict[Key, str] = {}
        before: tuple[str, str] | None = None
        for word in words_of(PLACEHOLDER.sub(" ", text)[:READ]):
            if word in _PARTICLES and before is not None:
                found[(before[1], word)] = f"{before[0]} {word}"
            usable = word not in _LEFT_OUT and len(word) >= _SHORTEST and not word.isdigit()
            now = (word, stem(word)) if usable else None
            if now is not None:
                found[(now[1],)] = word
                if before is not None and before[1] != now[1]:
                    found[(before[1], now[1])] = f"{before[0]} {word}"
            before = now
        counts.update(found.keys())
        for key, form in found.items():
            shown[key][form] += 1
    return counts


def _telling(
    counts: Counter[Key], everywhere: Counter[Key], usual: float, shown: Mapping[Key, Counter[str]]
) -> tuple[str, ...]:
    least = 2 if counts and max(counts.values()) > 1 else 1
    weights = {
        key: many * math.log1p(usual / everywhere[key]) * (_PAIR if len(key) > 1 else 1.0)
        for key, many in counts.items()
        if many >= least
    }
    chosen: list[Key] = []
    for key in sorted(weights, key=lambda one: (-weights[one], one)):
        if key[-1] in _PARTICLES or any(set(key) & set(other) for other in chosen):
            continue
        chosen.append(key)
        if len(chosen) == TERMS:
            break
    return tuple(_form(shown[_with_particle(key, counts)]) for key in chosen)


def _with_particle(key: Key, counts: Counter[Key]) -> Key:
    both = max(((*key, particle) for particle in sorted(_PARTICLES)), key=lambda one: counts[one])
    return both if counts[both] >= _TOGETHER * counts[key] else key


def _form(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))
