"""Which ways of naming are one person's: `Mara` and `Mara Voss`, `Darcy` and `Mr. Darcy`.

Two are joined only where the book leaves no choice. What the author's cards say goes before all of it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Literal

from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.continuity.gazetteer import is_listed
from tallystick.rooms.studio.continuity.vocabulary import FEMALE_NAMES, FEMALE_TITLES, MALE_NAMES, MALE_TITLES, TITLES

Gender = Literal["m", "f"]
TITLED = "|".join(sorted((title.capitalize() for title in TITLES), key=len, reverse=True))
"""All titles, as they are written before a name."""


def names_of(cards: Iterable[CanonCard]) -> dict[str, str]:
    """Each name and alias → the card's path; a name that two cards bear is nobody's."""
    owners: dict[str, set[str]] = defaultdict(set)
    for card in cards:
        names = [card.name, *card.aliases]
        for name in names:
            owners[name.casefold()].add(card.path)
            bare = re.sub(rf"^(?:{TITLED})\.?\s+", "", name)
            owners[bare.casefold()].add(card.path)
        if card.kind == "character" and len(card.name.split()) > 1:
            first = re.sub(rf"^(?:{TITLED})\.?\s+", "", card.name).split()[0]
            owners[first.casefold()].add(card.path)
            if card.name.split()[0] == first:
                owners[card.name.split()[-1].casefold()].add(card.path)
    return {name: next(iter(paths)) for name, paths in owners.items() if len(paths) == 1}


def node_of(title: str | None, words: tuple[str, ...]) -> str:
    """One way of naming, as a key."""
    plain = " ".join(words).lower()
    return f"{_same_title(title)} {plain}" if title else plain


def _same_title(title: str | None) -> str:
    return {"doctor": "dr", "capt": "captain", "col": "colonel", "prof": "professor", "gen": "general"}.get(
        title or "", title or ""
    )


def grouped(runs: Counter[tuple[str | None, tuple[str, ...]]]) -> dict[str, str]:
    """Each way of naming → the key it shares with the others of the same person."""
    firsts: dict[str, Counter[str]] = defaultdict(Counter)
    lasts: dict[str, Counter[str]] = defaultdict(Counter)
    titles: dict[str, Counter[str]] = defaultdict(Counter)
    singles: Counter[str] = Counter()
    for (title, words), count in runs.items():
        if len(words) > 1:
            firsts[words[0].lower()][words[-1].lower()] += count
            lasts[words[-1].lower()][words[0].lower()] += count
        elif title:
            titles[words[0].lower()][_same_title(title)] += count
        else:
            singles[words[0].lower()] += count
    keys: dict[str, str] = {}
    for title, words in runs:
        node = node_of(title, words)
        keys[node] = _key(node, title, [word.lower() for word in words], firsts, lasts, titles)
    return keys


def _key(
    node: str,
    title: str | None,
    words: list[str],
    firsts: dict[str, Counter[str]],
    lasts: dict[str, Counter[str]],
    titles: dict[str, Counter[str]],
) -> str:
    if len(words) > 1:
        # A full name is its own key; a title before it adds nothing.
        return f"{words[0]} {words[-1]}"
    name = words[0]
    if title is None:
        if name in firsts:
            return f"{name} {_only(firsts[name])}" if _only(firsts[name]) else node
        return _bare_surname(name, lasts, titles)
    if name in lasts or name not in firsts:
        return _titled_surname(node, title, name, lasts, titles)
    surname = _only(firsts[name])
    # `Lady Catherine` is not `Catherine Bennet`; `Miss Mara` is Mara.
    return f"{name} {surname}" if surname and title in {"miss", "master", "sir", "mr"} else node


def _bare_surname(name: str, lasts: dict[str, Counter[str]], titles: dict[str, Counter[str]]) -> str:
    sexes = {_sex(title) for title in titles.get(name, ())}
    if name in lasts:
        first = _only(lasts[name])
        if first and not (sexes >= {"m", "f"}) and not (first in FEMALE_NAMES and sexes != {"f"}):
            return f"{first} {name}"
    men = [title for title in titles.get(name, ()) if _sex(title) != "f"]
    given = [first for first in lasts.get(name, ()) if first not in FEMALE_NAMES]
    # A bare surname is the man's, as novels have it.
    return f"{men[0]} {name}" if len(men) == 1 and len(given) <= 1 else name


def _titled_surname(
    node: str, title: str, name: str, lasts: dict[str, Counter[str]], titles: dict[str, Counter[str]]
) -> str:
    first = _only(lasts[name]) if name in lasts else None
    sexes = {_sex(other) for other in titles[name]}
    if first and not (sexes >= {"m", "f"}):
        given = "f" if first in FEMALE_NAMES else "m" if first in MALE_NAMES else None
        if given is None or _sex(title) in {None, given}:
            return f"{first} {name}"
    return node


def _only(counted: Counter[str]) -> str | None:
    """The one that all the others are too few beside."""
    (name, _), *others = counted.most_common(2)
    return name if not others else None


def _sex(title: str) -> Gender | None:
    return "f" if title in FEMALE_TITLES else "m" if title in MALE_TITLES else None


def is_town(first: str, second: str, counts: Counter[str], titled: Collection[str]) -> bool:
    """`In coming to Truro Penhallow had …`: the second is somebody by himself, far more often than the first."""
    if first.lower() in MALE_NAMES or first.lower() in FEMALE_NAMES:
        return False
    return is_listed(first.lower()) or second in titled or counts[second] >= _OFTEN * counts[first]


_OFTEN = 4
"""How many times more often a name stands than the town before it."""


def opens_sentence(flat: str, at: int, heads: set[int]) -> bool:
    """Whether a word stands where any word has a capital."""
    if at in heads:
        return True
    before = flat[max(0, at - 3) : at].rstrip()
    return not before or (before[-1] in "\"'.!?:;([—-" and not flat[max(0, at - 6) : at].rstrip().endswith(_SHORTENED))


_SHORTENED = ("Mr.", "Mrs.", "Dr.", "St.", "Ms.", "M.", "Mme.", "Capt.", "Col.", "Rev.", "Hon.", "Lt.", "Prof.", "Gen.")
SAID = re.compile(r"\b(?:said|asked|replied|cried|answered|whispered|murmured|exclaimed|shouted|added|returned)\s+\Z")
DOES = re.compile(
    r"\s+(?:\w+ly\s+)?(?:said|asked|replied|cried|answered|whispered|murmured|nodded|smiled|laughed|sighed|shrugged|"
    r"frowned|looked|turned|walked|sat|thought|felt|spoke|died|married|lived|had(?!\s+(?:been|seen|sent|given|"
    r"sheltered|brought|produced))|was\s+(?:born|tall|young|old|dead|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy)(?:-\w+)?(?=\s*[,.;]|\s+(?:and|years\s+old)\b)))\b"
    r"(?!\s+(?:in\s+ruins|been\s+built))|"
    r"'s?\s+(?:\w+\s+){0,2}(?:eyes?|face|hair|voice|hands?|heart|head|arms?|mother|father|sister|brother|wife|husband|"
    r"lips|cheeks?|shoulder|mind)\b"
)
