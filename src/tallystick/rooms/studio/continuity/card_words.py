"""What a card says in sentences: its body, and what stands under `constraints`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tallystick.gate.reply.sources import Source, sha256_text
from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.card_facts import constraints_of
from tallystick.rooms.studio.continuity.card_notes import as_told, notes_of
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Cast, Mention
from tallystick.rooms.studio.continuity.prose import Prose

Reader = Callable[[Narration, Binder], Iterator[Fact]]


def told_by_card(card: CanonCard, cast: Cast, readers: Sequence[Reader]) -> Iterator[Fact]:
    """The facts that a card gives in sentences and notes; those of its constraints are hard."""
    body = Prose(card.source, order=-1, body_line=card.body_line)
    for fact in _facts(card, body, cast, readers):
        yield replace(fact, hard=False)
    for sentence, line in notes_of(card):
        yield from (replace(fact, hard=False) for fact in _noted(card, sentence, line, cast, readers))
    for text, line in constraints_of(card):
        sentence = text if text.rstrip().endswith((".", "!", "?")) else f"{text}."
        found = list(_noted(card, sentence, line, cast, readers))
        yield from found or _noted(card, as_told(card.name, sentence), line, cast, readers)


def _noted(card: CanonCard, sentence: str, line: int, cast: Cast, readers: Sequence[Reader]) -> Iterator[Fact]:
    """What one sentence gives, quoted as the card's own line."""
    source = Source(path=card.path, text=sentence, sha256=sha256_text(sentence))
    quote = " ".join(card.source.lines[line - 1].split())
    for fact in _facts(card, Prose(source, order=-1), cast, readers):
        # `the son of the late …` is about another of the name.
        if fact.details != ("loosely",):
            yield replace(fact, line=line, quote=quote)


def _facts(card: CanonCard, prose: Prose, cast: Cast, readers: Sequence[Reader]) -> Iterator[Fact]:
    narration, binder = Narration(prose), CardBinder(prose, cast, card)
    for read in readers:
        for fact in read(narration, binder):
            if fact.subject == card.path:
                yield replace(fact, from_card=True)


class CardBinder(Binder):
    """On a card, a pronoun without a name before it is the card's own subject."""

    def __init__(self, prose: Prose, cast: Cast, card: CanonCard) -> None:
        super().__init__(prose, cast)
        self._card = card

    def pronoun(self, number: int, at: int, word: str) -> Mention | None:
        """Who is meant; the card's subject if nobody else is named."""
        found = super().pronoun(number, at, word)
        if found is not None or any(
            mention.key != self._card.path for near in range(number + 1) for mention in self.mentions(near)
        ):
            return found
        return Mention(start=at, end=at, key=self._card.path, name=self._card.name, is_possessive=False)
