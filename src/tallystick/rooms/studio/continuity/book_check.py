"""A book read for continuity: its cards' statements, its scenes' statements, and what contradicts what."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from tallystick.gate.reply.sources import Source
from tallystick.reading.parser import ParsedWord, Parser
from tallystick.rooms.studio.book.model import Book
from tallystick.rooms.studio.continuity.calendar_checks import Clash, Place, count_clashes, weekday_clashes
from tallystick.rooms.studio.continuity.card_lines import CardLine, SceneOrder, lines_of
from tallystick.rooms.studio.continuity.card_statements import ReadLine, card_statements
from tallystick.rooms.studio.continuity.cast import Cast
from tallystick.rooms.studio.continuity.certainty import is_denied, is_remembered, is_told
from tallystick.rooms.studio.continuity.comparison import Conflict, conflicts, dead_conflicts
from tallystick.rooms.studio.continuity.fields.abstinence import breaks
from tallystick.rooms.studio.continuity.fields.age import read_age
from tallystick.rooms.studio.continuity.fields.appearance import FIELDS as LOOKS
from tallystick.rooms.studio.continuity.fields.appearance import read_appearance, read_figure
from tallystick.rooms.studio.continuity.fields.death import read_acts, read_death
from tallystick.rooms.studio.continuity.fields.found import Found
from tallystick.rooms.studio.continuity.fields.kin import read_kin
from tallystick.rooms.studio.continuity.fields.objects import (
    is_definite,
    properties_disagree,
    read_numbers,
    read_properties,
    read_sides,
)
from tallystick.rooms.studio.continuity.fields.place import read_bank, read_place
from tallystick.rooms.studio.continuity.fields.rank import read_occupation, read_rank
from tallystick.rooms.studio.continuity.findings import Cited, Finding, Findings, LookedAt, cite, weighed
from tallystick.rooms.studio.continuity.mentions import ParsedPassage, name_mentions, pronoun_mentions
from tallystick.rooms.studio.continuity.passages import Passage, passages_of
from tallystick.rooms.studio.continuity.rules import BY_MODEL, RULES, Focus, in_focus, rule_of
from tallystick.rooms.studio.continuity.spellings import Slip, Spellings
from tallystick.rooms.studio.continuity.statements import NEAR, PASSAGE, Statement
from tallystick.rooms.studio.continuity.waivers import Waiver, waived, waivers_of
from tallystick.text.words import words

_READERS = (
    read_appearance,
    read_age,
    read_kin,
    read_death,
    read_rank,
    read_sides,
    read_place,
    read_bank,
    read_figure,
    read_occupation,
)
_SOON = re.compile(
    r"\b(?:the\s+)?(?:next|following|same)\s+(?:day|morning|evening|night|afternoon)\b|\bthat\s+(?:night|evening|afternoon)\b",
    re.IGNORECASE,
)
_YEARS = re.compile(r"\byears?\s+(?:later|after|passed|went|had|on)\b|\bafter\s+(?:\w+\s+){0,2}years\b", re.IGNORECASE)
_WALKS = re.compile(
    r"\bun-?dead\b|\bghost\b|\bvampire\b|\bspectre\b|\balive\b|\bresurrect|\breturns from\b", re.IGNORECASE
)
WITHOUT_PARSER = ("name-spelling", "term-variant", "weekday", "day-count")
"""The rules that need no grammar."""


class BookReading:
    """A book as the check reads it. What is worked out is kept."""

    def __init__(self, book: Book, parser: Parser | None) -> None:
        self.book, self.parser = book, parser
        self.passages = [passage for scene in book.scenes for passage in passages_of(scene)]
        self.cast = Cast(book.cards)

    @cached_property
    def parsed(self) -> list[ParsedPassage]:
        """The passages with grammar and mentions; empty without a parser."""
        if self.parser is None:
            return []
        texts = list(self.parser.parse([passage.text for passage in self.passages]))
        self.cast.learn(texts, self.parser.parse([" ".join(card.source.lines) for card in self.book.cards]))
        found = [ParsedPassage(passage, text) for passage, text in zip(self.passages, texts, strict=True)]
        name_mentions(self.cast, found)
        pronoun_mentions(self.cast, found)
        return found

    @cached_property
    def card_lines(self) -> list[ReadLine]:
        """Every line of every card and what was understood of it."""
        _ = self.parsed
        return card_statements(self.cast, self.order, self.book.cards, self._year, self.parser)

    @cached_property
    def order(self) -> SceneOrder:
        """The scenes by name."""
        return SceneOrder(self.book.scenes)

    @property
    def _year(self) -> int | None:
        return None

    @cached_property
    def settled(self) -> list[Statement]:
        """What the cards settle."""
        return [one for line in self.card_lines for one in line.statements]

    @cached_property
    def told(self) -> list[Statement]:
        """What the scenes' narration tells for sure."""
        found = []
        for passage in self.parsed:
            for read in _READERS:
                found += [
                    self._told(passage, one)
                    for one in read(passage, None)
                    if one.sure
                    and is_told(passage, one.word)
                    and not is_denied(one.word)
                    and (one.field not in LOOKS or not is_remembered(one.word))
                ]
        return sorted(found, key=lambda one: (one.order, one.at))

    @cached_property
    def acts(self) -> list[Statement]:
        """Who does what before the reader's eyes."""
        return [
            self._told(passage, one)
            for passage in self.parsed
            for one in read_acts(passage)
            if is_told(passage, one.word)
        ]

    def findings(
        self, focus: Focus = "general", *, waivers: Sequence[Waiver] = (), cards: Collection[str] | None = None
    ) -> Findings:
        """Everything that does not go together.

        Args:
            focus: What to look for.
            waivers: What the author leaves as it is, beside what the files themselves say.
            cards: The only cards to compare with; all if not given.
        """
        found = self._all
        if cards is not None:
            found = [finding for finding in found if not finding.from_card or finding.first.path in cards]
        kept = [finding for finding in _once(found) if in_focus(RULES[finding.rule], focus)]
        return Findings(findings=self.waived(kept, waivers), looked_at=self.looked_at(), not_checked=self.not_checked)

    def waived(self, findings: Sequence[Finding], waivers: Sequence[Waiver]) -> tuple[Finding, ...]:
        """Findings with the author's reasons for leaving them."""
        own, _ = waivers_of(self.book)
        return waived(findings, [*own, *waivers])

    def against(self, scene: str, cards: Iterable[str], *, hard_only: bool, waivers: Sequence[Waiver] = ()) -> Findings:
        """What one scene says against some cards."""
        wanted = set(cards)
        kept = [
            finding
            for finding in self._all
            if finding.second.path == scene
            and finding.from_card
            and finding.first.path in wanted
            and (finding.hard or not hard_only)
        ]
        return Findings(findings=self.waived(kept, waivers), looked_at=self.looked_at(), not_checked=self.not_checked)

    @property
    def not_checked(self) -> tuple[str, ...]:
        """The rules that need the grammar, where it is not installed."""
        return () if self.parser is not None else tuple(sorted(set(RULES) - {*WITHOUT_PARSER, BY_MODEL}))

    def looked_at(self) -> LookedAt:
        """How much was read."""
        known = sum(bool(one.field) for one in self.settled)
        return LookedAt(
            files=len(self.book.scenes) + len(self.book.cards),
            words=sum(len(passage.text.split()) for passage in self.passages),
            facts=len(self.told) + known,
            names=sum(person.is_person and person.mentions > 0 for person in self.cast.people.values()),
        )

    @cached_property
    def _all(self) -> list[Finding]:
        found = [*self._slips(), *self._days()]
        if self.parser is not None:
            found += [one for conflict in self._conflicts() if (one := self._finding(conflict)) is not None]
        orders = {scene.path: scene.order for scene in self.book.scenes}
        return sorted(found, key=lambda one: (orders.get(one.second.path, -1), one.second.line, one.rule, one.subject))

    # -- statements ----------------------------------------------------------------------------------------------------

    def _told(self, passage: ParsedPassage, found: Found) -> Statement:
        told = passage.passage
        return Statement(
            subject=found.person.key,
            name=found.person.name,
            field=found.field,
            value=found.value,
            words=found.words,
            path=told.scene.path,
            line=told.line_at(found.word.start),
            quote=passage.parsed.sentence_text(found.word.sentence),
            order=told.scene.order,
            at=PASSAGE * told.number + found.word.start,
            hard=found.hard,
            by_pronoun=found.by_pronoun,
            day=told.day,
        )

    def _conflicts(self) -> Iterator[Conflict]:
        yield from conflicts(self.settled, self.told, self._apart)
        spared = {
            self.cast.people[card.path].key
            for card in self.book.cards
            if card.kind == "character" and _WALKS.search("\n".join(card.source.lines))
        }
        yield from dead_conflicts(self.settled, [one for one in self.told if one.hard], self.acts, spared)
        yield from self._broken_bans()
        yield from self._things()

    def _apart(self, one: Statement, other: Statement) -> int | None:
        """Days between two statements: by dates, by the same scene, or because the next scene says how soon it is."""
        if self._years_pass(one, other):
            return None
        if one.day is not None and other.day is not None:
            return abs(other.day - one.day)
        if one.order == other.order:
            # A whole novel may be one file: only what stands near is of one day.
            return 0 if abs(one.at - other.at) < NEAR else None
        if other.order == one.order + 1 and self._soon(other.order):
            return 1
        return None

    def _years_pass(self, one: Statement, other: Statement) -> bool:
        """Whether the text between two statements says that years go by."""
        first, last = sorted(((one.order, one.at // PASSAGE), (other.order, other.at // PASSAGE)))
        return any(
            first <= (passage.scene.order, passage.number) <= last and _YEARS.search(passage.text)
            for passage in self.passages
        )

    def _soon(self, order: int) -> bool:
        opening = next((passage.text[:200] for passage in self.passages if passage.scene.order == order), "")
        return _SOON.search(opening) is not None

    def _broken_bans(self) -> Iterator[Conflict]:
        bans = [one for one in self.settled if one.field == "never"]
        if not bans:
            return
        for passage in self.parsed:
            for word in passage.parsed.words:
                if word.pos != "VERB":
                    continue
                for ban in bans:
                    who = breaks(passage, word, ban.value) if ban.holds_in(passage.passage.scene.order) else None
                    if who is not None and who.person.key == ban.subject and who.sure:
                        yield self._ban_conflict(passage, word, ban)

    def _ban_conflict(self, passage: ParsedPassage, word: ParsedWord, ban: Statement) -> Conflict:
        found = Found(person=self.cast.people[ban.subject], field="never", value=ban.value, words=word.text, word=word)
        message = f"Constraint broken: {ban.name} never does this ({' '.join(map(str, ban.value))})."
        return Conflict(first=ban, second=self._told(passage, found), message=message)

    def _things(self) -> Iterator[Conflict]:
        numbers = [one for one in self.settled if one.field.startswith("number:")]
        made = [one for one in self.settled if one.field.startswith("made:")]
        owned = [one for one in self.settled if one.field == "owns"]
        for passage in self.parsed:
            yield from self._numbers(passage, numbers)
            yield from self._made(passage, made)
            yield from self._owners(passage, owned)

    def _numbers(self, passage: ParsedPassage, settled: list[Statement]) -> Iterator[Conflict]:
        for noun, count, word in read_numbers(passage, card=False) if settled else ():
            known = [
                one for one in settled if one.field == f"number:{noun}" and one.holds_in(passage.passage.scene.order)
            ]
            if known and all(one.value != (count,) for one in known) and is_told(passage, word):
                yield self._thing(passage, word, known[0], f"number:{noun}", str(count))

    def _made(self, passage: ParsedPassage, settled: list[Statement]) -> Iterator[Conflict]:
        for noun, value, word in read_properties(passage) if settled else ():
            known = [
                one for one in settled if one.field == f"made:{noun}" and one.holds_in(passage.passage.scene.order)
            ]
            clash = known and is_definite(word) and all(properties_disagree(str(one.value[0]), value) for one in known)
            if clash and is_told(passage, word):
                yield self._thing(passage, word, known[0], f"made:{noun}", value)

    def _owners(self, passage: ParsedPassage, settled: list[Statement]) -> Iterator[Conflict]:
        if not settled:
            return
        for word in passage.parsed.words:
            known = (
                [one for one in settled if one.value == (word.lemma.lower(),)] if word.pos in {"NOUN", "PROPN"} else []
            )
            whose = passage.mention_of(word.child("poss")) if known else None
            if whose is None or not whose.sure or not whose.is_name or not whose.person.is_person:
                continue
            other = len({one.subject for one in known}) == 1 and known[0].subject != whose.person.key
            if other and word.lemma.lower() not in self._card_words(whose.person.card) and is_told(passage, word):
                yield self._thing(passage, word, known[0], "owns", f"{whose.person.name}'s {word.text}")

    def _card_words(self, path: str | None) -> frozenset[str]:
        card = next((card for card in self.book.cards if card.path == path), None)
        return frozenset(words(card.source.text)) if card is not None else frozenset()

    def _thing(self, passage: ParsedPassage, word: ParsedWord, card: Statement, field: str, words: str) -> Conflict:
        person = next(iter(self.cast.people.values()))
        told = self._told(passage, Found(person=person, field=field, value=(words,), words=words, word=word))
        label = rule_of(field).label.capitalize()
        return Conflict(
            first=card,
            second=told,
            message=f"{label} conflict: {words} in the scene, {card.words or card.value[0]} on the card.",
        )

    # -- findings ------------------------------------------------------------------------------------------------------

    def _finding(self, conflict: Conflict) -> Finding | None:
        first, second = (self._cited(one.path, one.line, one.quote) for one in (conflict.first, conflict.second))
        if first is None or second is None:
            return None
        rule = rule_of(conflict.second.field if conflict.second.field != "acts" else "dead")
        return Finding(
            rule=rule.id,
            severity=weighed(rule, hard=conflict.first.hard),
            subject=conflict.first.name,
            message=conflict.message,
            first=first,
            second=second,
            from_card=conflict.first.from_card,
            hard=conflict.first.hard,
            confidence="medium" if conflict.second.by_pronoun else "high",
        )

    def _slips(self) -> Iterator[Finding]:
        spellings = Spellings(self.passages, self.book.cards, self._is_person)
        for slip in (*spellings.name_slips(), *spellings.term_slips()):
            finding = self._slip_finding(slip)
            if finding is not None:
                yield finding

    def _is_person(self, name: str) -> bool:
        if self.parser is None:
            return True
        person = self.cast.resolve(name) if self.parsed else None
        return person is not None and person.is_person

    def _slip_finding(self, slip: Slip) -> Finding | None:
        if slip.card is not None:
            first = cite(slip.card.source, slip.card_line, " ".join(slip.card.source.lines[slip.card_line - 1].split()))
        else:
            first = self._cited_at(*slip.first) if slip.first else None
        second = self._cited_at(slip.passage, slip.at)
        if first is None or second is None:
            return None
        rule = RULES[slip.kind]
        usual = "on the card" if slip.card is not None else f"elsewhere ({slip.count} times)"
        return Finding(
            rule=rule.id,
            severity=rule.severity,
            subject=slip.usual,
            from_card=slip.card is not None,
            hard=True,
            message=f"Spelling conflict: '{slip.odd}' in the scene, '{slip.usual}' {usual}.",
            first=first,
            second=second,
        )

    def _days(self) -> Iterator[Finding]:
        lines: list[CardLine] = [line for card in self.book.cards for line in lines_of(card, self.order, None)]
        for clash in (*weekday_clashes(self.passages, lines), *count_clashes(self.passages, lines)):
            finding = self._clash_finding(clash)
            if finding is not None:
                yield finding

    def _clash_finding(self, clash: Clash) -> Finding | None:
        first, second = self._place(clash.first), self._place(clash.second)
        if first is None or second is None:
            return None
        rule = RULES[clash.rule]
        return Finding(
            rule=rule.id,
            severity=rule.severity,
            subject=second.path.rpartition("/")[2],
            message=clash.message,
            first=first,
            second=second,
            from_card=clash.first.line is not None,
            hard=True,
        )

    def _place(self, place: Place) -> Cited | None:
        if place.line is not None:
            return cite(place.line.card.source, place.line.line, place.line.written)
        return self._cited_at(place.passage, place.at) if place.passage is not None else None

    def _cited_at(self, passage: Passage, at: int) -> Cited | None:
        start = max(passage.text.rfind(mark, 0, at) for mark in (". ", "! ", "? ")) + 1
        ends = [found for mark in (". ", "! ", "? ") if (found := passage.text.find(mark, at)) >= 0]
        quote = passage.text[start : min(ends, default=len(passage.text)) + 1].strip()
        return self._cited(passage.scene.path, passage.line_at(at), quote)

    def _cited(self, path: str, line: int, quote: str) -> Cited | None:
        source = self._sources.get(path)
        return cite(source, line, quote) if source is not None else None

    @cached_property
    def _sources(self) -> dict[str, Source]:
        scenes = {scene.path: scene.source for scene in self.book.scenes}
        return scenes | {card.path: card.source for card in self.book.cards}


def _once(found: Iterable[Finding]) -> list[Finding]:
    """One finding for each rule, place and subject; one against a card goes before one against a scene."""
    kept: dict[tuple[str, str, int, str], Finding] = {}
    for one in found:
        key = (one.rule, one.second.path, one.second.line, one.subject)
        if key not in kept or (one.from_card and not kept[key].from_card):
            kept[key] = one
    return list(kept.values())
