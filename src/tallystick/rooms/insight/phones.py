"""Whether digits are a telephone number: people write them in many ways, and dates, amounts and orders look alike."""

import re
from collections.abc import Iterator

_WORD = re.compile(r"[^\W\d_]+")
_PHONE_WORDS = frozenset({
    "tel", "telephone", "telephones", "phone", "phones", "mobile", "cell", "cellphone", "fax", "whatsapp", "sms",
    "call", "ring", "dial", "text", "rufnummer", "movil", "portable",
})  # fmt: skip
_PHONE_BEGINS = ("telefon", "mobil", "handy", "rückruf")
_PHONE_PAIRS = frozenset({
    ("contact", "no"), ("contact", "number"), ("my", "number"), ("reach", "me"), ("reach", "us"),
    ("me", "at"), ("me", "on"), ("me", "under"),
})  # fmt: skip
_OTHER_WORDS = frozenset({
    "order", "invoice", "ticket", "case", "ref", "reference", "tracking", "serial", "sku", "account", "version",
    "build", "parcel", "booking", "isbn", "purchase", "transaction", "contract", "policy", "article", "item", "model",
    "shipment", "kundennummer",
})  # fmt: skip
_OTHER_BEGINS = ("bestell", "rechnung", "auftrag", "sendung", "vertrag")
_NUMBER_SIGN = re.compile(r"\b(?:id|no|nr)\b[^\d+(]{0,3}$|[#№]\s*$", re.IGNORECASE)
_LAST_DIGIT = re.compile(r"\d(?=\D*$)")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?!\d)")
_GROUPED = re.compile(r"\d{1,3}(?:[ ,.]\d{3})+(?:[.,]\d{1,2})?")
_ABROAD = re.compile(r"\(?\+|\(?00[1-9]")
_ONE_BLOCK = re.compile(r"0[1-9]\d{8,9}|1?[2-9]\d{2}[2-9]\d{6}")
_NOT_DIGITS = re.compile(r"\D+")
_FEWEST, _MOST, _IN_GROUPS = 7, 15, 9
_INTERNATIONAL = 8
"""Digits that a number with a country's code has at least."""


_EXTENSION = re.compile(r"\s?(?:x|ext)", re.IGNORECASE)
_BLANKS = re.compile(r"[ \u00a0\u202f]+")
_MOST_GROUPS = 8


def phone_in(given: str, before: str) -> tuple[int, int, str] | None:
    """Where in a run of digits and signs the first telephone number stands, and its digits.

    A run may hold a date or other numbers beside it, with nothing but blanks between them.
    """
    for start, end in _tries(given):
        part = given[start:end]
        digits = _NOT_DIGITS.sub("", _EXTENSION.split(part)[0])
        if is_phone(part, digits, before + given[:start]):
            return start, end, digits
    return None


def _tries(given: str) -> Iterator[tuple[int, int]]:
    """The whole; where that is too long or holds a date, whole groups of it, the longest first."""
    yield 0, len(given)
    if sum(map(str.isdigit, given)) <= _MOST and not _DATE.search(given):
        return
    ends = [gap.start() for gap in _BLANKS.finditer(given)] + [len(given)]
    starts = [0] + [gap.end() for gap in _BLANKS.finditer(given)]
    for place, start in enumerate(starts):
        for end in reversed(ends[place : place + _MOST_GROUPS]):
            yield start, end


def is_phone(given: str, digits: str, before: str) -> bool:
    """Whether a number as it is written is one that can be dialled.

    Args:
        given: As it stands.
        digits: Its digits alone, without an extension.
        before: What stands before it.
    """
    if not _FEWEST <= len(digits) <= _MOST or len(set(digits)) == 1:
        return False
    if _ABROAD.match(given) and len(digits) >= _INTERNATIONAL:
        return True
    if _DATE.search(given) or _GROUPED.fullmatch(given):
        return False
    said = _says(before)
    return _looks_dialled(given, digits) if said is None else said


def _says(before: str) -> bool | None:
    """What the words before it say; the nearest one counts, and none that belongs to another number before it."""
    digit = _LAST_DIGIT.search(before)
    if digit:
        before = before[digit.end() :]
    words = _WORD.findall(before.lower())
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        if word in _OTHER_WORDS or word.startswith(_OTHER_BEGINS):
            return False
        if word in _PHONE_WORDS or word.startswith(_PHONE_BEGINS) or (words[place - 1], word) in _PHONE_PAIRS:
            return True
    return False if _NUMBER_SIGN.search(before) else None


def _looks_dialled(given: str, digits: str) -> bool:
    """In one block only some numbers can be dialled; in groups, as people write them, most of that length."""
    groups = sum(1 for group in _NOT_DIGITS.split(given) if group)
    if groups == 1:
        return _ONE_BLOCK.fullmatch(digits) is not None
    return given.startswith("(") or (len(digits) >= _IN_GROUPS and (groups > 2 or digits.startswith("0")))  # noqa: PLR2004
