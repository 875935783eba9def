"""Check that a claim does not swap two values, two persons or the two sides of a connective in its quote.

`Gus repaired it with a pin that Pia lent him` assigns `repair` to Gus and `lend` to Pia; a claim that swaps them is
refused. So is `the work is accepted once the rest is paid` for `the rest is paid once the work is accepted`.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from tallystick.gate.reply.support.amounts import pieces
from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.names import NAME_TITLES
from tallystick.gate.reply.support.readings import Reading, akin, read
from tallystick.records import record

_CONNECTIVE = re.compile(r"\b(once|after|before|until|because|since|if|unless)\b", re.IGNORECASE)
_PAIR = 2


@record
class Placed:
    """A value or word of a text with its position."""

    kind: str
    """`name`, `word`, or the kind and unit of an amount."""
    value: str
    at: int


def exchanged(claim: Reading, grounds: Sequence[Ground], capital: frozenset[str]) -> Doubt | None:
    """Return a doubt if a claim swaps values, persons or sides of a connective; else None."""
    said = _placed(claim, capital)
    for ground in grounds:
        quote = read(ground.quote)
        held = _placed(quote, capital)
        for kind in sorted({each.kind for each in said} - {"word"}, key=lambda one: (one != "name", one)):
            if _crossed(kind, said, held):
                reason = "The claim swaps two persons or values of the quoted text."
                return Doubt(code=f"{kind.partition(' ')[0]}_unsupported", reason=reason)
        if _reversed(claim, quote):
            reason = "The claim swaps the two sides of a connective in the quoted text."
            return Doubt(code="claim_unsupported", reason=reason)
    return None


@lru_cache(maxsize=4_096)
def _placed(reading: Reading, capital: frozenset[str]) -> tuple[Placed, ...]:
    """Return names (adjacent words are one), amounts and content words in text order."""
    found: list[Placed] = []
    end = -1
    for term in reading.terms:
        is_name = term.is_name or (term.opens and term.folded in capital)
        if is_name and term.folded in NAME_TITLES:
            continue
        if is_name and found and found[-1].kind == "name" and term.start <= end + 1:
            found[-1] = Placed(kind="name", value=term.folded.removesuffix("'s"), at=found[-1].at)
        else:
            kind = "name" if is_name else "word"
            found.append(
                Placed(kind=kind, value=term.folded.removesuffix("'s") if is_name else term.stem, at=term.start)
            )
        end = term.start + len(term.written)
    tokens = pieces(reading.text)
    for each in reading.amounts:
        if not each.weak:
            kind = f"{each.kind} {each.dimension}".strip()
            found.append(Placed(kind=kind, value=str(each.value), at=tokens[each.at].start))
    return tuple(sorted(found, key=lambda one: one.at))


def _crossed(kind: str, said: Sequence[Placed], held: Sequence[Placed]) -> bool:
    """Whether claim and quote have the same two values of a kind, but assign at least two words to the opposite one."""
    ours, theirs = ([one for one in each if one.kind == kind] for each in (said, held))
    if len(ours) != _PAIR or len(theirs) != _PAIR or {one.value for one in ours} != {one.value for one in theirs}:
        return False
    if ours[0].value == ours[1].value:
        return False
    shared = [(one, other) for one in said for other in held if one.kind == other.kind != kind and _same(one, other)]
    once = [
        (one, other)
        for one, other in shared
        if sum(pair[0] is one for pair in shared) == 1 and sum(pair[1] is other for pair in shared) == 1
    ]
    given, stated = _owners([one for one, _ in once], ours), _owners([other for _, other in once], theirs)
    if not given or not stated:
        return False
    moved = {(mine, its) for mine, its in zip(given, stated, strict=True) if mine != its}
    return len(moved) == _PAIR


def _same(one: Placed, other: Placed) -> bool:
    return one.value == other.value or (one.kind == "word" and akin(one.value, other.value))


def _owners(things: Sequence[Placed], values: Sequence[Placed]) -> list[str]:
    """Return the value that each word belongs to if all words follow, or all precede, their value; else nothing."""
    first, second = values
    if all(thing.at > first.at for thing in things):
        return [(second if thing.at > second.at else first).value for thing in things]
    if all(thing.at < second.at for thing in things):
        return [(first if thing.at < first.at else second).value for thing in things]
    return []


def _reversed(claim: Reading, quote: Reading) -> bool:
    """Whether claim and quote join the same two statements by the same connective in reverse order."""
    ours, theirs = _sides(claim.text), _sides(quote.text)
    if ours is None or theirs is None or ours[0] != theirs[0]:
        return False
    (left, right), (main, given) = (tuple(read(side).stems for side in each[1:]) for each in (ours, theirs))
    both = (left | right) & (main & given)
    crossed = (left & given) - both, (right & main) - both
    return all(crossed) and not (left & main) - both and not (right & given) - both


@lru_cache(maxsize=4_096)
def _sides(text: str) -> tuple[str, str, str] | None:
    """Return a sentence's connective, main clause and subordinate clause; None unless it has exactly one connective."""
    found = list(_CONNECTIVE.finditer(text))
    if len(found) != 1:
        return None
    word, before, after = found[0][1].lower(), text[: found[0].start()], text[found[0].end() :]
    if before.strip():
        return word, before, after
    given, comma, main = after.partition(", ")
    return (word, main, given) if comma else None
