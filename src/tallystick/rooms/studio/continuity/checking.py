"""The checks: a whole book against itself and its cards, or one scene against some cards.

1. Read every file: what is told in it, who is named, which facts it gives.
2. Read the cards' facts.
3. Compare: two facts of one subject that cannot both be true, the dead who act, days that do not add up, names that
   are spelt two ways, terms that are written two ways.
4. Cite: a finding whose two quotes do not stand where they should is not given.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.nouns import Book
from tallystick.rooms.studio.continuity.after_death import after_death, borne_out
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.card_facts import SceneOrder, field_facts
from tallystick.rooms.studio.continuity.card_places import banks
from tallystick.rooms.studio.continuity.card_subjects import CardSubjects
from tallystick.rooms.studio.continuity.card_words import told_by_card
from tallystick.rooms.studio.continuity.changes import Changes
from tallystick.rooms.studio.continuity.comparing import Comparer, Conflict
from tallystick.rooms.studio.continuity.elapsed import Elapsed
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.findings import Cited, Finding, Findings, LookedAt, cite, weighed
from tallystick.rooms.studio.continuity.forbidden import broken_bans
from tallystick.rooms.studio.continuity.names import Slip, slips
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Cast
from tallystick.rooms.studio.continuity.prose import Prose, words_in
from tallystick.rooms.studio.continuity.readers import READERS
from tallystick.rooms.studio.continuity.rules import RULES, Focus, in_focus, rule_of
from tallystick.rooms.studio.continuity.second_look import second_look
from tallystick.rooms.studio.continuity.since_death import dates_of, miscounted_years
from tallystick.rooms.studio.continuity.terms import variants
from tallystick.rooms.studio.continuity.timeline import Clash, clashes
from tallystick.rooms.studio.continuity.waivers import Waiver, waived, waivers_of


def check_book(book: Book, focus: Focus = "general", *, waivers: Sequence[Waiver] = ()) -> Findings:
    """Check a whole book against itself and its cards."""
    return Reading(book).findings(focus, waivers=waivers)


class Reading:
    """A book as the rules read it. What is worked out is kept."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.proses = [Prose(scene.source, order=scene.order, body_line=scene.body_line) for scene in book.scenes]
        """The scenes' prose, in reading order."""

    @cached_property
    def cast(self) -> Cast:
        """Who is named in the book."""
        return Cast(self.proses, self.book.cards)

    @cached_property
    def _tellings(self) -> list[tuple[Narration, Binder]]:
        eyes = {scene.path: self.cast.key_of_name(scene.pov) for scene in self.book.scenes if scene.pov}
        return [(Narration(prose), Binder(prose, self.cast, pov=eyes.get(prose.path))) for prose in self.proses]

    @cached_property
    def told(self) -> list[Fact]:
        """What the scenes tell."""
        carded = CardSubjects(self.book.cards)
        found = [carded.settled(fact) for telling in self._tellings for fact in second_look(*telling)]
        return found + [fact for narration, _ in self._tellings for fact in banks(narration, self.book.cards)]

    @cached_property
    def settled(self) -> list[Fact]:
        """What the cards settle."""
        order = SceneOrder(self.book.scenes)
        found = [fact for card in self.book.cards for fact in field_facts(card, order)]
        found += [kin for fact in found if (kin := self._kin(fact)) is not None]
        known = {(fact.path, fact.attribute) for fact in found}
        # A field says it more plainly than a sentence; a sentence adds what no field has.
        found += [
            fact
            for card in self.book.cards
            for fact in told_by_card(card, self.cast, READERS)
            if (fact.path, fact.attribute) not in known
        ]
        return found

    def _kin(self, fact: Fact) -> Fact | None:
        """`Father: Saul` says as well what Saul is to her."""
        if fact.attribute not in {"mother", "father", "husband", "wife"}:
            return None
        key = self.cast.key_of_name(str(fact.value[1]))
        return replace(fact, attribute=f"kin:{key}", value=(fact.attribute,), words=fact.attribute) if key else None

    def _after_death(self) -> Iterator[Conflict]:
        deaths_told = [fact for fact in (*self.settled, *self.told) if fact.attribute == "dead"]
        return after_death(deaths_told, self._tellings) if deaths_told else iter(())

    def borne_out(self) -> list[Fact]:
        """What the scenes tell, but for deaths of those who go on acting: those are another's, or a slip."""
        deaths = [fact for fact in self.told if fact.attribute == "dead"]
        dead = borne_out(deaths, self._tellings)
        return [fact for fact in self.told if fact.attribute != "dead" or fact in dead]

    @cached_property
    def _elapsed(self) -> Elapsed:
        return Elapsed(self.proses)

    @cached_property
    def _conflicts(self) -> list[Conflict]:
        comparer = Comparer(
            elapsed=self._elapsed,
            nested=self._nested,
            changed=Changes([binder for _, binder in self._tellings]).between,
        )
        facts = [*self.settled, *self.told]
        narrations = [narration for narration, _ in self._tellings]
        return [
            *comparer.conflicts(facts),
            *self._after_death(),
            *broken_bans(narrations, self.book.cards),
            *miscounted_years(self._tellings, facts, dates_of(self.book.scenes)),
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
        found = [*self._of_facts(), *self._of_days(), *self._of_names(), *self._of_terms()]
        if cards is not None:
            found = [finding for finding in found if not finding.from_card or finding.first.path in cards]
        kept = sorted(
            (finding for finding in _once(found) if in_focus(RULES[finding.rule], focus)),
            key=lambda finding: (
                self._order_of(finding.second.path),
                finding.second.line,
                finding.rule,
                finding.subject,
            ),
        )
        own, _ = waivers_of(self.book)
        return Findings(findings=waived(kept, [*own, *waivers]), looked_at=self.looked_at())

    def against(self, scene: str, cards: Iterable[str], *, hard_only: bool, waivers: Sequence[Waiver] = ()) -> Findings:
        """What one scene says against some cards."""
        wanted = set(cards)
        found = [
            finding
            for finding in (*self._of_facts(), *self._of_names())
            if finding.second.path == scene and finding.from_card and finding.first.path in wanted
        ]
        own, _ = waivers_of(self.book)
        kept = [finding for finding in found if finding.hard or not hard_only]
        return Findings(findings=waived(kept, [*own, *waivers]), looked_at=self.looked_at())

    def looked_at(self) -> LookedAt:
        """How much was read."""
        return LookedAt(
            files=len(self.proses) + len(self.book.cards), words=words_in(self.proses),
            facts=len(self.told) + len(self.settled), names=len(self.cast.people()),
        )  # fmt: skip

    # -- facts ---------------------------------------------------------------------------------------------------------

    def _of_facts(self) -> Iterator[Finding]:
        for conflict in self._conflicts:
            first, second = self._cited(conflict.first), self._cited(conflict.second)
            if first is None or second is None:
                continue
            # An age may contradict a year of birth; all else is of one attribute, or a death and a deed.
            rule = rule_of("age" if conflict.second.attribute == "age" else conflict.first.attribute)
            hard = conflict.first.hard and conflict.second.hard
            yield Finding(
                rule=rule.id, severity=weighed(rule, hard=hard), subject=_subject(conflict),
                message=conflict.message, first=first, second=second, from_card=conflict.first.from_card,
                hard=conflict.first.hard,
            )  # fmt: skip

    def _nested(self, one: str, other: str) -> bool:
        """Whether the text puts one place into the other: `Vevey, in Switzerland`."""
        pattern = re.compile(
            rf"\b(?:{re.escape(one)},?\s+(?:(?:in|of|near)\s+(?:the\s+)?)?{re.escape(other)}|"
            rf"{re.escape(other)},?\s+(?:(?:in|of|near)\s+(?:the\s+)?)?{re.escape(one)})\b",
            re.IGNORECASE,
        )
        return any(pattern.search(prose.flat) for prose in self.proses)

    # -- days and names ------------------------------------------------------------------------------------------------

    def _of_days(self) -> Iterator[Finding]:
        for clash in clashes([narration for narration, _ in self._tellings], self._elapsed):
            finding = _day_finding(clash)
            if finding is not None:
                yield finding

    @cached_property
    def _slips(self) -> list[Slip]:
        return list(slips(self.proses, self.cast))

    def _of_names(self) -> Iterator[Finding]:
        for slip in self._slips:
            finding = self._slip_finding(slip)
            if finding is not None:
                yield finding

    def _slip_finding(self, slip: Slip) -> Finding | None:
        card = next((card for card in self.book.cards if re.search(rf"\b{re.escape(slip.name)}\b", card.name)), None)
        if card is not None:
            line = next((at for at, text in enumerate(card.source.lines, 1) if slip.name in text), 1)
            first = cite(card.source, line, " ".join(card.source.lines[line - 1].split()))
        else:
            first = _cited_at(*slip.first, len(slip.name)) if slip.first else None
        second = _cited_at(*slip.second, len(slip.variant))
        if first is None or second is None:
            return None
        rule = RULES["name-spelling"]
        message = f"'{slip.variant}' stands here, '{slip.name}' elsewhere ({slip.count} times)."
        return Finding(
            rule=rule.id, severity=rule.severity, subject=slip.name, message=message, first=first, second=second,
            from_card=card is not None, hard=True,
        )  # fmt: skip

    def _of_terms(self) -> Iterator[Finding]:
        rule = RULES["term-variant"]
        for variant in variants(self.proses, self.cast):
            first = _cited_at(*variant.first, len(variant.usual))
            second = _cited_at(*variant.second, len(variant.other))
            if first is not None and second is not None:
                message = f"'{variant.other}' stands here, '{variant.usual}' elsewhere ({variant.count} times)."
                yield Finding(
                    rule=rule.id, severity=rule.severity, subject=variant.usual, message=message, first=first,
                    second=second, from_card=False, hard=False,
                )  # fmt: skip

    # -- reading cards, citing -----------------------------------------------------------------------------------------

    def _cited(self, fact: Fact) -> Cited | None:
        source = self._sources.get(fact.path)
        return cite(source, fact.line, fact.quote) if source is not None else None

    @cached_property
    def _sources(self) -> dict[str, Source]:
        scenes = {scene.path: scene.source for scene in self.book.scenes}
        return scenes | {card.path: card.source for card in self.book.cards}

    def _order_of(self, path: str) -> int:
        return self._orders.get(path, -1)

    @cached_property
    def _orders(self) -> dict[str, int]:
        return {scene.path: scene.order for scene in self.book.scenes}


def _once(found: list[Finding]) -> Iterator[Finding]:
    """What a card contradicts need not be shown against another scene as well."""
    carded = {(one.rule, one.second.path, one.second.line) for one in found if one.from_card}
    for finding in found:
        if finding.from_card or (finding.rule, finding.second.path, finding.second.line) not in carded:
            yield finding


def _subject(conflict: Conflict) -> str:
    return conflict.first.name if conflict.first.from_card else conflict.second.name


def _day_finding(clash: Clash) -> Finding | None:
    quotes = []
    for prose, (number, start, end) in (clash.first, clash.second):
        quotes.append(cite(prose.source, prose.line_at(start), prose.quote_of(number, start, end)))
    if quotes[0] is None or quotes[1] is None:
        return None
    rule = RULES[clash.rule]
    return Finding(
        rule=rule.id, severity=rule.severity, subject=clash.subject, message=clash.message, first=quotes[0],
        second=quotes[1], from_card=False, hard=True,
    )  # fmt: skip


def _cited_at(prose: Prose, at: int, length: int) -> Cited | None:
    number = prose.sentence_at(at)
    if number is None:
        return None
    return cite(prose.source, prose.line_at(at), prose.quote_of(number, at, at + length))
