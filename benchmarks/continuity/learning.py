"""Learn what tells a fact from what only looks like one; `weights` joins it and writes the result down.

From the sentences of the seen hands (never the held ones), each read as a paragraph of a small book, and from the
sentences of public-domain novels, which tell next to nothing of the kinds looked for. The
product reads with the same eyes: its candidates and its features are what is learned from.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression

from benchmarks.continuity.novels import novels
from benchmarks.continuity.wordings import forms_of
from benchmarks.continuity.wordings.form import Form
from tallystick.gate.reply.sources import Source, sha256_text
from tallystick.rooms.studio.book.nouns import Book
from tallystick.rooms.studio.book.scenes import parse_scene
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.candidates import Candidate, candidates
from tallystick.rooms.studio.continuity.checking import Reading
from tallystick.rooms.studio.continuity.gazetteer import is_city
from tallystick.rooms.studio.continuity.likelihood import SCALE, features
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.readers import read_by_rules
from tallystick.rooms.studio.continuity.second_look import key_of

KIND_OF = {
    "eyes/colour": "eyes", "hair/colour": "hair", "age/years": "age", "date/weekday": "left", "date/count": "days",
    "date/year": "came", "date/birthday": "born", "place/night": "night", "place/born": "birthplace",
    "place/home": "home", "death/speaks": "dead",
}  # fmt: skip
DEAD = "dead"
PEOPLE = (
    {"N": "Helen Marlowe", "A": "Helen", "K": "Helen", "he": "she", "him": "her", "his": "her", "himself": "herself",
     "man": "woman", "He": "She", "His": "Her"},
    {"N": "Tobias Penn", "A": "Tobias", "K": "Tobias", "he": "he", "him": "him", "his": "his", "himself": "himself",
     "man": "man", "He": "He", "His": "His"},
    {"N": "Mr. Wetherby", "A": "Wetherby", "K": "Wetherby", "he": "he", "him": "him", "his": "his",
     "himself": "himself", "man": "man", "He": "He", "His": "His"},
)  # fmt: skip
KEYS = ({"helen", "helen marlowe"}, {"tobias", "tobias penn"}, {"mr wetherby", "wetherby"})
OPENING = (
    "Helen Marlowe walked down to the harbour with Tobias Penn. Mr. Wetherby followed them.\n\n"
    '"It will rain," said Helen.\n\n"It always does," Tobias replied, and he laughed. Helen smiled at him.\n\n'
    '"Come along," said Mr. Wetherby. Wetherby carried the lamp, and Tobias carried the basket for Wetherby.'
)
SMALL_TALK = (
    "Helen Marlowe walked down to the harbour with Tobias. Mr. Marsh followed them, and Doctor Penrose came last.\n\n"
    '"It will rain," said Helen.\n\n"It always does," Tobias replied, and he laughed. Helen smiled at him.'
)
NAMES = frozenset({"Helen", "Tobias", "Mr", "Wetherby", "Penn", "Marlowe"})
VECTORS = Path(__file__).parents[2] / "tests" / "vectors"
STRENGTH = 1.0
"""Of the fit: the smaller, the less a rare word can say."""
FURTHEST = 3.0
"""The most that the odds of a feature count beforehand."""
BACKGROUND = 0.5
"""What a sentence of a novel counts at most, beside one that was written for this."""
OWN = 3.0
"""What one of our own counts: it is short, and says the plainest thing there is to say."""
LEAST = 6
"""Weights smaller than this are left out."""
Row = tuple[str, set[str], bool, float]


def evened(rows: list[Row]) -> list[Row]:
    """The same; the novels' sentences of a kind together count no more than those that tell it."""
    told = Counter(row[0] for row in rows if row[2])
    read = Counter(row[0] for row in rows if row[3] == BACKGROUND)
    return [
        (kind, found, is_told, min(counts, told[kind] / read[kind]) if counts == BACKGROUND else counts)
        for kind, found, is_told, counts in rows
    ]


def told_rows(hands: Collection[str]) -> Iterator[Row]:
    """The hands' sentences: a candidate of a sentence's own kind is told or not; one of another kind is not."""
    return chain.from_iterable(map(_rows_of, sorted(hands)))


@cache
def _rows_of(hand: str) -> tuple[Row, ...]:
    return tuple(row for form in forms_of([hand]) for row in _rows_in(form))


def _rows_in(form: Form) -> Iterator[Row]:
    meant = KIND_OF.get(f"{form.kind}/{form.name}")
    for which, person, texts in written(form):
        for candidate, binder, at in _read(texts):
            if at is None or candidate.fact.subject not in KEYS[person]:
                continue
            own = candidate.kind == meant
            # What is clean after a death may well say that somebody is dead.
            if not (own and meant == DEAD and which == "clean"):
                told = own and which in (("settled",) if meant == DEAD else ("settled", "broken"))
                yield candidate.kind, features(binder, candidate), told, 1.0


def written(form: Form) -> Iterator[tuple[str, int, list[tuple[str, str]]]]:
    """The form's sentences filled in, by what they do and for whom, each with its value."""
    rng = random.Random(form.name)
    lists = (
        ("settled", form.established),
        ("broken", form.contradicting),
        ("clean", tuple(words for _, words in form.clean)),
    )
    for which, wordings in lists:
        for place, person in enumerate(PEOPLE):
            filled = []
            for words in wordings[place :: len(PEOPLE)]:
                values = dict(getattr(form.values(rng), which))
                filled.append((_filled(words, person, values), values.get("w") or values.get("v", "")))
            yield which, place, filled


def _filled(words: str, person: dict[str, str], values: dict[str, str]) -> str:
    values |= {key.upper(): value[0].upper() + value[1:] for key, value in values.items() if key in {"v", "w"}}
    return words.format(**person, **values, M=person["N"], S="Penrose")


def novel_rows(data: Path) -> list[list[Row]]:
    """Every candidate of each novel, and at last those of the openings in LitBank: none of them is told."""
    whole = ["\n\n".join(text for scene in novel.scenes for text in scene.texts) for novel in novels(data)]
    openings = {path.name: path for path in sorted((data / "litbank").rglob("*.txt"))}
    read = [list(_untold(text)) for text in whole]
    return [*read, [row for path in openings.values() for row in _untold(path.read_text(encoding="utf-8"))]]


def _untold(text: str) -> Iterator[Row]:
    """What the rules read there may well be so, and is left out."""
    return ((kind, found, False, BACKGROUND) for kind, found, is_read, _ in _ruled(text) if not is_read)


def own_rows() -> Iterator[Row]:
    """Our own short sentences, which the rules read rightly: what they read is told, and what they do not is not."""
    for path in sorted((VECTORS / "continuity_told").glob("*.json")):
        held = json.loads(path.read_text(encoding="utf-8"))
        for sentences in (held.get("told", ()), held.get("silent", ())):
            yield from _own("\n\n".join((SMALL_TALK, *sentences)))
    for path in sorted((VECTORS / "continuity").glob("*.json")):
        held = json.loads(path.read_text(encoding="utf-8"))
        for pair in (*held.get("contradictions", ()), *held.get("clean", ())):
            yield from _own("\n\n".join((SMALL_TALK, *(part for part in pair if isinstance(part, str)))))


def _own(text: str) -> Iterator[Row]:
    return ((kind, found, is_read, OWN) for kind, found, is_read, _ in _ruled(text))


def _ruled(text: str) -> Iterator[Row]:
    narration, binder = telling(text)
    read = {key_of(narration, fact) for fact in read_by_rules(narration, binder)}
    for candidate in candidates(narration, binder):
        yield candidate.kind, features(binder, candidate), key_of(narration, candidate.fact) in read, 1.0


def telling(text: str) -> tuple[Narration, Binder]:
    """A text as the product reads it."""
    source = Source(path="Story/Scenes/SCN-01.md", text=text, sha256=sha256_text(text))
    reading = Reading(Book(scenes=(parse_scene(source, order=1),), cards=(), outline=None, complaints=()))
    ((narration, binder),) = reading._tellings
    return narration, binder


def paragraphs(texts: Sequence[tuple[str, str]]) -> str:
    """A small book with a paragraph for each of some texts."""
    told = [text for text, _ in texts]
    # In a whole novel the words that begin a sentence stand elsewhere with a small letter, and so are no names.
    opens = {word for text in told for word in _OPENS.findall(text) if word not in NAMES and not is_city(word.lower())}
    return "\n\n".join((f"{OPENING} He spoke of {', '.join(sorted(word.lower() for word in opens))}.", *told))


_OPENS = re.compile(r"(?:^|[.!?] |“)([A-Z][a-z]+)")


def place_of(line: int) -> int | None:
    """Which of those paragraphs a line is."""
    at = line - OPENING.count("\n") - 3
    return at // 2 if at >= 0 else None


def _read(texts: Sequence[tuple[str, str]]) -> Iterator[tuple[Candidate, Binder, int | None]]:
    narration, binder = telling(paragraphs(texts))
    for candidate in candidates(narration, binder):
        yield candidate, binder, place_of(candidate.fact.line)


def _apart(matrix: Any, is_told: Any, counts: Any) -> Any:
    """How far each feature sets apart what is told, by its odds alone: one that stands in both alike can say little."""
    told, untold = (matrix.T @ (counts * which) + 1.0 for which in (is_told, ~is_told))
    return np.minimum(np.abs(np.log(told / told.sum()) - np.log(untold / untold.sum())), FURTHEST)


def learned(rows: list[Row]) -> dict[str, Any]:
    """The weights: those of all kinds together, and what each kind has of its own."""
    counted: Counter[str] = Counter()
    for kind, found, _, _ in rows:
        counted.update(found)
        counted.update(f"{kind}\t{feature}" for feature in found)
    known = {feature: place for place, feature in enumerate(sorted(name for name, n in counted.items() if n > 1))}
    kinds = sorted({row[0] for row in rows})
    known |= {f"\t{kind}": len(known) + place for place, kind in enumerate(kinds)}
    across, down = [], []
    for number, (kind, found, _, _) in enumerate(rows):
        names = (*found, *(f"{kind}\t{feature}" for feature in found), f"\t{kind}")
        places = [known[name] for name in names if name in known]
        across += places
        down += [number] * len(places)
    matrix = csr_matrix((np.ones(len(across)), (down, across)), shape=(len(rows), len(known)))
    is_told, counts = np.array([row[2] for row in rows]), np.array([row[3] for row in rows])
    apart = _apart(matrix, is_told, counts)
    apart[[known[f"\t{kind}"] for kind in kinds]] = 1.0
    fit = LogisticRegression(C=STRENGTH, max_iter=400)
    fit.fit(matrix @ diags(apart), is_told, sample_weight=counts)
    weight = {name: round(float(fit.coef_[0][place] * apart[place]) * SCALE) for name, place in known.items()}
    bias = round(float(fit.intercept_[0]) * SCALE)
    own: dict[str, dict[str, int]] = {kind: {} for kind in kinds}
    shared: dict[str, int] = {}
    for name, value in weight.items():
        kind, tab, feature = name.partition("\t")
        if abs(value) < LEAST or (tab and not kind):
            continue
        (own[kind] if tab else shared)[feature if tab else name] = value
    return {"bias": {kind: bias + weight[f"\t{kind}"] for kind in kinds}, "own": own, "shared": shared}
