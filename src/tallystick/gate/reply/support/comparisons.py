"""Check that comparisons in a claim agree with the quoted numbers."""

import re
from collections.abc import Sequence
from fractions import Fraction

from tallystick.gate.reply.support.bindings import segment_texts
from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import Reading, read

_COMPARATIVE = re.compile(r"\b(?:more|less|fewer|better|worse|[a-z]{2,}er)\b", re.IGNORECASE)
_LESS = re.compile(
    r"\b(?:less|fewer|lower|cheaper|shorter|smaller|younger|lighter|earlier|slimmer|thinner|quieter)\b", re.IGNORECASE
)
_THAN = re.compile(r"(?<!other )(?<!rather )\bthan\b(?!\s+[\d$€£])", re.IGNORECASE)
OF_TWO = re.compile(r"\bthe (\w+er|(?:more|less) \w+)(?: one)? of (?:the|these|those) (?:two|pair)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween (.{1,60}?) and (.{1,60}?)(?=[,.;]|$)")
_NEAR = 40
"""Maximum characters between a comparative and `than`."""
_FROM_TO = re.compile(
    r"\bfrom (.{1,30}?) (?:up |down )?to (.{1,30}?)(?=[,.;)](?!\d)|$| (?:in|on|after|with|between|last|over)\b)"
)
_UP = re.compile(r"\b(?:up|rose|risen|increased?|grew|more|slower|higher)\b", re.IGNORECASE)
_DOWN = re.compile(
    r"\b(?:down|fell|fallen|decreased?|reduced?|dropped|shrank|less|faster|lower|improved)\b", re.IGNORECASE
)
_TIMES = {"doubl": 2, "twice": 2, "tripl": 3}
_EARLIER = re.compile(r"\b(?:previous|previously|earlier|formerly)\b(.{1,40})", re.IGNORECASE)


def compared_wrongly(claim: Reading, grounds: Sequence[Ground]) -> Doubt | None:
    """Return a doubt if a comparison contradicts the quoted numbers; else None."""
    if _than_wrong(claim, grounds) or _change_wrong(claim, grounds) or _multiple_wrong(claim, grounds):
        return Doubt(code="comparison_unsupported", reason="The quoted numbers do not support this comparison.")
    return None


def _than_wrong(claim: Reading, grounds: Sequence[Ground]) -> bool:
    than, pair = _THAN.search(claim.text), OF_TWO.search(claim.text)
    if than is not None:
        left, right = read(claim.text[: than.start()]), read(claim.text[than.end() :])
        found = list(_COMPARATIVE.finditer(left.text[-_NEAR:]))
        if not found or (right.amounts and right.amounts[0].at == 0):
            return False
        sign = -1 if _LESS.search(found[-1].group()) else 1
    elif pair is not None:
        left, right, sign = read(claim.text[: pair.start()]), read(""), -1 if _LESS.search(pair[1]) else 1
    else:
        return False
    one, other = _keys(left), _keys(right)
    ours, theirs = _value_of(one - other, other, grounds), _value_of(other - one, one, grounds)
    return _against(sign, ours, theirs, grounds)


def _against(sign: int, ours: Fraction | None, theirs: Fraction | None, grounds: Sequence[Ground]) -> bool:
    """Whether two quoted numbers contradict a comparison; if one side has none, it is the other of two numbers."""
    numbers = {each.value for ground in grounds for each in read(ground.quote).amounts if each.kind == "number"}
    known = ours if theirs is None else theirs
    rest = numbers - {known}
    if known is None or (None in (ours, theirs) and len(rest) != 1):
        return False
    ours = next(iter(rest)) if ours is None else ours
    theirs = next(iter(rest)) if theirs is None else theirs
    return (ours - theirs) * sign <= 0


def _value_of(wanted: frozenset[str], others: frozenset[str], grounds: Sequence[Ground]) -> Fraction | None:
    """Return the number that the quotes give for one side of a comparison; None also if several fit equally."""
    found: dict[int, set[Fraction]] = {}
    for ground in grounds:
        for part in [*segment_texts(ground.quote), ground.quote]:
            reading = read(part)
            numbers = [amount for amount in reading.amounts if amount.kind == "number" and not amount.weak]
            named = [amount for amount in numbers if amount.noun and amount.noun in wanted | others]
            numbers = numbers if len(numbers) == 1 else named
            near = _keys(reading) | (read(ground.context).stems if len(grounds) > 1 else frozenset())
            if numbers and near & wanted:
                score = 2 * len(near & wanted) - len(near & (others - wanted))
                found.setdefault(score, set()).add(numbers[0].value)
    best = found[max(found)] if found else set[Fraction]()
    return next(iter(best)) if len(best) == 1 else None


def _keys(reading: Reading) -> frozenset[str]:
    """Return the content words and the months of a text."""
    return reading.stems | {f"month {each.value}" for each in reading.amounts if each.kind == "month"}


def _change_wrong(claim: Reading, grounds: Sequence[Ground]) -> bool:
    change = _FROM_TO.search(claim.text)
    if change is None:
        return _rose_wrongly(claim, grounds)
    before, after = (_first(change[1]), _first(change[2]))
    if before is None or after is None or before == after:
        return False
    said = claim.text[: change.start()] + claim.text[change.end() :]
    if (_UP.search(said) and not _DOWN.search(said) and before > after) or (
        _DOWN.search(said) and not _UP.search(said) and before < after and "improved" not in said
    ):
        return True
    return any(_reversed(ground.quote, before, after) for ground in grounds)


def _rose_wrongly(claim: Reading, grounds: Sequence[Ground]) -> bool:
    """Whether `rose between A and B` contradicts the numbers that the quotes give for A and B."""
    change = _BETWEEN.search(claim.text)
    up, down = bool(_UP.search(claim.text)), bool(_DOWN.search(claim.text))
    if change is None or up == down:
        return False
    first, second = read(change[1]), read(change[2])
    sides = (_dated(first, second, grounds), _dated(second, first, grounds))
    return None not in sides and _against(1 if up else -1, sides[1], sides[0], grounds)


def _dated(one: Reading, other: Reading, grounds: Sequence[Ground]) -> Fraction | None:
    """Return the number that a quote gives for a date."""
    wanted = {(each.kind, each.value) for each in one.amounts} - {(each.kind, each.value) for each in other.amounts}
    for ground in grounds:
        held = read(ground.quote).amounts
        if wanted & {(each.kind, each.value) for each in held}:
            return next((each.value for each in held if each.kind == "number" and each.dimension[:1] != "m"), None)
    return None


def _reversed(quote: str, before: Fraction, after: Fraction) -> bool:
    change = _FROM_TO.search(quote)
    if change is not None and (_first(change[1]), _first(change[2])) == (after, before):
        return True
    earlier = [amount.bare for found in _EARLIER.finditer(quote) for amount in read(found[1]).amounts]
    return after in earlier and before not in earlier


def _first(text: str) -> Fraction | None:
    return next((amount.bare for amount in read(text).amounts if amount.kind == "number"), None)


def _multiple_wrong(claim: Reading, grounds: Sequence[Ground]) -> bool:
    times = next((factor for word, factor in _TIMES.items() if word in claim.words), None)
    values = [amount.bare for ground in grounds for amount in read(ground.quote).amounts if amount.kind == "number"]
    if times is None or len(values) < 2:  # noqa: PLR2004
        return False
    return not any(one * times == other for one in values for other in values)
