"""Noun phrases of a parsed sentence: whom they name, whose they are, and what their words are without the rest."""

from collections.abc import Iterable, Iterator

from tallystick.reading.parser import ParsedWord
from tallystick.records import record
from tallystick.rooms.memory.ids import possessed
from tallystick.rooms.memory.ontology.attributes import OTHER_SPELLINGS, Attribute
from tallystick.rooms.memory.ontology.lexicon import Lexicon
from tallystick.text.calendar_names import MONTHS, WEEKDAYS

SPEAKER = frozenset({"i", "we", "me", "us", "myself"})
_THIRD = frozenset({"he", "she", "it", "they", "him", "her", "them", "his", "hers", "its", "their", "theirs"})
SPEAKERS_OWN = frozenset({"my", "our"})
OTHERS_OWN = frozenset({"his", "her", "their", "its", "your"})
_NOBODY = """
someone somebody something anyone anybody anything everyone everybody everything nobody none nothing who which what that
this these those it there one you many most some all both each people others
"""
NOBODY = frozenset(_NOBODY.split())
"""Words that name nobody in particular."""
_OUTSIDE = frozenset({"relcl", "acl", "appos", "punct", "cc", "conj", "parataxis", "advcl", "preconj", "mark", "case"})
"""Relations of words that stand with a noun but are no part of its name."""
_BREAKS = frozenset({",", ";", ":", "–", "—"})  # noqa: RUF001 - both dashes stand in texts
"""Signs after which a phrase ends."""
_INNER = frozenset({"-", "/"})
"""Signs inside a word."""
_DETERMINERS = frozenset({"a", "an", "the", "some", "my", "our"})
_TIME_NOUNS = """
day week month year weekend morning afternoon evening night noon midnight spring summer autumn fall winter today
tomorrow tonight yesterday hour minute o'clock am pm a.m. p.m.
"""
_TIMES = (
    frozenset(_TIME_NOUNS.split()) | frozenset(MONTHS) | frozenset(WEEKDAYS) | frozenset(f"{day}s" for day in WEEKDAYS)
)
HAVING = frozenset({"have", "get", "adopt", "buy"})
"""Verbs whose object may be told by its noun: relatives, pets, appointments."""
_PARENTS = frozenset({"mother", "father", "relative"})
_YEAR_DIGITS = 4
_CLOCK = frozenset({"at", "by", "from", "until", "till"})
"""Prepositions after which a number is an hour."""


@record
class Noun:
    """What a noun phrase names."""

    text: str
    """Its words; with «I» and «my» as the speaker."""
    head: ParsedWord
    of: str | None = None
    """Whose it is, if it is somebody's."""
    noun: str = ""
    """The common noun by which it is known: `sister` in «my sister Anna»."""
    name: str | None = None
    """The name that stands beside the noun: `Anna`."""
    attribute: Attribute | None = None
    """The attribute that the noun stands for."""
    is_new: bool = False
    """«My new manager»."""
    is_past: bool = False
    """«My old manager»."""

    @property
    def known_as(self) -> str:
        """The name under which it is known."""
        return self.name if self.name is not None and self.of is not None else self.text

    @property
    def predicate(self) -> str:
        """The attribute's id, with the noun where there may be several kinds."""
        assert self.attribute is not None  # noqa: S101 - asked only of nouns that stand for an attribute
        return predicate_of(self.attribute, self.noun)


def predicate_of(attribute: Attribute, noun: str) -> str:
    """Return the predicate of an attribute that a noun names."""
    kind = noun if attribute.relation else " ".join(word for word in noun.split() if word != attribute.name)
    several = attribute.one_a_kind or (attribute.relation and not attribute.one)
    return f"{attribute.name}:{kind}" if several and kind else attribute.name


def written(words: Iterable[ParsedWord]) -> str:
    """Return words as they are written, with single blanks."""
    parts: list[str] = []
    last: ParsedWord | None = None
    for word in sorted(words, key=lambda one: one.index):
        if last is not None and word.start > last.end:
            parts.append(" ")
        parts.append(word.text)
        last = word
    return "".join(parts).strip(" ,;!\"'“”-")


def is_time(word: ParsedWord) -> bool:
    """Return whether a word, with what depends on it, tells a time."""
    if (
        word.relation == "prep"
        and word.lower in _CLOCK
        and (thing := word.child("pobj")) is not None
        and thing.pos == "NUM"
    ):
        return True
    if any(len(each.text) == _YEAR_DIGITS and each.text.isdigit() for each in word.subtree()):
        return True
    return any(each.lower in _TIMES or (":" in each.text and each.text[:1].isdigit()) for each in word.subtree())


def phrase_words(head: ParsedWord, *, with_prepositions: bool = True) -> list[ParsedWord]:
    """Return the words of a noun phrase: without clauses, lists and what stands beside it."""
    found = [head]
    comma = next((c.index for c in head.children if c.text in _BREAKS and c.index > head.index), None)
    for child in head.children:
        if comma is not None and child.index > comma:
            continue
        if child.text in _INNER and child.relation == "punct":
            found.append(child)
            continue
        if child.relation in _OUTSIDE or (child.relation == "prep" and not with_prepositions):
            continue
        if child.relation == "prep" and is_time(child):
            continue
        found += _below(child)
    return found


def _below(word: ParsedWord) -> Iterator[ParsedWord]:
    yield word
    for child in word.children:
        if child.relation not in {"relcl", "advcl", "parataxis"}:
            yield from _below(child)


def object_text(head: ParsedWord, *, with_prepositions: bool = True) -> str:
    """Return the words of an object, without its article and negation."""
    words = [
        word
        for word in phrase_words(head, with_prepositions=with_prepositions)
        if not (word.head is head and (word.lower in _DETERMINERS or word.relation in {"neg", "advmod"}))
    ]
    return written(words)


def items_of(head: ParsedWord) -> list[ParsedWord]:
    """Return the heads of a list: «Swedish, English and some Spanish»; a denied item is left out."""
    found, waiting = [head], [head]
    while waiting:
        for child in waiting.pop().children:
            if child.relation in {"conj", "appos"} and child.pos in {"NOUN", "PROPN", "NUM", "ADJ", "VERB", "X"}:
                if any(each.relation == "neg" or each.lower in {"not", "no"} for each in child.children):
                    continue
                found.append(child)
                waiting.append(child)
    return sorted(found, key=lambda one: one.index)


def is_named(head: ParsedWord) -> bool:
    """Return whether a phrase is a name."""
    return any(
        word.pos == "PROPN"
        or (
            not word.text.islower()
            and not word.text.isdigit()
            and word.text.isalnum()
            and word.pos not in {"PRON", "DET", "ADP"}
            and word.tag != "CD"
        )
        for word in phrase_words(head, with_prepositions=False)
    )


def name_text(head: ParsedWord) -> str:
    """Return the name in a phrase: without «little» or «dear» before it; all of it, if none of its words is a name."""
    words = phrase_words(head, with_prepositions=False)
    named = [
        word
        for word in words
        if word.pos == "PROPN" or word.text[:1].isupper() or word.tag == "CD" or not word.text.isalpha()
    ]
    return written(named if any(word.text[:1].isupper() for word in named) else words)


def whole_name(head: ParsedWord) -> str:
    """Return a name with all its parts: «Smith, Jones and Sons», «the U.S. Dept. of Energy»."""
    words, waiting = phrase_words(head), [head]
    while waiting:
        for child in waiting.pop().children:
            if child.relation == "conj" and is_named(child):
                words += phrase_words(child)
                words += [each for each in child.head.children if each.relation == "cc" or each.text == ","]
                waiting.append(child)
    return written(word for word in words if not (word.head is head and word.relation == "det"))


def is_determined(head: ParsedWord) -> bool:
    """Return whether a phrase is a name, or somebody's, or has an article: «the council», but not «night»."""
    return is_named(head) or any(child.relation in {"det", "poss", "compound"} for child in head.children)


def names_in(head: ParsedWord) -> list[str]:
    """Return the names beside or after a noun: «two children, Elsa and Nils», «a cat named Pixel»."""
    found: list[str] = []
    for child in head.children:
        if child.relation in {"appos", "conj"} and is_named(child):
            found += [name_text(each) for each in items_of(child)]
        elif child.relation in {"acl", "relcl"} and child.lemma in {"name", "call"}:
            named = child.child("oprd", "dobj", "attr", "xcomp", "ccomp", "npadvmod")
            found += [] if named is None else [name_text(each) for each in items_of(named)]
    return list(dict.fromkeys(found))


class NounReader:
    """Reads noun phrases as one speaker says them."""

    def __init__(self, lexicon: Lexicon, speaker: str | None) -> None:
        self._lexicon, self._ontology = lexicon, lexicon.ontology
        self._speaker = speaker
        self.last: Noun | None = None
        """Who was spoken of last; «she» and «it» are that one."""

    def read(self, head: ParsedWord) -> Noun | None:
        """Return what a noun phrase names; None: nobody that can be told."""
        if head.pos not in {"NOUN", "PROPN", "PRON", "NUM", "X"}:
            return None
        if head.pos == "PRON" or head.lower in NOBODY:
            return self._pronoun(head)
        owner = head.child("poss")
        of = None if owner is None else self.owner(owner)
        if owner is not None and of is None:
            return None
        noun, attribute = self._noun(head)
        parent = False
        if of is None and attribute is not None and attribute.name in _PARENTS and not head.children:
            of, parent = self._speaker, True  # «Dad died»
        of_whom = next((each for each in head.children if each.relation == "prep" and each.lower == "of"), None)
        if of is None and of_whom is not None and attribute is not None:
            whole = of_whom.child("pobj")
            named = None if whole is None else self.read(whole)
            of = None if named is None else named.text
        beside = not parent and (of is not None or attribute is not None)
        name = self._name_beside(head) if beside else None
        words = {child.lower for child in head.children if child.relation == "amod"}
        return Noun(
            text=self._text(head, of),
            head=head,
            of=of,
            noun=noun,
            name=name,
            attribute=attribute,
            is_new=not words.isdisjoint({"new", "current"}),
            is_past=not words.isdisjoint(self._ontology.words.past),
        )

    def owner(self, word: ParsedWord) -> str | None:
        """Return whose something is; None: nobody that can be told."""
        if word.lower in SPEAKERS_OWN:
            return self._speaker
        if word.lower in OTHERS_OWN:
            return None if word.lower == "your" or self.last is None else self.last.known_as
        noun = self.read(word)
        return None if noun is None else noun.known_as

    def _pronoun(self, head: ParsedWord) -> Noun | None:
        if head.lower in SPEAKER:
            return None if self._speaker is None else Noun(text=self._speaker, head=head)
        return self.last if head.lower in _THIRD else None

    def _text(self, head: ParsedWord, of: str | None) -> str:
        words = [
            word
            for word in phrase_words(head)
            if not (word.head is head and word.relation in {"poss", "det", "neg", "advmod"})
            and not (word.head is head and word.lower in {"new", "current"})
        ]
        plain = written(
            word
            for word in words
            if not any(
                each.relation == "poss" for each in (word, *word.ancestors()) if each is not head and each.head is head
            )
        )
        return plain if of is None else possessed(of, plain)

    def _noun(self, head: ParsedWord) -> tuple[str, Attribute | None]:
        """Return the longest run of words before and with the head that the ontology knows, and its attribute."""
        before = sorted(
            (c for c in head.children if c.relation in {"compound", "amod", "nmod"} and c.index < head.index),
            key=lambda one: one.index,
        )
        hyphened = object_text(head).casefold()
        if "-" in hyphened and hyphened in self._ontology.by_noun:
            return hyphened, self._ontology.by_noun[hyphened]
        last = OTHER_SPELLINGS.get(head.lemma.lower(), head.lemma.lower())
        words = [OTHER_SPELLINGS.get(word.lower, word.lower) for word in before]
        if "favourite" in words:
            favourite = self._ontology.get("favourite")
            return " ".join([*words[words.index("favourite") + 1 :], last]), favourite
        for start in range(len(words) + 1):
            noun = " ".join([*words[start:], last])
            known = self._ontology.by_noun.get(noun)
            if known is not None:
                return (" ".join([*words, last]) if known.one_a_kind and not known.relation else noun), known
        had = head.relation == "dobj" and head.head.lemma in HAVING
        mine = any(child.relation == "poss" and child.pos == "PRON" for child in head.children)
        return last, self._lexicon.attribute_like(last) if (had or mine) and head.pos == "NOUN" else None

    @staticmethod
    def _name_beside(head: ParsedWord) -> str | None:
        if head.pos == "PROPN":
            # «My sister Anna» may be read with the name as its head.
            return written(
                word for word in phrase_words(head, with_prepositions=False) if word is head or word.pos == "PROPN"
            )
        names = names_in(head)
        return names[0] if names else None
