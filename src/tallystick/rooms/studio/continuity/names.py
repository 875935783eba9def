"""A name that is spelt otherwise once or twice. Two people with like names are two people.

A rare spelling counts as a slip only if it is close to a name the book uses all the time, differs the way slips and
variants do, and nothing in the book speaks for a second bearer.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import OSA

from tallystick.records import record
from tallystick.rooms.studio.continuity.gazetteer import is_listed
from tallystick.rooms.studio.continuity.namesakes import is_apart
from tallystick.rooms.studio.continuity.people import Cast
from tallystick.rooms.studio.continuity.prose import Prose, words_in
from tallystick.rooms.studio.continuity.rare_names import RARE_MEN, RARE_WOMEN
from tallystick.rooms.studio.continuity.verbs import IRREGULAR
from tallystick.rooms.studio.continuity.vocabulary import FEMALE_NAMES, MALE_NAMES, NOT_NAMES, TITLES

FEWEST = 4
"""Times a name must stand before another spelling of it is a slip; more in a long book, where rare names abound."""
WORDS_A_TIME = 15_000
"""A book of ten times so many words asks for ten times."""
MOST_SLIPS = 2
"""Times a slip may stand; what is written more often is meant."""
SHARE = 5
"""How many times more often the right spelling must stand."""
_FURTHEST = 2
"""Letters by which a slip may differ."""
_LONG = 7
_SHORT = 4
_KNOWN = (MALE_NAMES | FEMALE_NAMES) - RARE_MEN - RARE_WOMEN
_WORD = re.compile(r"(?<![\w'-])[A-ZÀ-Þ](?:\w|'(?=[A-ZÀ-Þ])|-(?=[A-ZÀ-Þ]))*\w(?![\w-])")
_TITLE = re.compile(r"\b([A-Z][a-z]+)\.?\s+\Z")
_AS_SOMEBODY = re.compile(
    r"'s\s|(?:,\s+who|\s+(?:\w+ly\s+|never\s+|always\s+)?(?:was|had|has|is|could|would|did|might|must|"
    rf"{'|'.join(IRREGULAR)}|[a-z]{{2,}}ed))\b"
)
"""What follows a name at the head of a sentence, where any word has a capital."""
_VOWELS = set("aeiouy")
_ENDINGS = frozenset(
    {*"snyaio", "es", "an", "ian", "ie", "ish", "ese", "en", "in", "na", "'s", "er", "on", "ia", "is", "us"}
)


@record
class Slip:
    """A name spelt two ways."""

    name: str
    variant: str
    count: int
    first: tuple[Prose, int] | None
    """Where the usual spelling stands first: the file and the offset; None: only on a card."""
    second: tuple[Prose, int]


def slips(proses: Sequence[Prose], cast: Cast) -> Iterator[Slip]:
    """Every rare spelling of a name."""
    index = _occurrences(proses, cast)
    counts = {word: len(places) for word, places in index.items()}
    established = _card_words(cast)
    fewest = max(FEWEST, words_in(proses) // WORDS_A_TIME)
    titled = {word: _titles(places) for word, places in index.items()}
    common = {word for word, count in counts.items() if count >= fewest or (count > 1 and titled[word])} | established
    by_length: dict[int, list[str]] = defaultdict(list)
    for word in sorted(common):
        by_length[len(word)].append(word)
    for word, count in counts.items():
        if count > MOST_SLIPS or word in established or len(word) < _SHORT - 1 or is_listed(word.lower()):
            continue
        near = [name for size in range(len(word) - 2, len(word) + 3) for name in by_length[size] if name != word]
        match = _meant(word, near, counts, established) or _titled_alike(word, near, counts, titled)
        if (
            match is None
            or (counts.get(match, 0) < fewest and match not in established and not titled[word] & titled[match])
            or is_apart(word, match, index, titled)
        ):
            continue
        usual = index.get(match, [])
        first = usual[0] if usual else None
        yield Slip(name=match, variant=word, count=counts.get(match, 0), first=first, second=index[word][0])


def _titles(places: Sequence[tuple[Prose, int]]) -> frozenset[str]:
    """The titles that a name bears: `Mrs. Villars`."""
    found = (_TITLE.search(prose.flat, max(0, at - 14), at) for prose, at in places)
    return frozenset(match.group(1).lower() for match in found if match and match.group(1).lower() in TITLES)


def _titled_alike(word: str, near: list[str], counts: dict[str, int], titled: dict[str, frozenset[str]]) -> str | None:
    """`Mrs. Vyllars` beside `Mrs. Villars`: one title and nearly one name are one person, though seldom named."""
    if counts[word] > 1 or not titled[word]:
        return None
    fitting = [
        name
        for name in near
        if counts.get(name, 0) > 1 and titled.get(name, frozenset()) & titled[word] and _is_slip(word, name)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _occurrences(proses: Sequence[Prose], cast: Cast) -> dict[str, list[tuple[Prose, int]]]:
    """Each capitalised word that is a name here → where it stands."""
    index: dict[str, list[tuple[Prose, int]]] = defaultdict(list)
    owners: set[str] = set()
    for prose in proses:
        for start, end in prose.paragraphs:
            for found in _WORD.finditer(prose.flat, start, end):
                word = found.group()
                lowered = word.lower()
                if lowered in NOT_NAMES or lowered in TITLES or word.isupper() or len(word) < _SHORT - 1:
                    continue
                index[word].append((prose, found.start()))
                if _AS_SOMEBODY.match(prose.flat, found.end()):
                    owners.add(word)
    return {word: places for word, places in index.items() if _is_used_as_name(word, cast, owners)}


def _is_used_as_name(word: str, cast: Cast, opened: set[str]) -> bool:
    """A word that the book also writes small is no name; a short one that only ever opens sentences may be any word."""
    return cast.is_name(word) and (cast.counts[word] > 0 or word in opened or len(word) >= _LONG)


def _card_words(cast: Cast) -> frozenset[str]:
    """The single names that the author's cards hold."""
    return frozenset(
        word
        for card in cast.cards.values()
        for name in (card.name, *card.aliases)
        for word in re.findall(r"[A-ZÀ-Þ][\w'-]*\w", name)
    )


def _meant(word: str, near: list[str], counts: dict[str, int], established: frozenset[str]) -> str | None:
    """The one common name that a rare word must be a slip for."""
    fitting = [
        name
        for name in near
        if (counts.get(name, 0) >= SHARE * counts[word] or name in established) and _is_slip(word, name)
    ]
    if len(fitting) != 1:
        fitting = [name for name in fitting if OSA.distance(word, name) == 1]
    return fitting[0] if len(fitting) == 1 else None


def _is_slip(word: str, name: str) -> bool:
    one, other = word.lower(), name.lower()
    distance = OSA.distance(one, other, score_cutoff=_FURTHEST)
    if distance > _FURTHEST or one == other or _is_inflected(one, other):
        return False
    if distance == _FURTHEST:
        return one[0] == other[0] and _differs_twice(one, other)
    if one in _KNOWN and other in _KNOWN:
        return _differs_between_names(one, other)
    if len(other) <= _SHORT or len(one) < _SHORT:
        return _sound(one) == _sound(other) or (len(one) >= _SHORT and _is_swap(one, other))
    if one in _KNOWN:
        return _sound(one) == _sound(other)
    return (
        _sound(one) == _sound(other) or _is_swap(one, other) or _is_c_for_k(one, other) or _is_slip_of_one(one, other)
    )


def _differs_twice(one: str, other: str) -> bool:
    """Two letters are a slip only if the name sounds the same, or is long and keeps its consonants."""
    if one in _KNOWN and other in _KNOWN:
        return False
    if min(len(one), len(other)) <= _SHORT:
        return False
    return _sound(one) == _sound(other) or (min(len(one), len(other)) > _LONG and _skeleton(one) == _skeleton(other))


def _differs_between_names(one: str, other: str) -> bool:
    """Two given names are two people, unless they are two spellings of one: `Ann`, `Anne`; `Catherine`, `Catharine`."""
    long = len(one) == len(other) > _LONG
    return _sound(one) == _sound(other) or (long and _is_slip_of_one(one, other, margin=2))


def _is_slip_of_one(one: str, other: str, *, margin: int = 1) -> bool:
    """One letter more, less or other, where such slips are made: not the first, and a consonant only in a long name."""
    if len(one) != len(other):
        longer, shorter = (one, other) if len(one) > len(other) else (other, one)
        at = next((place for place, sign in enumerate(shorter) if longer[place] != sign), len(shorter))
        return at > 0 and (at < len(shorter) or longer[-1] in "eth" or longer[-1] == longer[-2])
    at = next(place for place in range(len(one)) if one[place] != other[place])
    inside = 0 < at < len(one) - margin
    vowels = (one[at] in _VOWELS) + (other[at] in _VOWELS)
    if vowels:
        # Another vowel inside is a slip; a consonant for a vowel is one anywhere, since hardly any name has it.
        return at > 0 and (inside or (vowels == 1 and len(one) >= _LONG))
    return at > 0 and len(one) >= _LONG


def _is_c_for_k(one: str, other: str) -> bool:
    """`Darky` for `Darcy`: one letter written for the other, whatever it sounds like there."""
    return one != other and one[1:].replace("c", "k") == other[1:].replace("c", "k")


def _is_swap(one: str, other: str) -> bool:
    """Two neighbouring letters changed places."""
    return (
        len(one) == len(other) and one[0] == other[0] and sorted(one) == sorted(other) and OSA.distance(one, other) == 1
    )


def _is_inflected(one: str, other: str) -> bool:
    """`the Bennets`, `Roman` and `Romans`, `Swede` and `Sweden`: forms of one word, not slips."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    if longer.startswith(shorter):
        return longer[len(shorter) :] in _ENDINGS and longer[-1] != longer[-2]
    return {one[-3:], other[-3:]} == {"man", "men"}


def _sound(word: str) -> str:
    """A key under which spellings of one sound meet."""
    for old, new in (
        ("ph", "f"), ("ck", "k"), ("sch", "sh"), ("gh", "g"), ("th", "t"), ("wh", "w"), ("qu", "kw"), ("x", "ks"),
        ("ce", "se"), ("ci", "si"), ("cy", "si"), ("c", "k"), ("z", "s"), ("ey", "i"), ("ie", "i"), ("ei", "i"),
        ("y", "i"), ("ae", "e"), ("ai", "e"), ("ay", "e"),
    ):  # fmt: skip
        word = word.replace(old, new)
    word = re.sub(r"(.)\1+", r"\1", word)
    word = re.sub(r"(?<=[^aeiou])e\Z|h\Z|(?<=[^aeiou])h(?=[^aeiou]|\Z)", "", word)
    return re.sub(r"(?<=\w)h", "", word)


def _skeleton(word: str) -> str:
    return re.sub(r"(.)\1+", r"\1", "".join(sign for sign in word if sign not in _VOWELS and sign != "h"))
