"""What the clauses of a parsed text state, as attributes of the ontology.

A clause is a verb with its subject and complements. The verb, with its preposition, or the noun of the subject is
looked up in the ontology; a clause that stands for no attribute states nothing here and stays a text. Nothing is taken
from questions, conditions, reports of what others say, or from what is only hoped, supposed or planned.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tallystick.reading.parser import ParsedText, ParsedWord
from tallystick.records import record
from tallystick.rooms.memory.ids import possessed
from tallystick.rooms.memory.ontology.attributes import Attribute
from tallystick.rooms.memory.ontology.lexicon import Lexicon
from tallystick.rooms.memory.propose.clauses import (
    all_below,
    fits_value,
    is_passive,
    is_past,
    may_state,
    names_something,
    preposition,
    prepositions,
    time_words,
    value_of,
)
from tallystick.rooms.memory.propose.phrases import (
    HAVING,
    Noun,
    NounReader,
    is_named,
    is_time,
    items_of,
    name_text,
    names_in,
    object_text,
    phrase_words,
    predicate_of,
    written,
)

LONGEST = 80
"""Characters of a subject or an object; what is longer is no name of anything."""
ANY = "*"
"""The object of an ending that names none: whichever there is."""
_JOINED = frozenset({"conj", "ccomp", "parataxis"})
_GREETINGS = frozenset({"morning", "afternoon", "evening", "hi", "hello", "hey"})
_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "acomp", "dative")


@record
class Statement:
    """One thing that a clause states."""

    subject: str
    predicate: str
    object: str
    sentence: int
    negated: bool = False
    """It says that this is not so, or no longer."""
    begins: bool = False
    """It says that this is so from now on."""
    ends_in: tuple[str, ...] = ()
    """Attributes of which one is ended, if the subject has one with this object."""


class StatementReader:
    """Reads the statements of a text by one speaker."""

    def __init__(self, lexicon: Lexicon, speaker: str | None) -> None:
        self._ontology = lexicon.ontology
        self._nouns = NounReader(lexicon, speaker)

    def read(self, parsed: ParsedText) -> Iterator[Statement]:
        """Yield what the text states, in order."""
        for number, words in enumerate(parsed.sentences):
            if parsed.sentence_text(number).endswith("?"):
                continue
            for verb in words:
                if verb.pos in {"VERB", "AUX"} and self._is_plain(verb):
                    for one in self._clause(verb):
                        if 0 < len(one.subject) <= LONGEST and 0 < len(one.object) <= LONGEST:
                            yield one
            yield from self._beside_nouns(words)
            self._remember(words)

    def _beside_nouns(self, words: Iterable[ParsedWord]) -> Iterator[Statement]:
        """Yield the relations that noun phrases tell wherever they stand: «me and my sister Anna»."""
        for word in words:
            if word.pos in {"NOUN", "PROPN"} and word.relation not in _SUBJECTS:
                noun = self._nouns.read(word)
                if noun is not None and not noun.is_past and noun.head.child("poss") is not None:
                    yield from self._beside(noun, word)

    def _remember(self, words: Iterable[ParsedWord]) -> None:
        """Keep who the sentence was about, for pronouns of the next one; nobody, if there were several."""
        named = {
            noun.known_as: noun
            for word in words
            if word.relation in (*_SUBJECTS, "attr", "oprd", "dobj", "appos")
            and (noun := self._nouns.read(word)) is not None
            if word.pos == "PROPN" or (noun.of is not None and noun.name is not None)
        }
        theirs = {
            noun.known_as: noun
            for word in words
            if word.relation in _SUBJECTS and (noun := self._nouns.read(word)) and noun.of
        }
        found = named or theirs
        if found:
            self._nouns.last = next(iter(found.values())) if len(found) == 1 else None

    def _is_plain(self, verb: ParsedWord) -> bool:
        """Return whether a verb makes a statement of its own: not a condition, a report or a supposition."""
        unsure = self._ontology.words.unsure
        if verb.relation not in {"ROOT", *_JOINED}:
            return False
        for word in (verb, *verb.ancestors()):
            for child in word.children:
                doubts = child.relation in {"aux", "advmod", "mark"} and (
                    child.lemma.lower() in unsure or child.lower in unsure
                )
                if doubts or (
                    child.relation == "advcl" and any(each.lower in {"if", "unless"} for each in child.children)
                ):
                    return False
            fronted = (
                each.child("pobj") for each in word.children if each.relation == "prep" and each.index < word.index
            )
            if any(each is not None and each.pos == "NOUN" and each.lemma.lower() in unsure for each in fronted):
                return False
            joined = verb.relation == "conj" and verb.head is word
            if word is not verb and word.lemma.lower() in unsure and not joined:
                return False
            if word.relation not in _JOINED:
                return word.relation == "ROOT"
        return True

    def _clause(self, verb: ParsedWord) -> Iterator[Statement]:
        for subject in self._subjects(verb):
            yield from self._about(verb, subject)

    def _about(self, verb: ParsedWord, subject: Noun) -> Iterator[Statement]:
        if subject.of is not None and subject.attribute is not None and subject.attribute.relation:
            self._nouns.last = subject
        denied, begins = self._manner(verb)
        inner = verb.child("xcomp")
        used_to = verb.lemma == "use" and verb.tag == "VBD"
        if inner is not None and (used_to or self._phrasal(verb) in self._ontology.words.stops):
            yield from self._stated(inner, subject, denied=True, begins=False, past=False)
        elif inner is not None and verb.lemma in self._ontology.words.starts:
            yield from self._stated(inner, subject, denied=denied, begins=True, past=False)
        else:
            yield from self._stated(verb, subject, denied=denied, begins=begins, past=is_past(verb))

    def _subjects(self, verb: ParsedWord) -> list[Noun]:
        """Return whom a clause is about: each of several; those of the clause before, if it goes on about them."""
        found = verb.child(*_SUBJECTS)
        if found is None:
            return self._subjects(verb.head) if verb.relation == "conj" and verb.head.pos in {"VERB", "AUX"} else []
        if any(child.lower in {"neither", "no"} for child in found.children):
            return []
        heads, at = [found], found
        while (
            another := next(
                (c for c in at.children if c.relation == "conj" and c.pos in {"PRON", "PROPN", "NOUN"}), None
            )
        ) is not None:
            heads.append(another)
            at = another
        return [noun for head in heads if (noun := self._nouns.read(head)) is not None]

    def _manner(self, verb: ParsedWord) -> tuple[bool, bool]:
        """Return whether a clause denies, and whether it says that something is new."""
        near = [
            *verb.children,
            *(each for child in verb.children if child.relation == "advmod" for each in child.children),
        ]
        lowers = {word.lower for word in near if word.relation in {"neg", "advmod", "npadvmod", "det"}}
        denied = any(word.relation == "neg" for word in near) or not lowers.isdisjoint(
            self._ontology.words.past - {"old", "then"}
        )
        return denied, not denied and not lowers.isdisjoint(self._ontology.words.begins)

    @staticmethod
    def _phrasal(verb: ParsedWord) -> str:
        particle = verb.child("prt")
        return verb.lemma.lower() if particle is None else f"{verb.lemma.lower()} {particle.lower}"

    def _stated(
        self, verb: ParsedWord, subject: Noun, *, denied: bool, begins: bool, past: bool
    ) -> Iterator[Statement]:
        yield from self._beside(subject, verb)
        if verb.lemma == "be" and verb.child("auxpass") is None:
            yield from self._is(verb, subject, denied=denied, begins=begins, past=past)
            return
        if (
            verb.lemma in {"call", "name"}
            and verb.child("oprd", "dobj", "ccomp", "xcomp") is not None
            and is_passive(verb)
        ):
            named = verb.child("oprd", "dobj", "ccomp", "xcomp")
            assert named is not None  # noqa: S101 - asked above
            yield from self._named(subject, name_text(named), verb, denied=denied)
            return
        yield from self._acts(verb, subject, denied=denied, begins=begins, past=past)

    def _beside(self, subject: Noun, verb: ParsedWord) -> Iterator[Statement]:
        """Yield the relation that a subject itself tells: «my sister Anna»."""
        attribute = subject.attribute
        if attribute is not None and attribute.relation and subject.of is not None and subject.name is not None:
            yield Statement(
                subject=subject.of, predicate=subject.predicate, object=subject.name, sentence=verb.sentence
            )

    def _named(self, subject: Noun, name: str, verb: ParsedWord, *, denied: bool) -> Iterator[Statement]:
        """Yield what a name tells: of a relation the relation, else the name."""
        if subject.attribute is not None and subject.attribute.relation and subject.of is not None:
            yield self._made(verb, subject.of, subject.predicate, name, denied=denied)
        else:
            yield self._made(verb, subject.known_as, "name", name, denied=denied)

    @staticmethod
    def _made(
        verb: ParsedWord, subject: str, predicate: str, thing: str, *, denied: bool = False, begins: bool = False
    ) -> Statement:
        return Statement(
            subject=subject, predicate=predicate, object=thing, sentence=verb.sentence, negated=denied, begins=begins
        )

    def _is(self, verb: ParsedWord, subject: Noun, *, denied: bool, begins: bool, past: bool) -> Iterator[Statement]:
        """Yield what a clause with «is» states."""
        what, place = verb.child("attr", "acomp", "oprd", "dobj"), preposition(verb)
        attribute, begins = subject.attribute, begins or subject.is_new
        denied = denied or subject.is_past or (past and attribute is not None and attribute.volatility != "static")
        if not may_state(attribute, what, past=past):
            return
        if what is None and place is not None and attribute is not None and attribute.value == "date" and subject.of:
            thing = place.child("pobj") or place
            day = written(all_below(thing))
            yield self._made(verb, subject.of, attribute.name, day, denied=denied, begins=begins)
            return
        if what is None:
            key = None if place is None else f"be {place.lower}"
            yield from self._by_key(verb, [key] if key else [], subject, denied=denied or past, begins=begins)
            return
        whose = self._named_relative(subject)
        if whose is not None:
            yield from self._named(whose, name_text(what), verb, denied=denied)
            return
        if attribute is not None and subject.of is not None and (not attribute.relation or is_named(what)):
            for item in items_of(what) if not attribute.one else [what]:
                yield self._made(
                    verb, subject.of, subject.predicate, value_of(item, attribute), denied=denied, begins=begins
                )
            return
        yield from self._described(verb, what, subject, denied=denied, begins=begins, past=past)

    def _named_relative(self, subject: Noun) -> Noun | None:
        """Return the relative whose name a clause tells: «my partner's name is …»."""
        owner = subject.head.child("poss")
        if subject.attribute is None or subject.attribute.name != "name" or subject.of is None or owner is None:
            return None
        whose = self._nouns.read(owner)
        relative = (
            whose is not None and whose.attribute is not None and whose.attribute.relation and whose.of is not None
        )
        return whose if relative else None

    def _described(
        self, verb: ParsedWord, what: ParsedWord, subject: Noun, *, denied: bool, begins: bool, past: bool
    ) -> Iterator[Statement]:
        """Yield what is said of something: its kind, its age, whose relation it is, what it is allergic to."""
        whom = subject.known_as
        named = self._nouns.read(what) if what.pos in {"NOUN", "PROPN"} else None
        if named is not None and named.attribute is not None and named.attribute.relation and named.of is not None:
            yield self._made(
                verb,
                named.of,
                named.predicate,
                whom,
                denied=denied or past or named.is_past,
                begins=begins or named.is_new,
            )
            return
        below = preposition(what)
        if below is not None:
            key = f"be {what.lower} {below.lower}"
            if key in self._ontology.by_verb:
                yield from self._by_key(verb, [key], subject, denied=denied or past, begins=begins, at=what)
                return
        if (
            subject.head.lower == "i"
            and what.tag == "NNP"
            and any(child.pos == "INTJ" or child.lower in _GREETINGS for child in verb.children)
        ):
            yield self._made(verb, whom, "name", name_text(what), denied=denied)
            return
        if (what.lemma == "old" and what.child("npadvmod")) or (what.pos == "NUM" and what.text.isalnum()):
            yield self._made(verb, whom, "age", written(phrase_words(what)), denied=denied or past)
        elif past:
            return
        elif subject.of is not None or is_named(subject.head) or subject.head.pos == "PRON":
            yield self._made(verb, whom, "is_a", written(phrase_words(what)), denied=denied, begins=begins)

    def _acts(self, verb: ParsedWord, subject: Noun, *, denied: bool, begins: bool, past: bool) -> Iterator[Statement]:
        """Yield what a clause with another verb states."""
        base = self._phrasal(verb)
        middle = verb.child("acomp")
        if middle is not None and verb.lemma in {"get", "become"}:
            base = f"get {middle.lower}"
        if is_passive(verb):
            base = f"be {verb.lower}"
        thing = verb.child("dobj")
        away = next(
            (f"{base} {each.lower}" for each in verb.children if each.relation == "advmod" and each.index > verb.index),
            base,
        )
        keys = [*dict.fromkeys((base, away)), *(f"{base} {each.lower}" for each in prepositions(verb))]
        keys += [f"{base} {thing.lemma.lower()} {each.lower}" for each in prepositions(verb) if thing is not None]
        keys += [f"{base} {p.lower} {o.lower}" for p in prepositions(verb) if (o := p.child("pobj")) is not None]
        found = list(self._had(verb, subject, denied=denied)) if verb.lemma in HAVING else []
        if found:
            yield from found
            return
        moved = self._rescheduled(verb)
        if moved is not None:
            yield moved
            return
        yield from self._ended(verb, keys, subject, denied=denied)
        began = [key for key in keys if key in self._ontology.by_begin]
        began = [key for key in began if len(key.split()) > 2] or began  # noqa: PLR2004 - verb, noun and preposition
        yield from self._by_key(verb, began, subject, denied=denied, begins=True)
        plain = [key for key in keys if key in self._ontology.by_verb]
        lasting = any(a.volatility == "static" for key in plain for a in self._ontology.by_verb[key])
        if plain:
            yield from self._by_key(verb, plain, subject, denied=denied or (past and not lasting), begins=begins)
        elif not began and not past:
            yield from self._recurs(verb, subject, denied=denied, begins=begins)

    def _had(self, verb: ParsedWord, subject: Noun, *, denied: bool) -> Iterator[Statement]:
        """Yield what somebody has by the noun: relatives, pets, appointments."""
        first = verb.child("dobj")
        for thing in () if first is None else items_of(first):
            read = self._nouns.read(thing)
            if read is None or read.attribute is None or read.of is not None:
                continue
            denied = denied or any(child.lower == "no" for child in thing.children)
            if read.attribute.relation:
                self._nouns.last = replace(
                    read, of=subject.known_as, text=possessed(subject.known_as, read.text), name=None
                )
                for name in names_in(thing) or [object_text(thing, with_prepositions=False)]:
                    yield self._made(
                        verb, subject.text, read.predicate, name, denied=denied, begins=verb.lemma != "have"
                    )
            elif read.attribute.name == "event_time" and (when := time_words(verb)):
                yield self._made(verb, f"{subject.text}'s {read.text}", "event_time", when, denied=denied)

    def _rescheduled(self, verb: ParsedWord) -> Statement | None:
        """Return to when somebody moved an appointment of the speaker's."""
        thing = verb.child("dobj")
        read = None if thing is None else self._nouns.read(thing)
        if read is None or read.of is None or read.attribute is None or read.attribute.name != "event_time":
            return None
        when = time_words(verb)
        moved = when.partition("to ")[2] if when.startswith("to ") else ""
        return self._made(verb, read.text, "event_time", f"on {moved}", begins=True) if moved else None

    def _ended(self, verb: ParsedWord, keys: Iterable[str], subject: Noun, *, denied: bool) -> Iterator[Statement]:
        """Yield what a clause says to be over: sold, left, cancelled."""
        for key in keys:
            attributes = self._ontology.by_end.get(key, ())
            thing = self._complement(verb, key)
            if not attributes or denied or (thing is None and not key.startswith("be ")):
                continue
            what = ANY if thing is None else object_text(thing)
            read = None if thing is None else self._nouns.read(thing)
            if read is not None and read.attribute is not None and read.of is not None and read.name is None:
                # «I sold my car»: whichever it is.
                attributes, what = (read.attribute,), ANY
            names = tuple(dict.fromkeys(each.name for one in attributes for each in self._ontology.family_of(one)))
            yield Statement(
                subject=subject.known_as,
                predicate=names[0],
                object=what,
                sentence=verb.sentence,
                negated=True,
                ends_in=names,
            )
            return

    def _by_key(
        self,
        verb: ParsedWord,
        keys: Iterable[str],
        subject: Noun,
        *,
        denied: bool,
        begins: bool,
        at: ParsedWord | None = None,
    ) -> Iterator[Statement]:
        """Yield the attributes that a verb with its preposition states."""
        for key in keys:
            tables = (
                (self._ontology.by_begin,) if begins and key in self._ontology.by_begin else (self._ontology.by_verb,)
            )
            for table in tables:
                attribute = self._fitting(table.get(key, ()), at or verb, key)
                if attribute is not None:
                    yield from self._with(attribute, at or verb, key, subject, denied=denied, begins=begins)

    def _fitting(self, attributes: tuple[Attribute, ...], verb: ParsedWord, key: str) -> Attribute | None:
        """Return which of several attributes with one verb is meant, by the kind of its object."""
        thing = self._complement(verb, key)
        if not attributes:
            return None
        words = (
            set()
            if thing is None
            else {word.text.casefold() for word in phrase_words(thing)} | {thing.lemma.casefold()}
        )
        for each in attributes:
            if each.things and not words.isdisjoint(word.casefold() for word in each.things):
                return each
        for each in attributes:
            if thing is not None and thing.lemma.lower() in each.nouns:
                return each
        timed = thing is not None and (is_time(thing) or (thing.head.relation == "prep" and is_time(thing.head)))
        others = [each for each in attributes if not each.things and (each.value == "event") == timed] or [
            each
            for each in attributes
            if not each.things and not (timed and each.value in {"place", "any"} and len(attributes) > 1)
        ]
        return others[0] if others else None

    def _with(
        self, attribute: Attribute, verb: ParsedWord, key: str, subject: Noun, *, denied: bool, begins: bool
    ) -> Iterator[Statement]:
        whom, thing = subject.known_as, self._complement(verb, key)
        if attribute.value == "event":
            when = time_words(verb) or ("date unknown" if attribute.name == "died" else "")
            if when:
                yield self._made(verb, whom, attribute.name, when, denied=denied, begins=begins)
        elif thing is not None and fits_value(attribute, thing):
            if attribute.name == "located_in":
                where = written(all_below(thing.head))
                yield self._made(verb, whom, attribute.name, where, denied=denied, begins=begins)
                return
            for item in [thing] if attribute.one else items_of(thing):
                if names_something(item):
                    yield from self._valued(verb, whom, attribute, item, denied=denied, begins=begins)

    def _valued(
        self, verb: ParsedWord, whom: str, attribute: Attribute, item: ParsedWord, *, denied: bool, begins: bool
    ) -> Iterator[Statement]:
        """Yield one value of an attribute, with what else its words tell."""
        value = value_of(item, attribute)
        yield self._made(verb, whom, predicate_of(attribute, ""), value, denied=denied, begins=begins)
        if attribute.name in {"has", "owns"} and (names := names_in(item)):
            yield self._made(verb, f"{whom}'s {item.lemma.lower()}", "name", names[0], denied=denied)
        if denied and attribute.denies_as is not None:
            yield self._made(verb, whom, attribute.denies_as, value, begins=begins)

    def _complement(self, verb: ParsedWord, key: str) -> ParsedWord | None:
        """Return the object of a verb as a key of the ontology names it: direct, or after its preposition."""
        *_, last = key.split()
        for each in prepositions(verb):
            thing = each.child("pobj", "pcomp")
            if thing is not None and (each.lower == last or f" {each.lower} {thing.lower}" in key):
                return thing
        if (
            any(each.lower == last for each in verb.children if each.relation in {"prt", "prep"})
            or " " not in key
            or key.startswith("get ")
        ):
            return verb.child(*_OBJECTS)
        return None

    def _recurs(self, verb: ParsedWord, subject: Noun, *, denied: bool, begins: bool) -> Iterator[Statement]:
        """Yield when something happens: «the orchestra rehearses on Thursdays»."""
        when = time_words(verb)
        if when and verb.relation == "ROOT" and subject.head.pos in {"NOUN", "PROPN"} and verb.child("dobj") is None:
            yield self._made(
                verb, subject.known_as, f"event_time:{verb.lemma.lower()}", when, denied=denied, begins=begins
            )
