"""What a question asks memory for: whose, and which attributes, read by the same grammar and ontology as statements."""

from collections.abc import Iterator, Sequence

from tallystick.reading.parser import ParsedText, ParsedWord
from tallystick.records import record
from tallystick.rooms.memory.ontology.attributes import OTHER_SPELLINGS, Attribute
from tallystick.rooms.memory.ontology.lexicon import Lexicon
from tallystick.rooms.memory.propose.phrases import Noun, NounReader, object_text

_ASKING = frozenset({"what", "who", "whom", "whose", "which", "where", "when", "how", "why"})
_BEFORE = frozenset({"before", "previously", "formerly", "previous", "former", "earlier"})


@record
class Wanted:
    """One way to read what is asked for."""

    whom: Noun | None
    """Whose attribute; None: nobody is named, so the thing itself is asked about."""
    attribute: Attribute
    kind: str = ""
    """The noun by which it is asked for: `sister`, `dog`, `colour`."""
    category: str = ""
    """The category word by which it is asked for: all attributes of it are meant."""
    thing: str | None = None
    """What the attribute is asked to be: «Do I speak French?»."""


@record
class Inquiry:
    """A question, read once."""

    text: str
    wanted: tuple[Wanted, ...] = ()
    """Readings, the most specific first."""
    subjects: tuple[Noun, ...] = ()
    """Everything the question names."""
    asks_whether: bool = False
    asks_before: bool = False
    """It asks for what held earlier."""
    asks_number: bool = False
    """«How many»."""
    verb: str = ""


class InquiryReader:
    """Reads questions as one asker asks them."""

    def __init__(self, lexicon: Lexicon, asker: str) -> None:
        self._lexicon, self._ontology = lexicon, lexicon.ontology
        self._asker = asker

    def read(self, parsed: ParsedText) -> Inquiry:
        """Return what a question asks for."""
        nouns = NounReader(self._lexicon, self._asker)
        words = parsed.words
        lowers = [word.lower for word in words]
        subjects = [noun for word in words if (noun := self._subject(nouns, word)) is not None]
        whether = bool(lowers) and not _ASKING.intersection(lowers) and words[0].pos in {"AUX", "VERB"}
        past = any(word.lemma == "use" and word.child("xcomp") for word in words)
        wanted = [
            # «Where does my sister live?» asks where she lives, not who she is.
            *self._by_phrase(parsed.text.casefold(), lowers, subjects),
            *self._by_work(words, subjects),
            *self._by_place(lowers, words, subjects),
            *self._by_verb(words, subjects),
            *self._by_noun(subjects),
            *self._by_category(words, subjects),
        ]
        root = next((word for word in words if word.relation == "ROOT"), None)
        return Inquiry(
            text=parsed.text,
            wanted=tuple(dict.fromkeys(wanted)),
            subjects=tuple(subjects),
            asks_whether=whether,
            asks_before=past or not _BEFORE.isdisjoint(lowers),
            asks_number="how many" in parsed.text.casefold(),
            verb="" if root is None else root.lemma.lower(),
        )

    @staticmethod
    def _subject(nouns: NounReader, word: ParsedWord) -> Noun | None:
        """Return what a word names, if it is the head of a phrase that may be asked about."""
        if word.relation in {"compound", "amod", "det", "case"} or word.lower in _ASKING:
            return None
        if word.pos not in {"NOUN", "PROPN", "PRON"} and word.lower not in {"my", "our"}:
            return None
        if word.lower in {"my", "our"}:
            return None
        return nouns.read(word)

    def _by_noun(self, subjects: list[Noun]) -> Iterator[Wanted]:
        """Yield the attributes that are asked for by their noun: «my manager», «Anna's husband»."""
        for noun in sorted(subjects, key=lambda one: len(one.text), reverse=True):
            if noun.attribute is None:
                continue
            if noun.of is not None:
                owner = noun.head.child("poss")
                whose = None if owner is None else next((one for one in subjects if one.head is owner), None)
                of = whose or Noun(text=noun.of, head=noun.head)
                yield Wanted(whom=of, attribute=noun.attribute, kind=noun.noun)
            else:
                # «Which languages do I speak?»: of whoever else is named.
                others = [one for one in subjects if one is not noun and one.attribute is None] or [
                    one for one in subjects if one is not noun and one.of is not None
                ]
                yield from (Wanted(whom=one, attribute=noun.attribute, kind=noun.noun) for one in others[:1])

    def _by_phrase(self, text: str, lowers: list[str], subjects: list[Noun]) -> Iterator[Wanted]:
        """Yield the attributes whose question words stand in the text: «how old», «for a living»."""
        for attribute in self._ontology.attributes.values():
            for phrase in attribute.asked_as:
                parts = phrase.split()
                hit = phrase in text if len(parts) > 1 and phrase in text else set(parts) <= set(lowers)
                if hit:
                    yield from (Wanted(whom=one, attribute=attribute) for one in self._asked_about(subjects))
                    break

    def _by_work(self, words: Sequence[ParsedWord], subjects: list[Noun]) -> Iterator[Wanted]:
        """Yield the occupation: «what does Anna do»."""
        job = self._ontology.get("job")
        root = next((word for word in words if word.relation == "ROOT"), None)
        what = None if root is None else root.child("dobj")
        if job is not None and root is not None and root.lemma == "do" and what is not None and what.lower == "what":
            yield from (Wanted(whom=one, attribute=job) for one in self._asked_about(subjects))

    def _by_place(self, lowers: list[str], words: Sequence[ParsedWord], subjects: list[Noun]) -> Iterator[Wanted]:
        """Yield the place of something: «where are the keys»."""
        located = self._ontology.get("located_in")
        if (
            located is not None
            and "where" in lowers
            and any(word.relation == "ROOT" and word.lemma == "be" for word in words)
        ):
            yield from (Wanted(whom=one, attribute=located) for one in self._asked_about(subjects))

    def _by_verb(self, words: Sequence[ParsedWord], subjects: list[Noun]) -> Iterator[Wanted]:
        """Yield the attributes that a verb of the question states."""
        about = self._asked_about(subjects)
        for verb in words:
            if verb.pos not in {"VERB", "AUX", "ADJ", "NOUN"} or verb.lemma in {"do", "have"}:
                continue
            if verb.lemma == "use" and verb.child("xcomp"):
                continue
            base = verb.lemma.lower()
            near = {word.lower for word in words}
            for key, attributes in (*self._ontology.by_verb.items(), *self._ontology.by_begin.items()):
                first, *rest = key.split()
                if first == "be" and rest:
                    fits = rest[0] in {verb.lower, base} and base != "be"
                else:
                    fits = first == base and (not rest or rest[-1] in near or "where" in near or len(attributes) == 1)
                if fits:
                    thing = self._thing(verb)
                    # «When does Anna stay with us?» does not ask where she lives.
                    fitting = [each for each in attributes if "when" not in near or each.value in {"date", "event"}]
                    yield from (Wanted(whom=one, attribute=each, thing=thing) for each in fitting for one in about)

    def _by_category(self, words: Sequence[ParsedWord], subjects: list[Noun]) -> Iterator[Wanted]:
        """Yield the attributes of a category word: pets, family, hobbies."""
        for word in words:
            for form in (word.lower, OTHER_SPELLINGS.get(word.lemma.lower(), word.lemma.lower())):
                for each in self._ontology.by_category.get(form, ()):
                    whom = self._asked_about(subjects, besides=word) or [Noun(text=self._asker, head=word)]
                    yield from (Wanted(whom=one, attribute=each, category=form) for one in whom)

    @staticmethod
    def _asked_about(subjects: list[Noun], besides: ParsedWord | None = None) -> list[Noun]:
        """Return whom a question without a possessive is about: its grammatical subject, else whom it names first."""
        found = [one for one in subjects if one.head is not besides]
        of_clause = [one for one in found if one.head.relation in {"nsubj", "nsubjpass"}]
        return (of_clause or found)[:1]

    @staticmethod
    def _thing(verb: ParsedWord) -> str | None:
        thing = verb.child("dobj", "acomp", "attr")
        if thing is None:
            place = next((child.child("pobj") for child in verb.children if child.relation == "prep"), None)
            thing = place
        if thing is None or thing.lower in _ASKING or any(child.lower in _ASKING for child in thing.children):
            return None
        return object_text(thing)
