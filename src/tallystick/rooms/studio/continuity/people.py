"""Who is named in the book, under which names, and whether a name is a man's or a woman's.

Two names are taken for one person only where the book leaves no choice: `Mara` and `Mara Voss` while there is no other
Mara, `Darcy` and `Mr. Darcy` while no other man bears the name. What the author's cards say goes before all of it.
"""

import re
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tallystick.records import record
from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.continuity import name_signs as signs
from tallystick.rooms.studio.continuity.grouping import (
    DOES,
    SAID,
    TITLED,
    Gender,
    grouped,
    is_town,
    names_of,
    node_of,
    opens_sentence,
)  # fmt: skip
from tallystick.rooms.studio.continuity.prose import HIDDEN, Prose
from tallystick.rooms.studio.continuity.vocabulary import (
    FEMALE_NAMES,
    FEMALE_TITLES,
    MALE_NAMES,
    MALE_TITLES,
    NOT_NAMES,
    NUMBER,
    OPENERS,
    ORDINAL,
    TITLES,
)

_WORD = r"[A-ZÀ-Þ](?:\w|'(?=[A-ZÀ-Þ])|-(?=[A-ZÀ-Þ]))*\w"
_TITLE_AHEAD = rf"(?!(?:{TITLED})\.?\s+[A-ZÀ-Þ])"
NAME = (
    rf"(?:(?:{TITLED})\.?\s+){{0,4}}{_WORD}(?:\s+{_TITLE_AHEAD}(?:(?:de|du|la|le|van|von|der|den)\s+)?{_WORD}){{0,3}}"
)
"""A run of capitalised words, with a title if there is one. `Cast` says what of it is a name."""
_MENTION = re.compile(rf"(?<![\w'-]){NAME}(?!-[a-z])")
_CAPITAL = re.compile(rf"(?<![\w'-]){_WORD}(?!-[a-z])")
_SURNAME = re.compile(rf"\b(?:{TITLED})\.?\s+({_WORD})")
_LOWER = re.compile(r"(?<![\w'-])[a-zà-þ][\w-]*\w")
_PRONOUNS = re.compile(r"\b(?:(he|him|his|himself)|(she|her|hers|herself))\b")
_POSSESSIVE = re.compile(r"'s?(?!\w)")
_GIVEN = 2
_SURE = 5
"""Pronouns that it takes to make a man's name a woman's; two may stand there by chance."""


@record
class Mention:
    """A name where it stands."""

    start: int
    end: int
    key: str
    """Who is meant."""
    name: str
    is_possessive: bool


Run = tuple[int, int, str | None, tuple[str, ...]]
"""Start, end, title and words of a name as it stands."""


class Cast:
    """All who are named in some files."""

    def __init__(self, proses: Sequence[Prose], cards: Sequence[CanonCard] = ()) -> None:
        self.cards = {card.path: card for card in cards}
        self._carded = names_of(cards)
        self.counts: Counter[str] = Counter()
        """Each single name → how often it stands where only a name is capitalised."""
        self._lower: Counter[str] = Counter()
        self._titled: set[str] = set()
        """Single names that stand after a title."""
        for prose in proses:
            self._count(prose)
        self._runs = {prose.path: list(self._named(prose.flat)) for prose in proses}
        self._starts = {path: array("L", [run[0] for run in runs]) for path, runs in self._runs.items()}
        self._keys = grouped(Counter((run[2], run[3]) for runs in self._runs.values() for run in runs))
        self._votes: dict[str, Counter[Gender]] = defaultdict(Counter)
        self._heard: Counter[str] = Counter()
        self._placed: Counter[str] = Counter()
        for prose in proses:
            self._listen(prose)

    def mentions(self, text: str) -> list[Mention]:
        """The names in any text, in order."""
        return [self._mention(text, run) for run in self._named(text)]

    def named_in(self, prose: Prose, start: int, end: int, *, spoken: bool = False) -> list[Mention]:
        """The names between two offsets of a file's prose; those in speech only if asked for."""
        starts = self._starts.get(prose.path)
        if starts is None:
            text = (prose.flat if spoken else prose.told)[start:end]
            return [_moved(mention, start) for mention in self.mentions(text)]
        runs = self._runs[prose.path][bisect_left(starts, start) : bisect_left(starts, end)]
        flat = prose.flat
        return [self._mention(flat, run) for run in runs if spoken or prose.told[run[0]] != HIDDEN]

    def key_of(self, title: str | None, words: tuple[str, ...]) -> str:
        """The one key of a person, whichever of his names is used."""
        whole = " ".join(words).casefold()
        for part in (whole, words[0].casefold()):
            path = self._carded.get(part)
            if path is not None and (part == whole or self._may_be(path, words)):
                return path
        node = node_of(title, words)
        return self._keys.get(node, node)

    def _may_be(self, path: str, words: tuple[str, ...]) -> bool:
        """`Mara Voss` is not the Mara Lind of a card; where the card gives one name only, she may be."""
        names = " ".join((self.cards[path].name, *self.cards[path].aliases)).casefold().split()
        return len(self.cards[path].name.split()) == 1 or words[-1].casefold() in names

    def key_of_name(self, name: str) -> str | None:
        """The key of a name as written; None where it is no name."""
        found = self.mentions(name)
        return found[0].key if found else self._carded.get(name.casefold())

    def name_of(self, key: str) -> str:
        """What somebody is called: as the card has it, or as the text has."""
        return self.cards[key].name if key in self.cards else key.title()

    def gender(self, key: str) -> Gender | None:
        """By title, by the pronouns that follow the name, by the given name."""
        votes = self._votes.get(key)
        if votes and votes.total() >= (_SURE if key.partition(" ")[0] in _ONE_SEX else _GIVEN):
            (first, count), *_ = votes.most_common(1)
            if count * 4 >= votes.total() * 3:
                return first
        name = self.cards[key].name if key in self.cards else key
        for word in re.findall(r"\w+", name.lower()):
            if word in FEMALE_TITLES or (word in FEMALE_NAMES and word not in MALE_NAMES):
                return "f"
            if word in MALE_TITLES or word in MALE_NAMES:
                return "m"
        return votes.most_common(1)[0][0] if votes else None

    def is_person(self, key: str) -> bool:
        """Whether the book treats the name as somebody: it speaks, owns a face, or bears a title."""
        if key in self.cards:
            return self.cards[key].kind == "character"
        first = key.partition(" ")[0]
        if first in signs.PLAIN_TITLES:
            # `The pride was strong in Miss Smith`.
            return True
        if self._heard[key] > 0 or self._placed[key] > 0:
            return self._heard[key] * 2 >= self._placed[key]
        return first in TITLES or first in _GIVEN_NAMES

    def acts(self, key: str) -> bool:
        """Whether the name speaks or acts anywhere, whatever it looks like."""
        return self._heard[key] * 2 > self._placed[key]

    def is_known(self, key: str) -> bool:
        """Whether the name speaks or acts more than once, or is on a card."""
        return key in self.cards or self._heard[key] > 1

    def is_visited(self, key: str) -> bool:
        """Whether anybody or anything is in it, so that it must be a place."""
        return self._placed[key] > 0

    def people(self) -> list[tuple[str, int]]:
        """The people of the book and how much they do in it, the busiest first."""
        return [(key, count) for key, count in self._heard.most_common() if count > 1 and self.is_person(key)]

    def places(self) -> list[tuple[str, int]]:
        """What the book treats as a place, the most visited first."""
        return [(key, count) for key, count in self._placed.most_common() if not self.is_person(key)]

    def is_name(self, word: str) -> bool:
        """Whether a capitalised word is a name in this book, not merely a word at the head of a sentence."""
        lowered = word.lower()
        if lowered in NOT_NAMES:
            return lowered in self._carded
        if word.isupper() and len(word) > 1:
            return False
        if lowered.endswith(signs.NO_NAME) and not self.counts[word] and lowered not in _GIVEN_NAMES:
            # `Slowly Mara turned`, `Hatless, Mara ran`: a word that the book happens to use but once.
            return False
        if _COUNTS.fullmatch(lowered) or (lowered in OPENERS and not self.counts[word]):
            return False
        return self._lower[lowered] <= self.counts[word] // 2

    def _mention(self, text: str, run: Run) -> Mention:
        start, end, title, words = run
        key = self.key_of(title, words)
        titled = title is not None and signs.TITLED_SO.search(text, max(0, start - 12), start) is not None
        if titled or signs.ANOTHER.search(text, max(0, start - 10), start) or signs.THE_OTHER.match(text, end):
            key = f"{key} (another)"
        return Mention(
            start=start, end=end, key=key, name=" ".join(text[start:end].split()),
            is_possessive=_POSSESSIVE.match(text, end) is not None,
        )  # fmt: skip

    def _count(self, prose: Prose) -> None:
        heads = {sentence.start for sentence in prose.sentences}
        flat = prose.flat
        for found in _CAPITAL.finditer(flat):
            word = found.group()
            if not opens_sentence(flat, found.start(), heads) and not word.isupper():
                self.counts[word] += 1
        self._lower.update(_LOWER.findall(flat))
        self._titled.update(_SURNAME.findall(flat))

    def _named(self, text: str) -> Iterator[Run]:
        for found in _MENTION.finditer(text):
            yield from self._in_run(found)

    def _in_run(self, run: re.Match[str]) -> Iterator[Run]:
        """What of a run of capitalised words is a name: `Then Mr. Darcy` is `Mr. Darcy`."""
        title: str | None = None
        words: list[str] = []
        start = end = 0
        for part in _CAPITAL.finditer(run.group()):
            word = part.group()
            lowered = word.lower()
            if lowered in TITLES and not words and not (title in signs.PLAIN_TITLES and part.end() == len(run.group())):
                title, start = lowered, part.start()
            elif self.is_name(word) or (
                # `Miss King`: a title that ends the name is none.
                title is not None
                and not words
                and (lowered not in NOT_NAMES or lowered in TITLES)
                and len(word) > _GIVEN
            ):
                if words and title is None and self._is_at_a_place(run, words, word):
                    # `At Hull Helen took the ferry`: a place, and then a name.
                    yield run.start() + start, run.start() + end, None, tuple(words)
                    words = []
                # `Miss Sharp` is a name though sharp is a word; after a title nothing else is written so.
                start = part.start() if not words and title is None else start
                words.append(word)
                end = part.end()
                if lowered not in signs.ADDRESSES or len(words) == 1:
                    continue
                # `From his windows in Mulberry Gardens Weena could see …`: a street ends its name.
                yield run.start() + start, run.start() + end, title, tuple(words)
                title, words = None, []
            elif words:
                yield run.start() + start, run.start() + end, title, tuple(words)
                title, words = None, []
            else:
                title = None
        if words:
            yield run.start() + start, run.start() + end, title, tuple(words)

    def _is_at_a_place(self, run: re.Match[str], words: list[str], word: str) -> bool:
        if not signs.AT_A_PLACE.search(run.string, max(0, run.start() - 12), run.start()):
            return False
        return word.lower() in _GIVEN_NAMES or (len(words) == 1 and is_town(words[0], word, self.counts, self._titled))

    def _listen(self, prose: Prose) -> None:
        """Who acts as a person does, and which pronoun follows whom."""
        told = prose.told
        for mention in self.named_in(prose, 0, len(told)):
            if (DOES.match(told, mention.end) and not _hangs_on(told, mention)) or SAID.search(
                told, max(0, mention.start - 14), mention.start
            ):
                self._heard[mention.key] += 1
            elif not mention.is_possessive and signs.INSIDE.search(told, max(0, mention.start - 14), mention.start):
                self._placed[mention.key] += 1
        for sentence in prose.sentences:
            after = _PRONOUNS.search(sentence.text)
            if after is None:
                continue
            mentions = self.named_in(prose, sentence.start, sentence.end)
            if len({mention.key for mention in mentions}) == 1:
                after = _PRONOUNS.search(sentence.text, mentions[0].end - sentence.start)
                if after:
                    self._votes[mentions[0].key]["m" if after.group(1) else "f"] += 1


_COUNTS = re.compile(rf"{NUMBER}|{ORDINAL}")
_GIVEN_NAMES = MALE_NAMES | FEMALE_NAMES
_ONE_SEX = MALE_NAMES ^ FEMALE_NAMES


def _hangs_on(told: str, mention: Mention) -> bool:
    """`The nurse at Truro had …`: the verb is the nurse's."""
    return (
        not mention.is_possessive and signs.HANGS_ON.search(told, max(0, mention.start - 8), mention.start) is not None
    )


def _moved(mention: Mention, by: int) -> Mention:
    return replace(mention, start=mention.start + by, end=mention.end + by)
