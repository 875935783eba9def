"""One case: a pair of statements about one person, where they go, and the clean twin of the second."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.continuity.cards import Card, card_of
from benchmarks.continuity.novels import Novel, is_closed, is_narration
from benchmarks.continuity.people import Person, newcomers, people_of, says_already
from benchmarks.continuity.slips import slip
from benchmarks.continuity.wordings import KINDS, Split, forms
from benchmarks.continuity.wordings.form import Form

APART = 12
"""Paragraphs between two statements at the least: nobody contradicts himself in one breath."""
KEPT = 0.4
"""The share of clean twins that say the same thing again; the others say the other thing without meaning it."""
AT_MOST = 2
"""Cases about one person in a book, each of another kind."""
OWN = 0.65
"""The share of cases about the novel's own people; the others are about newcomers."""
_APART_FROM = {"date": frozenset({"place"}), "place": frozenset({"date"})}
"""Whoever moves to one town and is at home in another would be a contradiction of our own making."""


@dataclass(frozen=True, kw_only=True, order=True)
class Spot:
    scene: int
    paragraph: int
    own: bool
    """Its own paragraph after that one; else the last sentence of it."""


@dataclass(frozen=True, kw_only=True)
class Case:
    kind: str
    form: str
    person: Person
    established: str
    contradicting: str
    clean: str
    why: str
    """Why the twin is no contradiction."""
    first: Spot
    second: Spot
    card: Card | None = None
    """What the compendium says, where the first statement stands there and not in a scene."""


@dataclass(kw_only=True)
class _Making:
    """What is taken already while the cases of one book are made."""

    novel: Novel
    rng: random.Random
    own: tuple[Person, ...]
    new: list[Person]
    spots: list[Spot]
    at_most: int
    free: set[Spot]
    used: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Person → the kinds they have a part in."""


def cases_of(novel: Novel, data: Path, *, split: Split, seed: int, per_kind: int, cards: bool = False) -> list[Case]:
    """The cases of one book; the same arguments give the same cases."""
    rng = random.Random(f"{seed} {split} {novel.id} {cards}")
    spots = spots_of(novel)
    making = _Making(
        novel=novel, rng=rng, own=people_of(novel, data), new=list(newcomers(novel, data)), spots=spots, free=set(spots),
        at_most=1 if cards else AT_MOST,
    )  # fmt: skip
    rng.shuffle(making.new)
    by_kind = forms(split)
    # The dead first: whoever dies may have no other part, and few are free to.
    order = sorted(KINDS, key=lambda kind: kind != "death")
    made: list[Case] = []
    for _ in range(per_kind):
        for kind in order:
            among = [form for form in by_kind[kind] if form.card] if cards else list(by_kind[kind])
            found = _case(making, rng.choice(among), cards=cards) if among else None
            if found is not None:
                made.append(found)
    return made


def spots_of(novel: Novel) -> list[Spot]:
    """Every natural place: after a paragraph that is over, or at the end of one that only tells."""
    found = []
    for number, scene in enumerate(novel.scenes):
        texts = scene.texts
        for at in range(1, len(texts) - 1):
            if is_narration(texts[at]):
                found.append(Spot(scene=number, paragraph=at, own=False))
            if is_closed(texts[at]) and is_closed(texts[at + 1]) and len(texts[at].split()) > 8:
                found.append(Spot(scene=number, paragraph=at, own=True))
    return found


def filled(wording: str, person: Person, slots: Mapping[str, str], novel: Novel) -> str:
    """The words as they stand in the book, in its own quotation marks."""
    she = person.female
    words = {
        "N": person.name, "A": person.short, "K": person.key, "he": "she" if she else "he", "him": "her" if she else "him",
        "his": "her" if she else "his", "himself": "herself" if she else "himself", "man": "woman" if she else "man",
        "He": "She" if she else "He", "His": "Her" if she else "His", **slots,
    }  # fmt: skip
    words |= {key.upper(): value[0].upper() + value[1:] for key, value in slots.items() if key in {"v", "w"}}
    text = wording.format(**words)
    # `his` where nothing follows it is `hers`.
    if she:
        text = re.sub(r"\bof her was\b", "of hers was", text)
    if not novel.curly:
        text = text.replace("“", '"').replace("”", '"')
    return text.replace("'", "’") if novel.text.count("’") > novel.text.count("'") else text


def _case(making: _Making, form: Form, *, cards: bool) -> Case | None:
    rng, novel = making.rng, making.novel
    person = _person(making, form, cards=cards)
    pair = None if person is None else _pair(making, form, person)
    if person is None or pair is None:
        return None
    values = form.values(rng)
    broken, clean = dict(values.broken), dict(values.clean)
    if form.kind == "name":
        wrong = slip(person.key, novel.text, rng)
        if wrong is None:
            return None
        broken["M"] = person.name.replace(person.key, wrong)
        clean |= {"M": broken["M"], "S": wrong}
    same = {**values.same, "M": person.name}
    second = rng.choice(form.contradicting)
    if form.keeps and rng.random() < KEPT:
        why, twin = "same", filled(rng.choice(form.contradicting), person, same, novel)
    else:
        why, wording = rng.choice(form.clean)
        twin = filled(wording, person, clean, novel)
    making.used[person.key].add(form.kind)
    making.free -= {spot for spot in making.spots for taken in pair if _touch(spot, taken)}
    return Case(
        kind=form.kind, form=form.name, person=person, why=why, first=pair[0], second=pair[1],
        established=filled(rng.choice(form.established), person, values.settled, novel),
        contradicting=filled(second, person, broken, novel), clean=twin,
        card=card_of(person, rng.choice(form.card), values.settled, rng) if cards else None,
    )  # fmt: skip


def _person(making: _Making, form: Form, *, cards: bool) -> Person | None:
    """Somebody of whom the book does not say this yet, rather one without a part."""
    fit = [person for person in making.own if _may(making, form, person, cards=cards)]
    own = [person for person in fit if not making.used[person.key]] or fit
    new = [person for person in making.new if not making.used[person.key]]
    # A slip shows only against a name that the book has established: that of its own people.
    among = own if own and (form.kind == "name" or making.rng.random() < OWN) else new or own
    return making.rng.choice(among[:12]) if among else None


def _may(making: _Making, form: Form, person: Person, *, cards: bool) -> bool:
    parts = making.used[person.key]
    if (
        len(parts) >= making.at_most
        or form.kind in parts
        or "death" in parts
        or parts & _APART_FROM.get(form.kind, frozenset())
    ):
        return False
    if form.kind == "name":
        return len(person.key) >= 5
    if form.kind == "death":
        # Only somebody who goes out of the book early can die without all the rest of it contradicting.
        return not parts and not cards and max(person.scenes) < 0.6 * len(making.novel.scenes)
    return not says_already(making.novel, person, form.kind)


def _pair(making: _Making, form: Form, person: Person) -> tuple[Spot, Spot] | None:
    """Two free spots in order, in scenes that know the person; for a death, after all that the book says of them."""
    rng = making.rng
    free = [spot for spot in making.spots if spot in making.free]
    if form.kind == "death":
        last = max(person.scenes, default=len(making.novel.scenes) // 6)
        free = [spot for spot in free if spot.scene > last]
    elif person.scenes:
        free = [spot for spot in free if spot.scene in person.scenes]
    if len(free) < 2:
        return None
    early = free[: max(1, len(free) // 2)]
    first = rng.choice(early)
    late = [spot for spot in free if _apart(spot, first)]
    return (first, rng.choice(late)) if late else None


def _apart(spot: Spot, first: Spot) -> bool:
    return spot.scene > first.scene or (spot.scene == first.scene and spot.paragraph >= first.paragraph + APART)


def _touch(spot: Spot, taken: Spot) -> bool:
    return spot.scene == taken.scene and abs(spot.paragraph - taken.paragraph) <= 1


def kinds_in(cases: Sequence[Case]) -> Counter[str]:
    return Counter(case.kind for case in cases)
