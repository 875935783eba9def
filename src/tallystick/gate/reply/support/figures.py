"""Check that numbers, units, dates and times of a claim occur in the evidence or can be computed from quoted ones."""

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from tallystick.gate.reply.support.amounts import Amount, pieces
from tallystick.gate.reply.support.comparisons import OF_TWO
from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import Reading, read

_MAX_NUMBERS = 12
"""Maximum count of quoted numbers that are combined into sums and differences."""
_MAX_COUNT = 12
_DIGITS = re.compile(r"(?<!\d)0*(\d{1,6})(?!\d)", re.ASCII)
_LIST = re.compile(r",\s+|(?<!\s)\s++(?:and|or)\s+")
_DAY = re.compile(r"m\d+")
"""The dimension of a day of a month (`Amount.dimension`): `m4` for a day of April."""
_DERIVES = re.compile(
    r"\b(?:more|less|fewer|total|together|altogether|combined|sum|difference|by|than|with|saves?|left|remain\w*|rest|"
    r"rose|fell|up|down|average|against|in all|gap|older|younger|longer|shorter|cheaper|dearer)\b",
    re.IGNORECASE,
)
"""Words whose presence in a claim allows a number to be a sum or difference of quoted numbers."""


_ROUNDED = re.compile(
    r"\b(?:(?P<under>nearly|almost|close to|(?:just |a little |well )?under)"
    r"|(?P<over>(?:just |a little |well )?over)|about|around|roughly|approximately|some)\s+(?:a )?$",
    re.IGNORECASE,
)
"""Words before a number that say in which direction it was rounded."""
_CLOSE = Fraction(1, 10)
"""Maximum difference from the quoted number, as a share of the rounded number."""


def figure_missing(claim: Reading, grounds: Sequence[Ground], counts: frozenset[int]) -> Doubt | None:
    """Return a doubt if nothing supports an amount of the claim; else None."""
    held = [amount for ground in grounds for amount in read(ground.quote).amounts]
    around = [each for ground in grounds for each in read(f"{ground.context} . {ground.sentence}").amounts]
    listed = _listed(claim.text)
    of_two = OF_TWO.search(claim.text)
    for amount in claim.amounts:
        if of_two is not None and amount.value == 2:  # noqa: PLR2004 - `the cheaper of the two` counts nothing
            continue
        if amount.weak or _stands(amount, held, claim) or _is_around(amount, around, held, claim):
            continue
        if _rounds(amount, held, claim):
            continue
        if _counts(amount, counts, listed) or _follows(amount, held, claim.text) or _in_ids(amount, grounds):
            continue
        return _missing(amount, held)
    return None


def _is_around(amount: Amount, around: Sequence[Amount], held: Sequence[Amount], claim: Reading) -> bool:
    """Whether the context gives the amount; for a weekday or a time of day only if the quote itself gives no other."""
    if amount.kind in {"weekday", "time"} and any(each.kind == amount.kind for each in held):
        return False
    return _stands(amount, around, claim)


def _in_ids(amount: Amount, grounds: Sequence[Ground]) -> bool:
    """Whether a number is part of a cited path or id: `scene 3` for `scenes/03-the-harbour.md`."""
    if amount.kind != "number" or amount.dimension or amount.bare.denominator != 1:
        return False
    return any(int(amount.bare) in _id_numbers(f"{ground.quote} {ground.context}") for ground in grounds)


@lru_cache(maxsize=4_096)
def _id_numbers(text: str) -> frozenset[int]:
    codes = [piece.written for piece in pieces(text) if piece.kind == "code" and not piece.written.isalnum()]
    return frozenset(int(digits) for code in codes for digits in _DIGITS.findall(code))


def _missing(amount: Amount, held: Iterable[Amount]) -> Doubt:
    other = any(each.kind == amount.kind and _digits(each) == _digits(amount) for each in held)
    code = "unit_unsupported" if other else f"{amount.kind}_unsupported"
    return Doubt(code=code, reason=f"{amount.written or 'A number'} does not occur in the quoted text.")


def _stands(amount: Amount, held: Iterable[Amount], claim: Reading) -> bool:
    return any(_same(amount, each, claim) for each in held)


def _same(one: Amount, other: Amount, claim: Reading) -> bool:
    if {one.kind, other.kind} == {"time", "number"}:
        return _is_hour(*((one, other) if one.kind == "time" else (other, one)))
    if one.kind != other.kind:
        return False
    if one.kind == "time":
        known = "12" not in {one.dimension, other.dimension}
        return one.value == other.value if known else one.value % 720 == other.value % 720
    if {one.dimension, other.dimension} == {"pound", "lb"} and "ound" in one.written + other.written:
        return _digits(one) == _digits(other)
    if not one.dimension or not other.dimension:
        return _digits(one) == _digits(other) and not _other_unit(one, other, claim)
    return one.dimension == other.dimension and one.value == other.value


def _rounds(amount: Amount, held: Sequence[Amount], claim: Reading) -> bool:
    """Whether a number is a rounded quoted number and the word before it says so: `nearly four hundred` for 391."""
    before = claim.text[: pieces(claim.text)[amount.at].start]
    word = _ROUNDED.search(before)
    if word is None or amount.kind != "number":
        return False
    for each in held:
        alike = each.kind == "number" and amount.dimension in {"", each.dimension}
        ours, theirs = (amount.bare, each.bare) if not amount.dimension else (amount.value, each.value)
        if alike and abs(theirs - ours) <= _CLOSE * ours:
            if (word["under"] and theirs <= ours) or (word["over"] and theirs >= ours):
                return True
            if not word["under"] and not word["over"]:
                return True
    return False


def _is_hour(time: Amount, number: Amount) -> bool:
    """Whether a bare number may be the hour of a time: `before nine` for `nine in the morning`."""
    plain = not number.dimension and not number.noun and number.bare.denominator == 1
    return plain and time.value % 720 == (60 * number.bare) % 720


def _other_unit(one: Amount, other: Amount, claim: Reading) -> bool:
    """Whether the claim has a unit where the quote counts something else: `eight feet` for `eight fathoms`.

    The day of a date (`8 April`) has no unit: its dimension is the month, `m4`.
    """
    return bool(one.dimension and other.noun) and other.noun not in claim.stems and not _DAY.fullmatch(one.dimension)


def _digits(amount: Amount) -> Fraction:
    return amount.bare if amount.kind == "number" else amount.value


def _counts(amount: Amount, counts: frozenset[int], listed: frozenset[int]) -> bool:
    """Whether a number is one of `counts` (of cited receipts, of other sentences) or a length of the claim's lists."""
    if amount.kind != "number":
        return False
    return amount.bare in listed or (not amount.dimension and amount.value in counts)


def _listed(text: str) -> frozenset[int]:
    """Return the lengths of the lists in a claim: `two buildings: the granary and the tower`."""
    _, colon, after = text.partition(": ")
    lists = [after] if colon else text.split(";")
    return frozenset(count for each in lists if 1 < (count := len(_LIST.split(each.strip(" .")))) <= _MAX_COUNT)


def _follows(amount: Amount, held: Sequence[Amount], text: str) -> bool:
    """Whether a number is the difference of two quoted numbers or the sum of several, as the claim's wording says."""
    is_whole = f"of the {amount.written}" in text  # `four of the six scenes`: six may be the sum of two quoted parts
    if amount.kind != "number" or not (is_whole or _DERIVES.search(text)):
        return False
    alike = [each.value for each in held if each.kind == "number" and amount.dimension in {"", each.dimension}]
    values = list(dict.fromkeys(alike))[:_MAX_NUMBERS]
    pairs = list(combinations(values, 2))
    derived: set[Fraction] = {one + other for one, other in pairs} | {abs(one - other) for one, other in pairs}
    runs = (sum(values[at:end]) for at in range(len(values)) for end in range(at + 2, len(values) + 1))
    return amount.value in derived or amount.value in runs
