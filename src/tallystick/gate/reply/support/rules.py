"""Run the support rules over one claim."""

from collections.abc import Callable, Sequence

from tallystick.gate.reply.support.bindings import bound_otherwise
from tallystick.gate.reply.support.comparisons import compared_wrongly
from tallystick.gate.reply.support.coverage import not_covered
from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.exchanges import exchanged
from tallystick.gate.reply.support.figures import figure_missing
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.hedges import out_of_context
from tallystick.gate.reply.support.names import capitalised, name_missing
from tallystick.gate.reply.support.polarity import says_opposite
from tallystick.gate.reply.support.quantifiers import quantifier_missing
from tallystick.gate.reply.support.readings import read


def _no_card(_name: str) -> str:
    return ""


def doubted(claim: str, grounds: Sequence[Ground], *, counts: frozenset[int] = frozenset()) -> bool:
    """Whether a claim differs from the recorded results in a number, a quantifier or a negation."""
    reading = read(claim)
    return (
        figure_missing(reading, grounds, counts)
        or quantifier_missing(reading, grounds)
        or (None if _listed(claim) else says_opposite(reading, grounds))
    ) is not None


def _listed(claim: str) -> bool:
    """Whether a claim has the form `key: value`, in which results are printed."""
    return ": " in claim[:60]


def find_doubt(
    claim: str,
    grounds: Sequence[Ground],
    *,
    counts: frozenset[int] = frozenset(),
    known: frozenset[str] = frozenset(),
    card: Callable[[str], str] = _no_card,
) -> Doubt | None:
    """Return why the quotes do not support a claim, or None.

    Args:
        claim: The sentence.
        grounds: The cited evidence.
        counts: Counts of the reply's own parts (cited receipts, statements), which a claim may mention without a quote.
        known: Stems that need not occur in a quote: verbs that describe a cited call.
        card: Returns the profile file (card) of a named person, used to find other names for that person.
    """
    reading = read(claim)
    capital = capitalised(reading, grounds)
    return (
        figure_missing(reading, grounds, counts)
        or name_missing(reading, grounds, card)
        or bound_otherwise(reading, grounds, capital)
        or exchanged(reading, grounds, capital)
        or quantifier_missing(reading, grounds)
        or says_opposite(reading, grounds)
        or compared_wrongly(reading, grounds)
        or out_of_context(reading, grounds)
        or not_covered(reading, grounds, known)
    )
