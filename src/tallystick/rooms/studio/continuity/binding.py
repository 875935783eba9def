"""Whose eyes, whose age: from a place in a sentence to the one person it can belong to, or to nobody.

Where two people could be meant, nobody is: a finding about the wrong person is worse than none.
"""

import re
from functools import lru_cache

from tallystick.rooms.studio.continuity.grouping import Gender
from tallystick.rooms.studio.continuity.people import Cast, Mention
from tallystick.rooms.studio.continuity.prose import Prose, Sentence
from tallystick.rooms.studio.continuity.vocabulary import ANYONE, MEN, WOMEN

_HE = frozenset({"he", "his", "him", "himself"})
_SHE = frozenset({"she", "her", "hers", "herself"})
_FURTHEST = 3
"""Sentences back that a pronoun may refer to."""
_INTRODUCED = re.compile(
    r"(?:\b(?:was|is|were|became|being)|,)\s+(?:\w+ly\s+)?(?:an?|the|one of the|his|her|their|my|"
    r"our)\s+(?:[\w'-]+,?\s+){0,5}?$"
)


_LEADING = re.compile(r"\W*(?:With|In|On|Behind|Beneath|Despite|[A-Z][a-z]+ing)\s+\Z")
_FINITE = re.compile(
    r"\b(?:he|she|they|it|I|we|you|who|which|was|were|had|has|is|are|did|would|could|said|came|went|saw|took|looked)\b",
    re.IGNORECASE,
)
_CLEFT = re.compile(r"\W*It\s+(?:was|is)\s+(?:chiefly\s+|only\s+|mostly\s+|\w+ly\s+)?(?:by|for|from|in|to|with)\s+\Z")
_THEN_HE = re.compile(
    r",\s+(?:(?:sat|stood|came|lay|knelt|waited|walked|rode|hung|leaned|leant|went|appeared)\s+)?(?:(?:old|poor|"
    r"young)\s+)?\Z"
)
_APART_FROM = re.compile(r"\s+(?:(?:a|the|his|her)\s+\w+\s+)?(?:from|with|out\s+of|under|beneath|through|behind)\s+\Z")
_GOVERNED = re.compile(
    r"\b(?:upon|on|at|to|towards?|for|with|by|from|before|behind|beside|near|past|over)\s+(?:the|an?|his|her)\s+"
    r"(?:\w+\s+)?\Z"
)


class Binder:
    """Finds owners in one file."""

    def __init__(self, prose: Prose, cast: Cast, *, pov: str | None = None) -> None:
        self.prose = prose
        self.cast = cast
        self._pov = pov
        self._seen: dict[int, list[Mention]] = {}

    def mentions(self, number: int) -> list[Mention]:
        """The names in the narration of a sentence."""
        held = self._seen.get(number)
        if held is None:
            sentence = self.prose.sentences[number]
            held = self._seen[number] = self.cast.named_in(self.prose, sentence.start, sentence.end)
        return held

    def named_before(self, number: int, at: int) -> Mention | None:
        """The name that ends directly before an offset (blanks apart)."""
        for mention in self.mentions(number):
            if mention.end <= at and not self.prose.told[mention.end : at].strip():
                return mention
        return None

    def named_from(self, number: int, at: int) -> Mention | None:
        """The name that begins directly after an offset (blanks apart)."""
        for mention in self.mentions(number):
            if mention.start >= at and not self.prose.told[at : mention.start].strip():
                return mention
        return None

    def pronoun(self, number: int, at: int, word: str) -> Mention | None:
        """Who `his` or `she` at an offset must be: the only one named, here or shortly before, who can be."""
        gender: Gender | None = "m" if word.lower() in _HE else "f" if word.lower() in _SHE else None
        if gender is None:
            return None
        sentence = self.prose.sentences[number]
        ahead = self._ahead(number, at, gender)
        if ahead is not None:
            return ahead
        if word.lower() not in {"he", "she"} and (subject := _subject_of(sentence, at, gender)) is not None:
            # `he turned upon the visitor those eyes of his`: whoever is the subject.
            at = sentence.start + subject
        found = [mention for mention in self.mentions(number) if mention.end <= at]
        texts = [sentence.text[: at - sentence.start]]
        back = number
        while back > 0 and number - back < _FURTHEST and self._same_paragraph(back - 1, sentence):
            back -= 1
            if self._fitting(found, gender):
                break
            found = [*self.mentions(back), *found]
            texts.insert(0, self.prose.sentences[back].text)
        fitting = self._fitting(found, gender)
        if len({mention.key for mention in fitting}) != 1 or _has_rival(" ".join(texts), gender):
            return None
        if number != back and not self._leads(fitting[-1]):
            return None
        return fitting[-1]

    def through_whose_eyes(self, number: int, at: int, word: str) -> Mention | None:
        """Whoever the scene is seen by, where a pronoun has nobody named before it in its paragraph."""
        gender: Gender = "m" if word.lower() in _HE else "f"
        sentence = self.prose.sentences[number]
        start = self.prose.paragraphs[sentence.paragraph][0]
        if self._pov is None or self.cast.gender(self._pov) != gender or self.cast.named_in(self.prose, start, at):
            return None
        return Mention(start=at, end=at, key=self._pov, name=self.cast.name_of(self._pov), is_possessive=False)

    def _ahead(self, number: int, at: int, gender: Gender) -> Mention | None:
        """`With her grey eyes Helen measured …`: the name follows."""
        sentence = self.prose.sentences[number]
        before = sentence.text[: at - sentence.start]
        if not (_LEADING.match(before) or _CLEFT.match(before) or self.fronted(number, at)):
            return None
        people = [mention for mention in self.mentions(number) if self.cast.is_person(mention.key)]
        fitting = self._fitting(people, gender)
        alone = len({mention.key for mention in people}) == 1 and len(fitting) == len(people)
        if not alone or people[0].is_possessive or _rivals(None).search(self.prose.told, at, people[0].start):
            return None
        return people[0]

    def fronted(self, number: int, at: int) -> Mention | None:
        """`Hatless, her black hair flying, Helen came …`: what stands before the subject is the subject's."""
        sentence = self.prose.sentences[number]
        before = sentence.text[: at - sentence.start]
        first = next(iter(self.mentions(number)), None)
        if first is None or first.start < at or first.is_possessive or not self.cast.is_person(first.key):
            return None
        other = _FINITE.search(before) or _has_rival(before, None)
        return None if other or not _THEN_HE.search(self.prose.told, sentence.start, first.start) else first

    def subject(self, number: int, at: int) -> Mention | None:
        """The only person named in the sentence before an offset, if no one else can be the subject there."""
        sentence = self.prose.sentences[number]
        found = [mention for mention in self.mentions(number) if mention.end <= at]
        people = [mention for mention in found if not mention.is_possessive]
        if len({mention.key for mention in found}) != 1 or len(people) == 0:
            return None
        before = sentence.text[: at - sentence.start]
        if _has_rival(before, None) or re.search(
            r"\b(?:he|she|him|they|them|I|me|we|us|it)\b", before[people[0].end - sentence.start :]
        ):
            return None
        return people[0]

    def _fitting(self, found: list[Mention], gender: Gender) -> list[Mention]:
        return [
            mention
            for mention in found
            if self.cast.gender(mention.key) in {gender, None} and self.cast.is_person(mention.key)
        ]

    def _leads(self, mention: Mention) -> bool:
        """A name that a later sentence's pronoun takes up stands as a subject, not as an owner."""
        return not mention.is_possessive

    def _same_paragraph(self, number: int, sentence: Sentence) -> bool:
        return self.prose.sentences[number].paragraph == sentence.paragraph


def _subject_of(sentence: Sentence, at: int, gender: Gender) -> int | None:
    """Where the pronoun stands that is the subject of the same clause."""
    before = sentence.text[: at - sentence.start]
    said = "he" if gender == "m" else "she"
    last = max((one.start() for one in re.finditer(rf"\b{said}\b", before, re.IGNORECASE)), default=-1)
    return last if last >= 0 and not re.search(r"[,;:—]|\b(?:and|but|who|that|when|as)\b", before[last:]) else None


@lru_cache(maxsize=4)
def _rivals(gender: Gender | None) -> re.Pattern[str]:
    words = [*ANYONE, *(MEN if gender == "m" else WOMEN if gender == "f" else MEN + WOMEN)]
    return re.compile(rf"\b(?:{'|'.join(words)})\b")


def _has_rival(text: str, gender: Gender | None) -> bool:
    """Whether somebody without a name could be meant instead: `the old woman`, `a stranger`."""
    return any(
        not (_INTRODUCED.search(text, 0, found.start()) or _is_dealt_with(text, found))
        for found in _rivals(gender).finditer(text)
    )


def _is_dealt_with(text: str, found: re.Match[str]) -> bool:
    """`the look that Mara bent upon the visitor from her grey eyes`: what she does it with is her own."""
    return (
        found.group() in ANYONE
        and _APART_FROM.match(text, found.end()) is not None
        and _GOVERNED.search(text, 0, found.start()) is not None
    )
