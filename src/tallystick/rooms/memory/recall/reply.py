"""One sentence in answer to a question, with its source and date, or "Not known." with what is nearest.

The question is read into attributes of somebody (`inquiry.py`), who is looked up by name, by relation («my sister») or
by a part of a name. What holds now is told; what held before is told when it is asked for, and beside what took its
place. A question that stands for no attribute is answered by the newest text that holds its words, quoted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.ids import name_key, predicate_key
from tallystick.rooms.memory.model import Observation, Proposition
from tallystick.rooms.memory.ontology.attributes import Attribute
from tallystick.rooms.memory.ontology.lexicon import Lexicon
from tallystick.rooms.memory.project.entities import names_of
from tallystick.rooms.memory.propose.claims import ClaimReader
from tallystick.rooms.memory.propose.phrases import Noun
from tallystick.rooms.memory.recall.fact_sentences import FactWording, listed
from tallystick.rooms.memory.recall.facts import Fact, rank_of
from tallystick.rooms.memory.recall.inquiry import Inquiry, Wanted
from tallystick.rooms.memory.recall.own_words import OwnAnswer
from tallystick.rooms.memory.recall.passages import Passage
from tallystick.rooms.memory.recall.question import content_words
from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.assessment import assess
from tallystick.rooms.memory.weigh.state import State
from tallystick.text.stems import stems

MOST = 200
"""Facts about one subject that are looked at."""
COVERS = 0.75
"""Of the words of a question, the share that a text must hold to be quoted as its answer."""
NOT_KNOWN = "Not known."
RELATED_FACT = 0.5
"""The least fit of a message on which a fact rests that answers, as a share of the best message's."""
_OVER = frozenset({"rejected"})


@record
class MemoryReply:
    """An answer in words, and what it rests on."""

    sentence: str
    known: bool
    facts: tuple[Fact, ...] = ()
    before: tuple[Fact, ...] = ()
    """What held before, if that is told."""
    quote: str | None = None
    """The text that answers, where no fact does."""
    nearest: tuple[Passage, ...] = ()
    """Texts that come nearest to a question without an answer."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "sentence": self.sentence,
            "known": self.known,
            "facts": [fact.as_dict() for fact in self.facts],
            "before": [fact.as_dict() for fact in self.before],
            "quote": self.quote,
            "nearest": [passage.as_dict() for passage in self.nearest],
        }


class ReplyWriter:
    """Answers questions from one state of memory."""

    def __init__(
        self,
        state: State,
        lexicon: Lexicon,
        *,
        now: int,
        owners: Sequence[str],
        candidates: Iterable[Proposition],
        reader: ClaimReader,
    ) -> None:
        """Prepare to answer.

        Args:
            state: Memory.
            lexicon: Where nouns are looked up.
            now: The moment for which facts are assessed.
            owners: The names of the owner; the first is the asker's.
            candidates: Propositions that share words with the question.
            reader: Tells whether a text states facts.
        """
        self._state = state
        self._lexicon, self._ontology = lexicon, lexicon.ontology
        self._now = now
        self._owners = [name_key(name) for name in owners]
        self._candidates = list(candidates)
        self._reader = reader
        self._wording = FactWording(state, self._ontology, self._owners)

    def reply(self, inquiry: Inquiry, passages: Sequence[Passage], own: OwnAnswer | None = None) -> MemoryReply:
        """Answer a question.

        Args:
            inquiry: The question, read.
            passages: The texts that fit it best.
            own: What the owner said in answer; None: it was not looked for.
        """
        told, stands_in = self._by_fact(inquiry)
        if own is None:
            return told or self._quoted(inquiry, passages)
        if told is not None and (own.current or not stands_in) and self._stands(told, own):
            return told
        if own.current:
            return self._in_own_words(own)
        quoted = self._quoted(inquiry, [passage for passage in passages if not passage.seen.owner])
        return quoted if quoted.known else replace(quoted, nearest=tuple(passages[:3]))

    def _by_fact(self, inquiry: Inquiry) -> tuple[MemoryReply | None, bool]:
        """Answer by the facts about what is asked for, the most specific reading first.

        Also whether another attribute stands in for the one that is asked for.
        """
        asked_of: set[str] = set()
        for wanted in inquiry.wanted:
            if wanted.attribute.relation and wanted.kind in asked_of:
                continue  # «My sister's birthday» does not ask who she is.
            if wanted.whom is not None and wanted.whom.noun:
                asked_of.add(wanted.whom.noun)
            if wanted.category:
                told = self._of_category([one for one in inquiry.wanted if one.category == wanted.category])
                if told is not None:
                    return told, False
            for names in ((wanted.attribute.name,), wanted.attribute.or_else):
                found = self._found(wanted, names)
                told = self._told(inquiry, wanted, found) if found else None
                if told is not None:
                    return told, names is wanted.attribute.or_else
        return None, False

    def _of_category(self, wanted: Sequence[Wanted]) -> MemoryReply | None:
        """Tell all that holds of several attributes that are asked for by one word: «family», «hobbies»."""
        if len({one.attribute.name for one in wanted}) == 1:
            return None
        found = [fact for one in wanted for fact in self._found(one, (one.attribute.name,)) if not _is_over(fact)]
        each = list({(fact.one.predicate, name_key(fact.one.object)): fact for fact in found}.values())
        if not each:
            return None
        things = listed([f"{self._wording.thing(fact)} ({_kind_of(fact)})" for fact in each])
        whose = self._wording.possessive(each[0].one.subject)
        return MemoryReply(
            sentence=f"{whose} {wanted[0].category}: {things}. {self._source(each)}",
            known=True,
            facts=tuple(each),
        )

    def _stands(self, told: MemoryReply, own: OwnAnswer) -> bool:
        """Return whether facts answer a question, although the owner's words are known.

        They do where they rest on other sources, or on messages that fit the question, unless the owner has since
        said something about it that was not understood as a fact.
        """
        seen = [each for fact in (*told.facts, *told.before) if (each := self._newest(fact.one)) is not None]
        own_fits: dict[str, float] = {}
        for name, fit in own.fits:
            own_fits[name] = max(fit, own_fits.get(name, 0.0))
        fits = [own_fits.get(each.id) for each in seen]
        if None in fits or not seen:
            return True
        if max(fit for fit in fits if fit is not None) < RELATED_FACT:
            return False
        newest = max(each.seq for each in seen)
        last = own.current[0].message.seen if own.current else None
        return last is None or last.seq <= newest or bool(self._reader.claims_in(last.text, speaker=self._owners[0]))

    def _in_own_words(self, own: OwnAnswer) -> MemoryReply:
        """Answer by the owner's own sentence, and the one whose place it took."""
        days = [stamp_of(each.message.seen.observed_at)[:10] for each in own.current]
        said = "; ".join(f"“{each.text}” (you, {day})" for each, day in zip(own.current, days, strict=True))
        if own.before is not None:
            said += f" (before {days[0]}: “{own.before.text}”)"
        return MemoryReply(sentence=said, known=True, quote=own.current[0].text)

    def _found(self, wanted: Wanted, names: Sequence[str]) -> list[Fact]:
        """Return the facts of somebody about these attributes, newest first."""
        attributes = set(names)
        found: dict[str, Proposition] = {}
        for subject in self._subjects(wanted.whom):
            timed = wanted.attribute.name == "event_time"
            for one in self._loosely_about(subject) if timed else self._about(subject):
                attribute, _, kind = one.predicate.partition(":")
                # Before there was an ontology, the noun itself was the predicate.
                by_noun = bool(wanted.kind) and one.predicate == predicate_key(wanted.kind)
                if by_noun or (attribute in attributes and self._is_kind(wanted, kind)):
                    found.setdefault(one.id, one)
        facts = [Fact(one=one, assessment=assess(self._state, one, self._now)) for one in found.values()]
        return sorted(facts, key=lambda each: (rank_of(each.assessment), -self._said_at(each.one)))

    def _is_kind(self, wanted: Wanted, kind: str) -> bool:
        """Return whether a relation of one kind is asked for: `dog` by «dog» and by «pet»."""
        asked = wanted.kind
        if not wanted.attribute.relation:
            asked = " ".join(word for word in asked.split() if word != wanted.attribute.name)
        general = not asked or asked in wanted.attribute.general or wanted.attribute.one
        return (
            general or not kind or set(stems(asked)) <= set(stems(kind)) or self._may_be(wanted.attribute, asked, kind)
        )

    def _may_be(self, attribute: Attribute, asked: str, kind: str) -> bool:
        """Return whether a kind that the ontology does not list is what was asked for: a greyhound is a dog."""
        noun = kind.replace("_", " ")
        return noun not in attribute.nouns and self._lexicon.alike(asked, noun)

    def _about(self, subject: str) -> list[Proposition]:
        """Return propositions about a subject, and those of its words that name it in part."""
        exact = self._state.about(subject, None, upto=None, most=MOST)
        if exact or subject in self._owners:
            return exact
        meant = set(stems(subject))
        return [one for one in self._candidates if meant and meant <= set(stems(one.subject))]

    def _loosely_about(self, subject: str) -> list[Proposition]:
        """Return propositions about an appointment that is called by fewer or more words: «my dentist appointment»."""
        meant = set(stems(subject))
        return [one for one in self._candidates if meant <= (said := set(stems(one.subject))) or said <= meant]

    def _subjects(self, whom: Noun | None) -> list[str]:
        """Return the names under which somebody is known."""
        if whom is None:
            return []
        key = name_key(whom.text)
        if key in self._owners:
            return list(self._owners)
        found = [key]
        if whom.attribute is not None and whom.of is not None:
            of = Noun(text=whom.of, head=whom.head)
            asked = Wanted(whom=of, attribute=whom.attribute, kind=whom.noun)
            relatives = self._found(asked, (whom.attribute.name,)) if whom.attribute.relation else []
            found += [name_key(fact.one.object) for fact in relatives if not _is_over(fact)]
            if whom.attribute.relation and whom.attribute.one:
                found += [name_key(f"{whom.of}'s {noun}") for noun in whom.attribute.nouns]
            if whom.attribute.name == "event_time":
                # «My appointment with the doctor»: whatever is known as the owner's appointment.
                found.append(name_key(f"{whom.of}'s {whom.noun}"))
        found += names_of(self._state, whom.text)
        found += list(self._by_part(key))
        return list(dict.fromkeys(found))

    def _by_part(self, key: str) -> Iterator[str]:
        """Yield the full name of somebody the owner knows, if just one begins with this name or it with theirs."""
        parts = key.split()
        known = {
            name_key(one.object)
            for owner in self._owners
            for one in self._state.about(owner, None, upto=None, most=MOST)
            if (attribute := self._ontology.get(one.predicate)) is not None and attribute.relation
        }
        alike = [
            name
            for name in known
            if name != key and (name.split()[: len(parts)] == parts or parts[: len(name.split())] == name.split())
        ]
        if len(alike) == 1:
            yield alike[0]

    def _told(self, inquiry: Inquiry, wanted: Wanted, found: list[Fact]) -> MemoryReply | None:
        attribute = self._ontology.get(found[0].one.predicate) or wanted.attribute
        now = [fact for fact in found if not _is_over(fact)]
        before = sorted(
            (fact for fact in found if _is_over(fact) and fact.assessment.status not in _OVER),
            key=lambda fact: -self._said_at(fact.one),
        )
        if inquiry.asks_before:
            return self._earlier(before, now)
        if not now:
            return self._ended(before)
        single = attribute.one or (attribute.one_a_kind and ":" in now[0].one.predicate)
        now = now[:1] if single else self._chosen(inquiry, wanted, attribute, now)
        sentence = self._wording.sentence(attribute, now, wanted)
        past = ""
        if single and before and before[0].one.object != now[0].one.object:
            past = f" (before {self._day(now[0])}: {before[0].one.object})"
        return MemoryReply(
            sentence=f"{_lead(inquiry, attribute, now)}{sentence}{past} {self._source(now)}",
            known=True,
            facts=tuple(now),
            before=tuple(before[:1] if past else ()),
        )

    def _chosen(self, inquiry: Inquiry, wanted: Wanted, attribute: Attribute, now: list[Fact]) -> list[Fact]:
        """Return which of several values are meant: each once, those alive, and the one that is asked about."""
        if attribute.relation and len(now) > 1:
            now = _each_once(now)
            now = [fact for fact in now if not self._has_died(fact.one.object)] or now
        if wanted.thing is not None and inquiry.asks_whether:
            asked = set(stems(wanted.thing))
            now = [fact for fact in now if asked & set(stems(fact.one.object))] or now
        return now

    def _earlier(self, before: list[Fact], now: list[Fact]) -> MemoryReply | None:
        if not before:
            return None
        thing = {name_key(fact.one.object) for fact in now}
        told = [fact for fact in before if name_key(fact.one.object) not in thing] or before
        return MemoryReply(
            sentence=f"Before: {told[0].one.object} {self._source(told[:1])}",
            known=True,
            facts=tuple(told[:1]),
            before=tuple(told[:1]),
        )

    def _ended(self, before: list[Fact]) -> MemoryReply | None:
        """Say that what is asked for has ended, and what it was."""
        if not before:
            return None
        last = before[0]
        said = f"Nothing that holds now is known; it was {last.one.object} until {self._end(last)}."
        return MemoryReply(sentence=f"{said} {self._source([last])}", known=True, before=(last,))

    def _quoted(self, inquiry: Inquiry, passages: Sequence[Passage]) -> MemoryReply:
        """Answer by the newest text that holds the words of the question; say that it is not known, if none does."""
        asked = set(content_words(inquiry.text))
        full = [
            each for each in passages if asked and len(asked & set(content_words(each.text))) >= COVERS * len(asked)
        ]
        definite = (
            inquiry.verb == "be"
            and not inquiry.asks_whether
            and any(noun.of is None and noun.attribute is None for noun in inquiry.subjects)
        )
        if not full or definite:
            return MemoryReply(sentence=NOT_KNOWN, known=False, nearest=tuple(passages[:3]))
        best = max(full, key=lambda each: (each.seen.observed_at, each.score))
        who = self._who(best.seen)
        return MemoryReply(
            sentence=f"“{best.text}” ({who}, {stamp_of(best.seen.observed_at)[:10]})",
            known=True,
            quote=best.text,
            nearest=(best,),
        )

    def _has_died(self, name: str) -> bool:
        return any(
            not _is_over(Fact(one=one, assessment=assess(self._state, one, self._now)))
            for one in self._state.about(name_key(name), "died", upto=None, most=1)
        )

    def _newest(self, one: Proposition) -> Observation | None:
        seen = [
            self._state.observations.get(edge.observation_id)
            for edge in islice(self._state.edges_of(one.id), MOST)
            if edge.stance == "support"
        ]
        return max(
            (each for each in seen if each is not None), key=lambda each: (each.observed_at, each.seq), default=None
        )

    def _said_at(self, one: Proposition) -> int:
        seen = self._newest(one)
        return one.at if seen is None else seen.observed_at

    def _day(self, fact: Fact) -> str:
        return stamp_of(self._said_at(fact.one))[:10]

    def _end(self, fact: Fact) -> str:
        denied = [
            self._state.observations.get(edge.observation_id)
            for edge in self._state.edges_of(fact.one.id)
            if edge.stance == "contradiction"
        ]
        return stamp_of(max((each.observed_at for each in denied if each is not None), default=self._now))[:10]

    def _who(self, seen: Observation) -> str:
        return "you" if name_key(seen.source_id) in self._owners else seen.source_id

    def _source(self, facts: Sequence[Fact]) -> str:
        """Return who said it and when, and that it is not confirmed, if it is not accepted."""
        newest = max(facts, key=lambda fact: self._said_at(fact.one))
        seen = self._newest(newest.one)
        who = "?" if seen is None else self._who(seen)
        unsure = "" if newest.assessment.status == "accepted" else f"; {newest.assessment.label.partition(':')[0]}"
        return f"({who}, {self._day(newest)}{unsure})"


def _is_over(fact: Fact) -> bool:
    """Return whether a fact holds no longer: superseded, taken back, refuted or past its time."""
    found = fact.assessment
    ended = found.taken_back or found.figures.owner_denies or bool(found.holds) or found.status == "rejected"
    return found.superseded_by is not None or ended


def _lead(inquiry: Inquiry, attribute: Attribute, facts: Sequence[Fact]) -> str:
    """Return what comes before a sentence: «No.» to «is he alive», the number to «how many»."""
    if attribute.name == "died" and inquiry.asks_whether:
        return "No. "
    return f"{len(facts)}: " if inquiry.asks_number else ""


def _kind_of(fact: Fact) -> str:
    attribute, _, kind = fact.one.predicate.partition(":")
    return (kind or attribute).replace("_", " ")


def _each_once(facts: Sequence[Fact]) -> list[Fact]:
    """Return each relative once, without those known by their kind alone where one of that kind has a name."""
    named = {fact.one.predicate for fact in facts if not _is_unnamed(fact)}
    found: dict[str, Fact] = {}
    for fact in facts:
        if not (_is_unnamed(fact) and fact.one.predicate in named):
            found.setdefault(name_key(fact.one.object), fact)
    return list(found.values())


def _is_unnamed(fact: Fact) -> bool:
    return name_key(fact.one.object) == fact.one.predicate.partition(":")[2].replace("_", " ")
