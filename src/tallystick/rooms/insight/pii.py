"""Personal data becomes placeholders before anything is stored or shown to a model.

A placeholder says what stood there and is keyed: `[email:3f2a9c4d1b]` is the same wherever the same address stands, so
"the same customer" still joins, and nobody without the workspace's key can try addresses until one fits. What is found:
e-mail addresses, payment cards (Luhn), IBANs (mod 97), IP addresses, telephone numbers.

Each kind has a cheap look first: most texts hold none of them, and then no pattern runs at all. Patterns begin with
what is rare in prose, a digit or the at-sign, and what stands before it is looked at afterwards: that is faster.
"""

import hmac
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from ipaddress import ip_address

from tallystick.rooms.insight.phones import phone_in

Keyed = Callable[[str, str], str]
"""(kind, normal form) → the token in the placeholder."""

TOKEN_CHARS = 10
REMEMBERED = 65_536
PLACEHOLDER = re.compile(r"\[(email|phone|card|iban|ip|id):[0-9a-f]{10}\]")

_LOCAL_BACKWARDS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}")
_NOT_OF_A_NAME = re.compile(r"\A(?:.*[=/|{}?&*`^!#$~]|['.+%-]+)", re.DOTALL)
"""Characters that the standard allows before an address, and that in practice belong to a query or list around it."""
_DOMAIN = re.compile(r"(?:\w(?:[\w-]{0,61}\w)?\.){1,8}[^\W\d_]{2,24}")
_AT = re.compile(r"[\[({]\s?at\s?[\])}]", re.IGNORECASE)
_OBFUSCATED = re.compile(
    r"(?<![\w.+%-])([\w.+-]{1,64})\s?[\[({]\s?at\s?[\])}]\s?"
    r"([\w-]{1,63}(?:(?:\.|\s?[\[({]\s?dot\s?[\])}]\s?)[\w-]{2,63}){1,4})",
    re.IGNORECASE,
)
_DOT = re.compile(r"\s?[\[({]\s?dot\s?[\])}]\s?", re.IGNORECASE)
_SPACES = " \u00a0\u2000-\u200a\u202f\u205f\u3000"
"""Spaces that are written inside numbers."""
_BETWEEN = rf"{_SPACES}.\-"
_IBAN = re.compile(
    rf"\d\d(?<=[A-Za-z]{{2}}\d\d)(?:[{_BETWEEN}]?[A-Za-z0-9]){{11,30}}(?:(?![A-Za-z0-9])|(?=[A-Za-z]{{2}}\d\d))"
)
_IBAN_START = re.compile(r"[A-Za-z]{2}\d\d")
_APART = re.compile(rf"[{_BETWEEN}]")
_CARD = re.compile(rf"\d(?:[{_SPACES}\-.]{{0,2}}\d){{11,60}}")
_GROUP = re.compile(r"\d+")
_IPV4 = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{0,4}|(?:\d{1,3}\.){3}\d{1,3})(?![\w:.]\w)")
_PHONE = re.compile(rf"\d[\d()./{_SPACES}\-\u2010-\u2013]{{5,22}}\d(?:\s?(?:x|ext\.?|extension)\s?\d{{1,6}})?(?![\w@])")
_BEFORE_PHONE = re.compile(r"(?<![\w.,/#@+-])[+(]{0,3}$|(?<=[A-Za-z][.:])[+(]{0,3}$|(?<=\w[/,|;=-])\(?\+$")
_DIGITS = re.compile(r"\D+")
_SEVEN_DIGITS = re.compile(r"\d(?:\D*\d){6}")
"""Fewer are no telephone number, and nothing longer."""
_MOST_GROUPS = 7
_V6, _SHORTEST_V6, _COLONS_OF_V6 = 6, 5, 6
_CARD_LENGTHS = frozenset({12, 13, 14, 15, 16, 17, 18, 19})
_SHORTEST_IBAN, _LONGEST_IBAN = 15, 34


def unkeyed(text: str) -> str:
    """A text for a model to read: only what stood there, so that the same tickets mean the same in every workspace."""
    return PLACEHOLDER.sub(r"\1", text)


def keyed_by(key: bytes) -> Keyed:
    """Tokens under a workspace's key."""

    @lru_cache(maxsize=REMEMBERED)
    def token(kind: str, normal: str) -> str:
        digest = hmac.digest(key, f"{kind}:{normal}".encode("utf-8", "surrogatepass"), "sha256").hex()
        tokens = (digest[start : start + TOKEN_CHARS] for start in range(len(digest) - TOKEN_CHARS + 1))
        # Ten digits would be read as a telephone number, and replaced once more.
        return next((token for token in tokens if not token.isdigit()), "f" * TOKEN_CHARS)

    return token


class Placeholders:
    """Replaces personal data in texts."""

    def __init__(self, key: bytes) -> None:
        """Begin with a workspace's key."""
        self._token = keyed_by(key)

    def clean(self, text: str) -> str:
        """The text with placeholders in the place of personal data; everything else stays as it is."""
        if "@" in text:
            text = "".join(self._emails(text))
        if _AT.search(text):
            text = _OBFUSCATED.sub(self._obfuscated, text)
        many = _SEVEN_DIGITS.search(text)
        if many:
            if _IBAN.search(text):
                text = "".join(self._ibans(text))
            text = _CARD.sub(self._card, text)
        # An address is written out, with six colons at least, or shortened by two of them.
        if "::" in text or text.count(":") >= _COLONS_OF_V6:
            text = _IPV6.sub(self._ip, text)
        if "." in text and text.count(".") >= 3:  # noqa: PLR2004 - four numbers with three dots make an address
            text = _IPV4.sub(self._ip, text)
        return "".join(self._phones(text)) if many and _PHONE.search(text) else text

    def identity(self, value: str) -> str:
        """A placeholder for a whole value that names a customer: an account, a name, a number."""
        cleaned = self.clean(value.strip())
        if PLACEHOLDER.fullmatch(cleaned):
            return cleaned
        return self._mark("id", " ".join(value.split()).casefold())

    def _mark(self, kind: str, normal: str) -> str:
        return f"[{kind}:{self._token(kind, normal)}]"

    def _emails(self, text: str) -> Iterator[str]:
        done, at = 0, text.find("@")
        while at >= 0:
            local = _LOCAL_BACKWARDS.match(text[max(done, at - 65) : at][::-1])
            domain = _DOMAIN.match(text, at + 1)
            end = at + 1
            if local and domain:
                start, end = at - local.end(), domain.end()
                # `to=anna@…` and `'anna@…'` are the same person as `anna@…`.
                name = _NOT_OF_A_NAME.sub("", text[start:at]) or text[start:at]
                yield text[done:start]
                yield self._mark("email", f"{name}@{domain[0]}".lower())
                done = end
            at = text.find("@", end)
        yield text[done:]

    def _obfuscated(self, found: re.Match[str]) -> str:
        host = _DOT.sub(".", found[2])
        return self._mark("email", f"{found[1]}@{host}".lower()) if "." in host else found[0]

    def _ibans(self, text: str) -> Iterator[str]:
        done, at = 0, _IBAN.search(text)
        while at is not None:
            start = at.start() - 2
            apart = start == done or not text[start - 1].isalnum()
            end = _end_of_iban(text, start, at.end()) if start >= done and apart else 0
            if end:
                yield text[done:start]
                yield self._mark("iban", _APART.sub("", text[start:end]).upper())
                done = end
            # The next one may begin inside of what looked like this one.
            at = _IBAN.search(text, end or at.start() + 1)
        yield text[done:]

    def _card(self, found: re.Match[str]) -> str:
        """Other numbers may surround it, so every run of whole groups is tried, the longest first."""
        given = found[0]
        groups = [(group.start(), group.end()) for group in _GROUP.finditer(given)]
        if [end - start for start, end in groups] == [4, 4, 4, 4]:
            # Whole or not at all: three of the four groups of an order number pass the check one time in ten.
            groups = [(0, len(given))]
        for first, (start, _) in enumerate(groups):
            for _, end in reversed(groups[first : first + _MOST_GROUPS]):
                normal = _DIGITS.sub("", given[start:end])
                if len(normal) in _CARD_LENGTHS and passes_luhn(normal):
                    return given[:start] + self._mark("card", normal) + _CARD.sub(self._card, given[end:])
        return given

    def _ip(self, found: re.Match[str]) -> str:
        # The pattern begins with a digit; part of a longer number or version is not an address.
        # `v3.12.0.4` is a version, as anything is that follows a letter.
        before = found.string[found.start() - 1 : found.start()]
        if before and (before in "0123456789." or (before.isalpha() and ":" not in found[0])):
            return found[0]
        try:
            address = ip_address(found[0])
        except ValueError:
            return found[0]
        # `::` alone, and what is short enough to be a time of day, is no address of anybody.
        if address.version == _V6 and (address.is_unspecified or len(found[0]) < _SHORTEST_V6):
            return found[0]
        return self._mark("ip", str(address))

    def _phones(self, text: str) -> Iterator[str]:
        done, at = 0, _PHONE.search(text)
        while at:
            before = _BEFORE_PHONE.search(text, max(done, at.start() - 6), at.start())
            first = before.start() if before else at.start()
            phone = phone_in(text[first : at.end()], text[max(0, first - 40) : first]) if before else None
            if phone:
                start, end, normal = phone
                yield text[done : first + start]
                yield self._mark("phone", normal)
                done = first + end
                if text[done : done + 1] == "/":
                    # A second number follows; behind the sign it would look like part of a path.
                    yield "/"
                    yield from self._phones(text[done + 1 :])
                    return
            # A second number may stand behind the first in the same run.
            at = _PHONE.search(text, done if phone else at.end())
        yield text[done:]


def _end_of_iban(text: str, start: int, last: int) -> int:
    """Where the number ends: before a sign that parts words, or where another number begins. 0: it is not an IBAN."""
    for end in range(last, start + _SHORTEST_IBAN - 1, -1):
        may_end = end == last or not text[end].isalnum() or _IBAN_START.match(text, end)
        if may_end and is_iban(_APART.sub("", text[start:end]).upper()):
            return end
    return 0


def passes_luhn(digits: str) -> bool:
    """The check digit of payment cards; a row of one digit passes it too and is no card."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value  # noqa: PLR2004 - the digits of the product, added
    return total % 10 == 0 and len(set(digits)) > 1


def is_iban(normal: str) -> bool:
    """The check number of ISO 13616."""
    if not _SHORTEST_IBAN <= len(normal) <= _LONGEST_IBAN or not normal[:2].isalpha() or not normal[2:4].isdigit():
        return False
    if not normal.isascii() or not normal.isalnum():
        return False
    moved = normal[4:] + normal[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1
