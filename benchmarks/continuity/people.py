"""Who is in a novel: names out of the annotations of litbank and out of the narration itself, and names for newcomers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchmarks.continuity.novels import Novel

_MALE = ("Mr.", "Sir", "Lord", "Colonel", "Captain", "Inspector", "Count", "Master", "Uncle", "Father")
_FEMALE = ("Mrs.", "Miss", "Lady", "Madame", "Aunt")
_TITLES = "|".join(re.escape(title) for title in (*_MALE, *_FEMALE, "Dr.", "Professor"))
_TITLED = re.compile(rf"\b({_TITLES}) ([A-Z][a-z]{{3,}})\b")
_SINGLE = re.compile(r"(?<=[a-z,;] )([A-Z][a-z]{3,})\b")
_DOES = frozenset(
    [
        "said",
        "replied",
        "cried",
        "had",
        "was",
        "looked",
        "could",
        "would",
        "answered",
        "returned",
        "smiled",
        "continued",
        "thought",
        "felt",
        "saw",
        "did",
        "asked",
    ]
)
NARRATORS = {
    "84": ("Victor", "Frankenstein", "Walton"),
    "1661": ("Watson",),
    "345": ("Jonathan", "Harker", "Mina", "Seward", "Lucy"),
    "2701": ("Ishmael",),
    "1260": ("Jane", "Eyre", "Rochester"),
}
"""Whoever says `I` cannot be told of by name in the same voice."""
NEWCOMERS = (
    "Mrs. Thackrell", "Mr. Quennell", "Miss Aldersey", "Captain Brough", "Mr. Penhallow", "Mrs. Okeover", "Miss Tredgold",
    "Colonel Marchbanks", "Mr. Silcott", "Mrs. Wraxall", "Lady Fennimore", "Sir Barnaby", "Miss Cullingworth", "Mr. Dunstable",
    "Mrs. Hathersage", "Captain Ormerod", "Miss Pargeter", "Mr. Lillywhite", "Mrs. Scrivener", "Mr. Vavasour",
)  # fmt: skip
"""Names of our own for where litbank is not there."""
_PERSON = re.compile(rf"^(?:{_TITLES}) [A-Z][a-z]{{3,}}$")
_COLOURS = (
    r"(?:blue|brown|gr[ae]y|green|black|hazel|dark|light|fair|red|white|golden|yellow|auburn|blonde?|flaxen|sandy)"
)
_NEAR = r"\W+(?:\w+\W+){0,5}"
FACTS = {
    "eyes": re.compile(rf"\b{_COLOURS}{_NEAR}?eyed?s?\b|\beyes?{_NEAR}?{_COLOURS}\b", re.IGNORECASE),
    "hair": re.compile(
        rf"\b{_COLOURS}(?:ish)?{_NEAR}?(?:hair|locks|curls|beard|whiskers)|\b(?:hair|locks|curls|beard){_NEAR}?{_COLOURS}\b",
        re.IGNORECASE,
    ),
    "age": re.compile(
        r"\baged\b|\byears? old\b|\byears of age\b|\bbirthday\b|\b(?:twent|thirt|fort|fift|sixt|sevent)y\b",
        re.IGNORECASE,
    ),
    "date": re.compile(r"\bbirthday\b|\bborn\b", re.IGNORECASE),
    "place": re.compile(r"\bborn\b|\bnative\b|\bresided?\b|\blived (?:in|at)\b", re.IGNORECASE),
}
"""What a novel itself says near a name: a kind is planted only where it is silent, so that a plant meets no old fact."""


@dataclass(frozen=True, kw_only=True)
class Person:
    name: str
    """As the novel mostly calls them: `Mr. Darcy`, `Elizabeth`."""
    short: str
    """Another name for the same one, if the novel uses it: `Darcy`; else the name."""
    key: str
    """The one word that both have: what a slip of the pen changes."""
    female: bool
    scenes: frozenset[int]
    """Where they are named; empty for a newcomer."""

    @property
    def newcomer(self) -> bool:
        return not self.scenes


@lru_cache(maxsize=32)
def people_of(novel: Novel, data: Path) -> tuple[Person, ...]:
    """Those whom the novel names often enough, most often first; the narrator left out."""
    annotated, aliases = annotated_names(data, novel.id)
    counts = Counter(_titled_names(novel)) + Counter(_single_names(novel))
    titles: dict[str, set[str]] = defaultdict(set)
    for found in _TITLED.finditer(novel.text):
        titles[found[2]].add(found[1])
    kept: dict[str, Person] = {}
    for name, times in sorted(counts.items(), key=lambda item: (-(item[0] in annotated), -item[1], item[0])):
        title, _, key = name.rpartition(" ")
        # `Miss Bennet` is one sister here and another there.
        elder = title == "Miss" and len(titles[key]) > 1
        if (
            key in kept
            or key in NARRATORS.get(novel.id, ())
            or elder
            or _is_family(novel, key)
            or times < 4
            or _is_place(novel, name)
            or _may_die(novel, key)
        ):
            continue
        female = _is_female(novel, name, title)
        if female is not None:
            short = key if title in _MALE and _stands_alone(novel, key, titles[key], aliases.get(name, ())) else name
            kept[key] = Person(name=name, short=short, key=key, female=female, scenes=_scenes_with(novel, key))
    return tuple(kept.values())


@lru_cache(maxsize=32)
def newcomers(novel: Novel, data: Path) -> tuple[Person, ...]:
    """Names that the novel does not have, from the other novels of litbank; for people it is given besides its own."""
    names = {name for found in sorted((data / "litbank").rglob("coref/*.ann")) for name, _ in _mentions(found)} or set(
        NEWCOMERS
    )
    seen: dict[str, Person] = {}
    for name in sorted(names):
        title, _, key = name.rpartition(" ")
        if (
            _PERSON.match(name)
            and title in (*_MALE, *_FEMALE)
            and not re.search(rf"\b{key[:4]}", novel.text)
            and len(key) > 4
        ):
            seen.setdefault(key, Person(name=name, short=name, key=key, female=title in _FEMALE, scenes=frozenset()))
    return tuple(seen.values())


@lru_cache(maxsize=4096)
def says_already(novel: Novel, person: Person, kind: str) -> bool:
    """Whether the novel has words of this kind in a paragraph that names them, or in the next."""
    wanted = FACTS.get(kind)
    if wanted is None:
        return False
    for number in person.scenes:
        near = False
        for text in novel.scenes[number].texts:
            here = re.search(rf"\b{person.key}\b", text) is not None
            if (here or near) and wanted.search(text):
                return True
            near = here
    return False


def annotated_names(data: Path, number: str) -> tuple[set[str], dict[str, set[str]]]:
    """The persons litbank names in a novel, and which names it joins into one person."""
    names: set[str] = set()
    joined: dict[str, set[str]] = defaultdict(set)
    for path in sorted((data / "litbank").rglob(f"coref/{number}_*.ann")):
        clusters: dict[str, set[str]] = defaultdict(set)
        for name, cluster in _mentions(path):
            names.add(name)
            clusters[cluster].add(name)
        for together in clusters.values():
            for name in together:
                joined[name] |= together - {name}
    return names, joined


def _mentions(path: Path) -> Iterator[tuple[str, str]]:
    """Each proper name of a person, and the label of its cluster (which stands on the same span)."""
    proper: dict[str, str] = {}
    clusters: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = line.split("\t")
        if len(parts) != 3:
            continue
        label, _, span = parts[1].partition(" ")
        if label == "PROP_PER":
            proper[span] = re.sub(r"^(Mr|Mrs|Dr)\b\.? ", r"\1. ", parts[2])
        elif "-" in label:
            clusters[span] = label
    for span, name in proper.items():
        yield name, clusters.get(span, span)


def _titled_names(novel: Novel) -> Iterator[str]:
    """`Mr. Darcy`; not `Mr. Jabez` of `Mr. Jabez Wilson`."""
    for found in _TITLED.finditer(novel.text):
        if not re.match(r" [A-Z]", novel.text[found.end() : found.end() + 2]):
            yield found[0]


def _single_names(novel: Novel) -> Iterator[str]:
    """Words with a capital that act: neither titles nor places nor peoples, nor one half of a longer name."""
    small = Counter(re.findall(r"\b[a-z]+\b", novel.text))
    inside = Counter(_SINGLE.findall(novel.text))
    words = re.findall(r"[A-Za-z]+|[.!?;:,]", novel.text)
    everywhere, acts, joined, the = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        if inside[word]:
            everywhere[word] += 1
            acts[word] += before in _DOES or after in _DOES
            joined[word] += after[0].isupper() or before[0].isupper()
            the[word] += before in {"the", "The"}
    for name, times in inside.items():
        if times < 4 or small[name.lower()] > times / 10 or the[name]:
            continue
        # `Mr. Darcy` is joined too, by the full stop: it is counted with its title.
        titled = len(re.findall(rf"\. {name}\b", novel.text)) if name in _surnames(novel) else 0
        alone = everywhere[name] - joined[name] - titled
        if acts[name] >= max(3, times * 0.08) and alone > 0.5 * everywhere[name]:
            yield from [name] * alone


@lru_cache(maxsize=32)
def _surnames(novel: Novel) -> frozenset[str]:
    return frozenset(found[2] for found in _TITLED.finditer(novel.text))


def _stands_alone(novel: Novel, key: str, titles: set[str], aliases: Iterable[str]) -> bool:
    """Whether the bare surname means the man: said often, and no other man bears it."""
    bare = len(re.findall(rf"\b{key}\b", novel.text)) - len(re.findall(rf"\b(?:{_TITLES}) {key}\b", novel.text))
    return (bare >= 5 or key in aliases) and len(titles.intersection(_MALE)) == 1


def _scenes_with(novel: Novel, key: str) -> frozenset[int]:
    word = re.compile(rf"\b{key}\b")
    return frozenset(number for number, scene in enumerate(novel.scenes) if any(map(word.search, scene.texts)))


def _is_family(novel: Novel, key: str) -> bool:
    """`Bennets` is the plural of a name."""
    return key.endswith("s") and re.search(rf"\b{key[:-1]}\b", novel.text) is not None


def _may_die(novel: Novel, key: str) -> bool:
    """Whether the novel speaks of a death beside the name: whoever it kills can have no part afterwards."""
    dead = r"died|dies|dead|murder\w*|killed|slain|executed|hanged|drowned|perish\w*|expired|lifeless"
    pattern = (
        rf"\b{key}\b[^.;]{{0,40}}\b(?:{dead})\b|\b(?:death|murder|execution|corpse|body|grave|funeral|loss|destruction)\s+"
        rf"of\s+(?:[\w.]+\s+){{0,2}}{key}\b|\b(?:{dead}|late|unfortunate)\s+(?:[\w.]+\s+)?{key}\b"
    )
    return re.search(pattern, novel.text) is not None


def _is_place(novel: Novel, name: str) -> bool:
    times = len(re.findall(rf"\b{re.escape(name)}\b", novel.text))
    return len(re.findall(rf"\b(?:in|at|near|into|through) {re.escape(name)}\b", novel.text)) > max(2, times * 0.06)


def _is_female(novel: Novel, name: str, title: str) -> bool | None:
    """By title, else by the pronouns that follow the name; None where they do not agree."""
    if title in _MALE or title in _FEMALE:
        return title in _FEMALE
    he = she = 0
    for found in re.finditer(rf"\b{re.escape(name)}\b", novel.text):
        after = novel.text[found.end() : found.end() + 90]
        he += len(re.findall(r"\b(?:he|his|him|himself)\b", after))
        she += len(re.findall(r"\b(?:she|her|hers|herself)\b", after))
    if max(he, she) < 3 or max(he, she) < 1.6 * min(he, she):
        return None
    return she > he
