"""Who and what the book names: people and things of the cards, and people whom only the text names."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from tallystick.reading.parser import ParsedText, ParsedWord
from tallystick.rooms.studio.book.model import CanonCard
from tallystick.rooms.studio.continuity.words import FEMALE, LADDERS, MALE
from tallystick.text.calendar_names import MONTHS, WEEKDAYS
from tallystick.text.words import fold_word, words

Gender = Literal["f", "m"]
_LONGEST = 5
"""Words of a name."""
_ARTICLES = {"the", "a", "an", "of", "de", "van", "von", "old", "young"}
_NAMING = {"name", "full name", "style", "style at first", "signs as", "called", "known as", "born as", "title"}
_FEWEST_VOTES = 2
_TITLE_VOTES = 4
_TITLED = r"(?:(?:Mr|Mrs|Dr|St|[A-Z])\.\s+)?"
_PART = r"[A-Z][\w\u2019'-]+"
_PROPER = re.compile(rf"{_TITLED}{_PART}(?:\s+(?:[A-Z]\.\s+)?(?:(?:de|van|von|of)\s+)?{_PART})*")


class Person:
    """Somebody or something with a name."""

    __slots__ = ("card", "gender", "key", "kind", "mentions", "name")

    def __init__(self, key: str, name: str, kind: str, card: str | None) -> None:
        self.key, self.name, self.kind, self.card = key, name, kind, card
        self.gender: Gender | None = None
        self.mentions = 0

    @property
    def is_person(self) -> bool:
        """Whether it can be `he` or `she`."""
        return self.kind == "character"


class Cast:
    """The names of a book, and whose they are."""

    def __init__(self, cards: Sequence[CanonCard]) -> None:
        self.people: dict[str, Person] = {}
        self._names: dict[tuple[str, ...], str] = {}
        self._shared: set[tuple[str, ...]] = set()
        self._votes: dict[str, Counter[str]] = defaultdict(Counter)
        self._listed: set[tuple[str, ...]] = set()
        self._titles: dict[tuple[str, ...], set[str]] = defaultdict(set)
        """Surname → the titles it is given."""
        for card in cards:
            self.people[card.path] = Person(card.path, plain_name(card.name), card.kind, card.path)
        for strength in range(3):
            for card in cards:
                for name in _names_of(card, strength):
                    self._add(name, card.path, weak=strength > 0)
        for card in cards:
            if card.kind == "character":
                self._vote_by_card(card)

    def _add(self, name: str, key: str, *, weak: bool) -> None:
        folded = _folded(name)
        if not folded or folded in self._shared:
            return
        held = self._names.get(folded)
        if held is None:
            self._names[folded] = key
        elif held != key and weak and len(folded) == 1 and self.people[held].card and folded not in self._listed:
            # A surname that two cards bear is nobody's, unless one of them lists it by itself.
            del self._names[folded]
            self._shared.add(folded)
        if not weak:
            self._listed.add(folded)

    def _vote_by_card(self, card: CanonCard) -> None:
        text = " ".join(card.source.lines)
        for word in words(text):
            if word in {"he", "his", "him"}:
                self._votes[card.path]["m"] += 1
            elif word in {"she", "her", "hers"}:
                self._votes[card.path]["f"] += 1

    def learn(self, texts: Iterable[ParsedText], cards: Iterable[ParsedText] = ()) -> None:
        """Read the names that no card bears, and who is `he` and who `she`; a card's word for a name is enough."""
        kept, carded = list(texts), list(cards)
        self._learn_names(kept, carded)
        for text in kept:
            self._vote(text)
        for folded, key in self._names.items():
            sex = "f" if folded[0] in FEMALE else "m" if folded[0] in MALE else None
            if sex is not None and len(folded) > 1 and folded[0] in LADDERS:
                self._votes[key][sex] += _TITLE_VOTES
        for key, votes in self._votes.items():
            (best, most), *rest = [*votes.most_common(2), ("", 0)]
            if most >= _FEWEST_VOTES and most >= 3 * rest[0][1]:
                self.people[key].gender = "f" if best == "f" else "m"

    def _learn_names(self, texts: Iterable[ParsedText], cards: Iterable[ParsedText]) -> None:
        runs: Counter[tuple[str, ...]] = Counter()
        articled: Counter[tuple[str, ...]] = Counter()
        inside: Counter[tuple[str, ...]] = Counter()
        written: dict[tuple[str, ...], str] = {}
        for text, least in (*((text, 1) for text in texts), *((text, 2) for text in cards)):
            for run in proper_runs(text):
                name = " ".join(word.text for word in run)
                folded = _folded(name)
                if len(folded) < least or (len(folded) == 1 and folded[0] in _CALENDAR | LADDERS.keys()):
                    continue
                runs[folded] += least
                if folded[0] in LADDERS and len(folded) > 1:
                    self._titles[folded[1:]].add(folded[0])
                articled[folded] += run[0].index > 0 and text.words[run[0].index - 1].lower == "the"
                inside[folded] += run[-1].relation == "pobj" and run[-1].head.lower in _INSIDE
                written.setdefault(folded, name)
        # Full names first, then surnames, then titles before them: `Mr. Hale` is Peter Hale if there is one Hale.
        for folded, count in sorted(runs.items(), key=lambda one: (one[0][0] in LADDERS, -len(one[0]))):
            if count > 1 and self._owner(folded) is None and folded not in self._shared:
                kind = (
                    "location"
                    if 2 * inside[folded] > count
                    else "misc"
                    if 2 * articled[folded] > count
                    else "character"
                )
                self._name(folded, written[folded], kind if folded[0] not in LADDERS else "character")

    def _is_family(self, surname: tuple[str, ...]) -> bool:
        """Whether a surname is given to a man and to a woman: then a title before it names one of them."""
        return {"f", "m"} <= {
            "f" if title in FEMALE else "m" if title in MALE else "" for title in self._titles[surname]
        }

    def _name(self, folded: tuple[str, ...], name: str, kind: str) -> None:
        key = "·".join(folded)
        title = folded[0] if folded[0] in LADDERS else None
        person = Person(key, name, kind, None)
        if title is not None:
            person.gender = "f" if title in FEMALE else "m" if title in MALE else None
        longer = [other for other in self._names if len(other) > len(folded) and folded[-1:] == other[-1:]]
        if title is None and len(folded) == 1:
            longer += [other for other in self._names if other[0] == folded[0] and len(other) > 1]
            owners = {self._names[other] for other in longer if other[0] not in LADDERS}
            if len(owners) == 1:
                self._names[folded] = owners.pop()
                return
        self.people[key] = person
        self._names[folded] = key

    def _vote(self, text: ParsedText) -> None:
        last: set[str] = set()
        for sentence in text.sentences:
            found = {
                mention
                for word in sentence
                if word.pos == "PROPN" and (mention := self._names.get((fold_word(word.text),))) is not None
            }
            said = {("f" if word.lower in {"she", "her"} else "m") for word in sentence if word.lower in _PRONOUNS}
            whose = found or last
            if len(whose) == 1 and len(said) == 1:
                self._votes[next(iter(whose))][said.pop()] += 1
            last = found

    def _owner(self, folded: tuple[str, ...]) -> str | None:
        if folded in self._names:
            return self._names[folded]
        if folded and folded[0] in LADDERS and len(folded) > 1:
            return self._titled(folded)
        return None

    def _titled(self, folded: tuple[str, ...]) -> str | None:
        """`Captain Thorne` is Thorne; `Mrs. Thorne` is not, where Thorne is a man or has a card without a `Mrs.`."""
        key = self._names.get(folded[1:])
        if key is None or (self.people[key].card is None and self._is_family(folded[1:])):
            return None
        title, person = folded[0], self.people[key]
        sex = "f" if title in FEMALE else "m" if title in MALE else None
        if sex is not None and person.gender is not None and person.gender != sex:
            return None
        if title in {"mrs", "lady", "lord"} and len(folded) == 2 and folded[1:] not in self._listed:  # noqa: PLR2004
            return None
        if title == "mr" and person.gender == "f":
            return None
        return key

    def at(self, sentence: Sequence[ParsedWord], start: int) -> tuple[int, Person, str | None] | None:
        """The name that begins at a word: how many words, whose it is, and the title it is given."""
        for length in range(min(_LONGEST, len(sentence) - start), 0, -1):
            run = sentence[start : start + length]
            if not (run[0].text[:1].isalnum() and run[-1].text[:1].isalnum()):
                # A comma behind a name is no part of it.
                continue
            if not run[0].text[:1].isupper() and length == 1:
                return None
            folded = _folded(" ".join(word.text for word in run))
            if not folded or len(folded) != sum(1 for word in run if any(map(str.isalnum, word.text))):
                continue
            key = self._owner(folded)
            if key is not None and (run[-1].text[:1].isupper() or length > 1):
                return length, self.people[key], folded[0] if folded[0] in LADDERS else None
        return None

    def resolve(self, text: str | None) -> Person | None:
        """The person a loose piece of text names first: `Mina Murray's Journal`, `Marta`."""
        if not text:
            return None
        parts = [part for part in re.split(r"[^\w’'.-]+", text) if part]  # noqa: RUF001
        for start in range(len(parts)):
            for length in range(min(_LONGEST, len(parts) - start), 0, -1):
                key = self._owner(_folded(re.sub(r"[’']s\b", "", " ".join(parts[start : start + length]))))  # noqa: RUF001
                if key is not None:
                    return self.people[key]
        return None

    def names(self) -> dict[tuple[str, ...], str]:
        """Every name, folded, and whose it is."""
        return dict(self._names)


_INSIDE = {"in", "near", "through", "towards"}
_CALENDAR = {*MONTHS, *WEEKDAYS}
_PRONOUNS = {"he", "his", "him", "she", "her"}


def plain_name(name: str) -> str:
    """The name before a comma: `Arthur Holt, afterwards Lord Ray`."""
    return name.split(",", maxsplit=1)[0].strip()


def proper_runs(text: ParsedText) -> Iterable[list[ParsedWord]]:
    """Runs of proper nouns that are not only the first word of a sentence."""
    run: list[ParsedWord] = []
    for word in [*text.words, None]:
        fits = word is not None and word.pos == "PROPN" and word.text[:1].isupper() and len(word.text) > 1
        goes_on = word is not None and run and (word.index, word.sentence) == (run[-1].index + 1, run[-1].sentence)
        if word is not None and fits and (not run or goes_on):
            run.append(word)
            continue
        if run and not (len(run) == 1 and run[0].text.isupper()):
            yield run
        run = [word] if word is not None and fits else []


def _names_of(card: CanonCard, strength: int) -> Iterable[str]:
    """A card's names: 0 as it lists them, 1 as its other lines give them, 2 the parts of them."""
    name = plain_name(card.name)
    if strength == 0:
        yield from (name, *card.aliases)
        yield from _naming_lines(card)
        return
    full = [word for word in name.split() if fold_word(word.strip(".,")) not in LADDERS]
    if strength == 1 and len(full) < len(name.split()):
        yield " ".join(full)
    if card.kind == "location" and name.lower().startswith("the "):
        yield name[4:]
    if card.kind == "character" and strength == 2 and len(full) > 1:  # noqa: PLR2004
        for part in (full[0], full[-1]):
            if len(part.strip(".,")) > 2 and part.lower() not in _ARTICLES:  # noqa: PLR2004
                yield part
        if len(full) > 2 and full[-2].lower() in _ARTICLES:  # noqa: PLR2004
            yield " ".join(full[-2:])


def _naming_lines(card: CanonCard) -> Iterable[str]:
    for line in card.source.lines:
        key, colon, value = line.strip(" |*-").replace("|", ":", 1).partition(":")
        if colon and key.strip(" *_").casefold() in _NAMING and card.kind == "character":
            yield from (found.group() for found in _PROPER.finditer(re.sub(r"SCN-\S+", "", value)))
    if "," in card.name:
        yield from (found.group() for found in _PROPER.finditer(card.name.partition(",")[2]))


def _folded(name: str) -> tuple[str, ...]:
    return tuple(word for word in words(name.replace("-", " ")) if word != "the")
