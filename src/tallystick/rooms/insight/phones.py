"""Telephone numbers in prose: libphonenumber reads them, and the words before them tell order numbers apart.

A number is replaced when it is written for abroad and can be dialled, when the words before it call it a telephone
number, or when it is written as people write numbers of their own country. Validity is asked for only where nothing
else speaks for a telephone number: numbers out of use, mistyped or kept for fiction are personal, too.
"""

import re
from collections.abc import Iterator

import phonenumbers

REGIONS = ("US", "GB", "DE", "FR", "IE", "SE", "NL", "ES", "IT", "CH", "AT", "AU")
"""Where a number without a country code may belong; any of them suffices."""
_PHONE_WORD = re.compile(
    r"tel|telephones?|phones?|mobile|cell(?:phone)?|fax|whatsapp|sms|call|ring|dial|text|rufnummer|movil|portable|"
    r"(?:telefon|mobil|handy|rückruf).*"
)
_PHONE_PAIR = re.compile(r"contact (?:no|number)|my number|reach (?:me|us)|me (?:at|on|under)")
_OTHER_WORD = re.compile(
    r"order|invoice|ticket|case|ref(?:erence)?|tracking|serial|sku|account|version|build|parcel|booking|isbn|purchase|"
    r"transaction|contract|policy|article|item|model|shipment|kundennummer|"
    r"(?:bestell|rechnung|auftrag|sendung|vertrag).*"
)
_NUMBER_SIGN = re.compile(r"\b(?:id|no|nr)\b[^\d+(]{0,3}$|[#№]\s*$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_LAST_DIGIT = re.compile(r"\d(?=\D*$)")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})")
_AMOUNT = re.compile(r"\d{1,3}(?:[ ,.]\d{3})+(?:[.,]\d{1,2})?")
_ABROAD = re.compile(r"\(?(?:\+|00(?=[1-9]))")
_EXTENSION = re.compile(r"\s?(?:x|ext)", re.IGNORECASE)
_BLANKS = re.compile(r"[ \u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_GAPS = re.compile(rf"{_BLANKS.pattern}|/")
"""Between two numbers of one run."""
_NOT_DIGITS = re.compile(r"\D+")
_FEWEST, _MOST = 7, 15
_MOST_GROUPS = 8
_CARD_GROUPS = re.compile(r"(?<!\d)\d{4}(?:\D\d{4}){3}(?!\d)")
"""Written as a payment card is: one that passes its check is gone before, and any other is an order number."""
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
"""Written as an IP address is."""
_BRACKET = re.compile(r"[ \u00a0\u202f]\(")
_DIALLED_LOCALLY = 9
"""Digits from which a number in groups may be one without a country code."""


def phone_in(given: str, before: str) -> tuple[int, int, str] | None:
    """The position of the first telephone number in a run of digits and signs, and its normal form.

    A run may hold a date or other numbers beside it, with nothing but blanks between them.
    """
    cards = [card.span() for card in _CARD_GROUPS.finditer(given)]
    for start, end in _candidates(given):
        normal = (
            None
            if any(start < last and first < end for first, last in cards)
            else _normal_form(given[start:end], before + given[:start])
        )
        if normal is not None:
            return start, end, normal
    return None


def _candidates(given: str) -> Iterator[tuple[int, int]]:
    """The whole run; where that is too long or holds a date, whole groups of it, the longest first."""
    yield 0, len(given)
    dated = any(map(_DATE.fullmatch, _BLANKS.split(given)))
    if sum(map(str.isdigit, given)) <= _MOST and not dated and not _BRACKET.search(given):
        return
    gaps = _BLANKS if dated else _GAPS
    ends = [gap.start() for gap in gaps.finditer(given)] + [len(given)]
    starts = [0] + [gap.end() for gap in gaps.finditer(given)]
    for place, start in enumerate(starts):
        for end in reversed(ends[place : place + _MOST_GROUPS]):
            yield start, end


def _normal_form(given: str, before: str) -> str | None:
    """The digits that the same number has however it is written; None if it is no telephone number."""
    written = _EXTENSION.split(given)[0]
    digits = _NOT_DIGITS.sub("", written)
    if not _FEWEST <= len(digits) <= _MOST or len(set(digits)) == 1:
        return None
    if abroad := _ABROAD.match(written):
        number = _parsed(f"+{written[abroad.end() :]}", None)
        if number is not None and phonenumbers.is_possible_number(number):
            return f"{number.country_code}{phonenumbers.national_significant_number(number)}"
        # Mistyped or out of use, and still somebody's.
        return digits.lstrip("0") if len(digits) > _FEWEST else None
    if any(map(_DATE.fullmatch, _BLANKS.split(written))) or _AMOUNT.fullmatch(written) or _DOTTED.fullmatch(written):
        return None
    named = _named_by(before)
    is_phone = _is_dialled(written, digits) if named is None else named
    return digits.lstrip("0") if is_phone else None


def _named_by(before: str) -> bool | None:
    """Whether the words before a number call it a telephone number; None if they say nothing.

    The nearest word counts, and none that belongs to another number before it.
    """
    digit = _LAST_DIGIT.search(before)
    if digit:
        before = before[digit.end() :]
    words = _WORD.findall(before.lower())
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        if _OTHER_WORD.fullmatch(word):
            return False
        if _PHONE_WORD.fullmatch(word) or _PHONE_PAIR.fullmatch(f"{words[place - 1]} {word}"):
            return True
    return False if _NUMBER_SIGN.search(before) else None


def _is_dialled(written: str, digits: str) -> bool:
    """Whether a number without a country code is written as one is dialled at home."""
    groups = sum(1 for group in _NOT_DIGITS.split(written) if group)
    if written.startswith("("):
        return True
    if groups == 1 and not digits.startswith("0"):
        # Ten digits in one block are an order number anywhere but where people write telephone numbers so.
        return _is_valid_in(digits, "US")
    if len(digits) < _DIALLED_LOCALLY:
        return False
    if digits.startswith("0"):
        return any(_is_possible_in(digits, region) for region in REGIONS)
    return groups > 2 and any(_is_valid_in(written, region) for region in REGIONS)  # noqa: PLR2004 - area, office, line


def _is_valid_in(written: str, region: str) -> bool:
    number = _parsed(written, region)
    return number is not None and bool(phonenumbers.is_valid_number_for_region(number, region))


def _is_possible_in(digits: str, region: str) -> bool:
    number = _parsed(digits, region)
    return number is not None and bool(phonenumbers.is_possible_number(number))


def _parsed(written: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(written, region)
    except phonenumbers.NumberParseException:
        return None
