"""Personal data becomes placeholders before anything is stored or shown to a model.

A placeholder says what stood there and is keyed: `[email:3f2a9c4d1b]` is the same wherever the same address stands, so
"the same customer" still joins, and nobody without the workspace's key can try addresses until one fits. What is found:
e-mail addresses, payment cards (Luhn), IBANs (mod 97), IP addresses, telephone numbers.

Each kind has a cheap look first: most texts hold none of them, and then no pattern runs at all.
"""

import hmac
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import sha256
from ipaddress import ip_address

Keyed = Callable[[str, str], str]
"""(kind, normal form) → the token in the placeholder."""

TOKEN_CHARS = 10
REMEMBERED = 65_536
PLACEHOLDER = re.compile(r"\[(?:email|phone|card|iban|ip|id):[0-9a-f]{10}\]")

_EMAIL = re.compile(
    r"(?<![\w.+%-])[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[\w](?:[\w-]{0,61}[\w])?\.){1,8}[^\W\d_]{2,24}(?![\w-])"
)
_OBFUSCATED = re.compile(
    r"(?<![\w.+%-])([\w.+-]{1,64})\s?[\[({]\s?at\s?[\])}]\s?"
    r"([\w-]{1,63}(?:(?:\.|\s?[\[({]\s?dot\s?[\])}]\s?)[\w-]{2,63}){1,4})",
    re.IGNORECASE,
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ \-]?[A-Za-z0-9]{2,4}){3,8}(?![A-Za-z0-9])")
_CARD = re.compile(r"\d(?:[ \-.]{0,2}\d){11,60}")
_GROUP = re.compile(r"\d+")
_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{0,4}|(?:\d{1,3}\.){3}\d{1,3})(?![\w:.]\w)")
_PHONE = re.compile(
    r"(?<![\w.,/#@-])(?:\+|00)?\(?\d[\d()./ \u00a0\-\u2010-\u2013]{5,22}\d"
    r"(?:\s?(?:x|ext\.?|extension)\s?\d{1,6})?(?![\w@])"
)
_PHONE_WORD = re.compile(
    r"\b(?:tel|phone|call|mobile|cell|fax|whatsapp|number|handy|ring|text)\b[^\d+(]{0,24}$", re.IGNORECASE
)
_NOT_PHONE_WORD = re.compile(
    r"\b(?:order|invoice|ticket|case|ref|reference|tracking|serial|sku|account|id|no|nr|version|build|parcel|booking|isbn)"
    r"\b[^\d+(]{0,12}$|[#№]\s*$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?!\d)")
_DIGITS = re.compile(r"\D+")
_GROUPED = re.compile(r"\d{1,3}(?:[ ,.]\d{3})+(?:[.,]\d{1,2})?")
_ABROAD = re.compile(r"\+|00[1-9]")
_ONE_BLOCK = re.compile(r"0[1-9]\d{8,9}|1?[2-9]\d{2}[2-9]\d{6}")
_MIN_PHONE, _MAX_PHONE, _GROUPED_DIGITS = 7, 15, 9
_INTERNATIONAL = 8
"""Digits that a number with a country's code has at least."""
_MOST_GROUPS = 7
_V6, _SHORTEST_V6 = 6, 5
_CARD_LENGTHS = frozenset({12, 13, 14, 15, 16, 17, 18, 19})


def keyed_by(key: bytes) -> Keyed:
    """Tokens under a workspace's key."""

    @lru_cache(maxsize=REMEMBERED)
    def token(kind: str, normal: str) -> str:
        return hmac.new(key, f"{kind}:{normal}".encode("utf-8", "surrogatepass"), sha256).hexdigest()[:TOKEN_CHARS]

    return token


class Placeholders:
    """Replaces personal data in texts."""

    def __init__(self, key: bytes) -> None:
        """Begin with a workspace's key."""
        self._token = keyed_by(key)

    def clean(self, text: str) -> str:
        """The text with placeholders in the place of personal data; what is none stays as it is."""
        if "@" in text or ("at" in text.lower() and any(mark in text for mark in "[({")):
            text = _EMAIL.sub(self._email, text)
            text = _OBFUSCATED.sub(self._obfuscated, text)
        digits = sum(map(text.count, "0123456789"))
        if digits >= _MIN_PHONE:
            text = _IBAN.sub(self._iban, text)
            text = _CARD.sub(self._card, text)
        if ":" in text:
            text = _IPV6.sub(self._ip, text)
        if digits >= 4 and "." in text:  # noqa: PLR2004 - four numbers make an address
            text = _IPV4.sub(self._ip, text)
        return "".join(self._phones(text)) if digits >= _MIN_PHONE else text

    def identity(self, value: str) -> str:
        """A placeholder for a whole value that names a customer: an account, a name, a number."""
        cleaned = self.clean(value.strip())
        if PLACEHOLDER.fullmatch(cleaned):
            return cleaned
        return self._mark("id", " ".join(value.split()).casefold())

    def _mark(self, kind: str, normal: str) -> str:
        return f"[{kind}:{self._token(kind, normal)}]"

    def _email(self, found: re.Match[str]) -> str:
        return self._mark("email", found[0].lower())

    def _obfuscated(self, found: re.Match[str]) -> str:
        host = re.sub(r"\s?[\[({]\s?dot\s?[\])}]\s?", ".", found[2], flags=re.IGNORECASE)
        return self._mark("email", f"{found[1]}@{host}".lower()) if "." in host else found[0]

    def _iban(self, found: re.Match[str]) -> str:
        normal = re.sub(r"[ \-]", "", found[0]).upper()
        # A word may follow the number after a space; it is no part of it.
        whole, rest = normal, ""
        while len(whole) >= _SHORTEST_IBAN and not is_iban(whole):
            cut = found[0].rstrip().rfind(" ", 0, len(found[0]) - len(rest))
            if cut < 0:
                return found[0]
            rest = found[0][cut:]
            whole = re.sub(r"[ \-]", "", found[0][:cut]).upper()
        return self._mark("iban", whole) + rest if len(whole) >= _SHORTEST_IBAN else found[0]

    def _card(self, found: re.Match[str]) -> str:
        """Other numbers may stand before and after it, so every run of whole groups is tried, the longest first."""
        given = found[0]
        groups = [(group.start(), group.end()) for group in _GROUP.finditer(given)]
        for first, (start, _) in enumerate(groups):
            for _, end in reversed(groups[first : first + _MOST_GROUPS]):
                normal = _DIGITS.sub("", given[start:end])
                if len(normal) in _CARD_LENGTHS and passes_luhn(normal):
                    return given[:start] + self._mark("card", normal) + _CARD.sub(self._card, given[end:])
        return given

    def _ip(self, found: re.Match[str]) -> str:
        try:
            address = ip_address(found[0])
        except ValueError:
            return found[0]
        # `::` alone, and what is short enough to be a time of day, is no address of anybody.
        if address.version == _V6 and (address.is_unspecified or len(found[0]) < _SHORTEST_V6):
            return found[0]
        return self._mark("ip", str(address))

    def _phones(self, text: str) -> Iterator[str]:
        done = 0
        for found in _PHONE.finditer(text):
            given = found[0]
            normal = _DIGITS.sub("", re.split(r"(?i)\s?(?:x|ext)", given)[0])
            if not _is_phone(given, normal, text[max(0, found.start() - 40) : found.start()]):
                continue
            yield text[done : found.start()]
            yield self._mark("phone", normal.lstrip("0"))
            done = found.end()
        yield text[done:]


def _is_phone(given: str, digits: str, before: str) -> bool:
    """Telephone numbers are written in many ways; dates, amounts, order numbers and versions look alike."""
    if not _MIN_PHONE <= len(digits) <= _MAX_PHONE or len(set(digits)) == 1:
        return False
    if _ABROAD.match(given) and len(digits) >= _INTERNATIONAL:
        return True
    if _NOT_PHONE_WORD.search(before) or _DATE.search(given) or _GROUPED.fullmatch(given):
        return False
    return _PHONE_WORD.search(before) is not None or _looks_dialled(given, digits)


def _looks_dialled(given: str, digits: str) -> bool:
    """In one block only some numbers can be dialled; in groups, as people write them, most of that length."""
    groups = sum(1 for group in _DIGITS.split(given) if group)
    if groups == 1:
        return _ONE_BLOCK.fullmatch(digits) is not None
    return given.startswith("(") or (len(digits) >= _GROUPED_DIGITS and (groups > 2 or digits.startswith("0")))  # noqa: PLR2004


def passes_luhn(digits: str) -> bool:
    """The check digit of payment cards; a row of one digit passes it too and is no card."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value  # noqa: PLR2004 - the digits of the product, added
    return total % 10 == 0 and len(set(digits)) > 1


_SHORTEST_IBAN, _LONGEST_IBAN = 15, 34


def is_iban(normal: str) -> bool:
    """The check number of ISO 13616."""
    if not _SHORTEST_IBAN <= len(normal) <= _LONGEST_IBAN or not normal[:2].isalpha() or not normal[2:4].isdigit():
        return False
    if not normal.isascii() or not normal.isalnum():
        return False
    moved = normal[4:] + normal[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1
