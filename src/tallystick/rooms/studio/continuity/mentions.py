"""Who is meant where: names, pronouns and the one who says `I`, in a parsed paragraph."""

from collections.abc import Sequence

from tallystick.reading.parser import ParsedText, ParsedWord
from tallystick.records import record
from tallystick.rooms.studio.continuity.cast import Cast, Person
from tallystick.rooms.studio.continuity.passages import Passage
from tallystick.rooms.studio.continuity.words import FEMALE, MALE

_HE, _SHE = {"he", "him", "his", "himself"}, {"she", "her", "hers", "herself"}
_I = {"i", "me", "my", "mine", "myself"}
_AMOUNTS = {"pair", "mass", "head", "mop", "sweep"}
_REACH = 3
"""Sentences back that a pronoun looks for its name."""
_OTHERS = {"man", "woman", "boy", "girl", "lady", "gentleman", "doctor", "fellow", "stranger", "driver", "child", "lad"}


@record
class Mention:
    """Somebody is meant at a word."""

    person: Person
    word: ParsedWord
    """The last word of a name, or the pronoun."""
    first: int
    """Index of its first word."""
    title: str | None
    sure: bool
    """Whether nobody else can be meant."""
    is_name: bool
    sex: str | None = None
    """Of a pronoun."""


class ParsedPassage:
    """A paragraph with its grammar and mentions."""

    def __init__(self, passage: Passage, parsed: ParsedText) -> None:
        self.passage, self.parsed = passage, parsed
        self.mentions: list[Mention] = []
        self.by_word: dict[int, Mention] = {}

    def add(self, mention: Mention) -> None:
        """Keep a mention."""
        self.mentions.append(mention)
        for index in range(mention.first, mention.word.index + 1):
            self.by_word[index] = mention

    def mention_of(self, word: ParsedWord | None) -> Mention | None:
        """Who is meant by a word, or by the noun that a relative pronoun stands for."""
        if word is None:
            return None
        if (found := self.by_word.get(word.index)) is not None:
            return found
        if word.tag in {"WP", "WP$", "WDT"}:
            clause = next((one for one in (word, *word.ancestors()) if one.relation == "relcl"), None)
            return self.by_word.get(clause.head.index) if clause is not None else None
        for child in word.children:
            # `the harbour clerk, Marta` and `my friend Peter Hawkins` mean the one they name.
            if child.relation == "appos" and (named := self.by_word.get(child.index)) is not None and named.is_name:
                return named
        return None


def name_mentions(cast: Cast, passages: Sequence[ParsedPassage]) -> None:
    """Find all names."""
    for passage in passages:
        for sentence in passage.parsed.sentences:
            at = 0
            while at < len(sentence):
                found = cast.at(sentence, at)
                if found is None:
                    at += 1
                    continue
                length, person, title = found
                if _is_namesake(sentence, at + length):
                    at += length
                    continue
                person.mentions += 1
                word = sentence[at + length - 1]
                passage.add(
                    Mention(
                        person=person,
                        word=word,
                        first=sentence[at].index,
                        title=title,
                        sure=True,
                        is_name=True,
                    )
                )
                at += length


def _is_namesake(sentence: Sequence[ParsedWord], after: int) -> bool:
    """`Tobias the elder` is another Tobias."""
    following = " ".join(word.lower for word in sentence[after : after + 2])
    return following.startswith(("the elder", "the younger", "the first", "the second", "senior", "junior"))


def pronoun_mentions(cast: Cast, passages: Sequence[ParsedPassage]) -> None:
    """Find whom the pronouns of the narration mean."""
    before: list[tuple[int, Mention]] = []
    scene = ""
    count = 0
    for passage in passages:
        if passage.passage.scene.path != scene:
            before, scene = [], passage.passage.scene.path
        teller = cast.resolve(passage.passage.teller)
        for sentence in passage.parsed.sentences:
            count += 1
            before = [(number, mention) for number, mention in before if count - number <= _REACH]
            for word in sentence:
                mention = _meant(passage, word, teller, [one for _, one in before])
                if mention is not None:
                    before.append((count, mention))


def _meant(passage: ParsedPassage, word: ParsedWord, teller: Person | None, before: list[Mention]) -> Mention | None:
    named, spoken = passage.by_word.get(word.index), passage.passage.is_spoken(word.start)
    if named is not None or spoken:
        return named if named is not None and named.word is word and not spoken and named.person.is_person else None
    if word.lower in _I and word.pos == "PRON" and teller is not None:
        passage.add(Mention(person=teller, word=word, first=word.index, title=None, sure=True, is_name=False))
    sex = "m" if word.lower in _HE else "f" if word.lower in _SHE else None
    return _pronoun(passage, word, sex, teller, before) if sex is not None else None


def _pronoun(
    passage: ParsedPassage, word: ParsedWord, sex: str, teller: Person | None, before: list[Mention]
) -> Mention | None:
    other = {one.person.key for one in before if one.sex not in {sex, None} and one.person.gender is None}
    fitting = [
        one
        for one in before
        if one.person.gender in {sex, None} and one.person is not teller and one.person.key not in other
    ]
    if not fitting:
        return None
    bound = _bound(passage, word, sex)
    best = bound or _best(fitting, sex)
    near = {one.person.key for one in fitting if one.person.gender == sex or len(fitting) == 1 or one is fitting[-1]}
    sure = bound is not None or (near == {best.person.key} and best.sure and not _stranger(passage, word, sex))
    found = Mention(person=best.person, word=word, first=word.index, title=None, sure=sure, is_name=False, sex=sex)
    passage.add(found)
    return found


def _bound(passage: ParsedPassage, word: ParsedWord, sex: str) -> Mention | None:
    """The named subject of the pronoun's own clause: `Mara pushed her hair back`."""
    if word.relation != "poss":
        return None
    subject, genders = subject_of(word), {sex, None}
    if subject is word.head and subject.head.relation in {"conj", "ccomp", "advcl"}:
        # `Mara smiled, and her brown eyes smiled too`
        subject, genders = subject.head.head.child("nsubj"), {sex}
    found = passage.mention_of(subject)
    if found is None or not found.sure or not found.person.is_person or found.word.index > word.index:
        return None
    return found if found.person.gender in genders else None


def _best(fitting: list[Mention], sex: str) -> Mention:
    """The nearest one of known sex that is the subject of its clause, or else the nearest."""
    known = [one for one in fitting if one.person.gender == sex] or fitting
    subjects = [one for one in known if one.word.relation in {"nsubj", "nsubjpass"}]
    return (subjects or known)[-1]


def _stranger(passage: ParsedPassage, word: ParsedWord, sex: str) -> bool:
    """Whether somebody without a name, whom it could mean, stands before it in its sentence or the one before."""
    theirs, other = (MALE, FEMALE) if sex == "m" else (FEMALE, MALE)
    fitting = theirs | (_OTHERS - other)
    sentences = passage.parsed.sentences[max(0, word.sentence - 1) : word.sentence + 1]
    return any(
        one.index < word.index and one.pos == "NOUN" and one.lemma in fitting
        for sentence in sentences
        for one in sentence
    )


def subject_of(word: ParsedWord) -> ParsedWord | None:
    """The subject of the clause that a word stands in."""
    verb = next((one for one in (word, *word.ancestors()) if one.pos in {"VERB", "AUX"}), None)
    steps = 0
    while verb is not None and steps < 4:  # noqa: PLR2004
        found = verb.child("nsubj", "nsubjpass")
        if found is not None:
            return found
        if verb.relation not in {"conj", "xcomp", "advcl", "acl"}:
            return None
        if verb.relation == "acl":
            return verb.head
        verb, steps = verb.head, steps + 1
    return None


def owner_of(passage: ParsedPassage, word: ParsedWord) -> Mention | None:
    """Whose a thing is: `her eyes`, `Mara's eyes`, `the eyes of Mara`, `Mara had … eyes`, `Mara, with … eyes`."""
    for child in word.children:
        if child.relation == "poss":
            return passage.mention_of(child)
        if child.relation == "prep" and child.lower == "of" and (named := child.child("pobj")) is not None:
            return passage.mention_of(named)
    head = word.head
    amount = word.relation == "pobj" and head.lower == "of" and head.head.lemma in _AMOUNTS
    if word.relation == "conj" or amount:
        return owner_of(passage, head.head if amount else head)
    if word.relation == "dobj" and head.lemma in {"have", "possess", "wear"}:
        return passage.mention_of(subject_of(head))
    if word.relation == "pobj" and head.lower == "with":
        return who_is(passage, head.head)
    return None


def who_is(passage: ParsedPassage, word: ParsedWord) -> Mention | None:
    """Whom a noun describes: itself, the one it is an apposition of, or the subject of `is`."""
    described: ParsedWord | None = None
    if word.relation == "appos":
        described = word.head
    elif word.relation in {"attr", "acomp"} and word.head.lemma == "be":
        described = word.head.child("nsubj")
    return passage.mention_of(word) or passage.mention_of(described)
