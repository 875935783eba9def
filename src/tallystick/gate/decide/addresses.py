"""Find addresses in text (mail, web, phone, account, card, wallet): targets of messages, visits and payments."""

import re
from collections.abc import Iterator

_ADDRESS = re.compile(
    r"""
      (?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+                       # mail
    | (?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}://|\bwww\.)[^\s<>"']+   # web
    | (?<![\w.-])(?:[a-z0-9-]+\.)+(?:com|net|org|info|biz|io|dev|app|co|eu|uk|de|ru|cn)(?![\w-]|\.\w)(?:/[^\s<>"']*)?
    | \b[a-z]{2}\d{2}(?:[ -]?[a-z0-9]){8,30}\b                         # account number
    | \b0x[0-9a-f]{20,}\b | \b(?:bc1|[13])[a-z0-9]{25,}\b              # wallet
    | (?<![\w-])\+?\d(?:[ -]?\d){8,40}(?![\w-])                        # telephone, card, account
    """,
    re.VERBOSE,
)
"""Every alternative starts at a word boundary, so that a long argument is scanned once and not once per letter."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def addresses_in(text: str) -> Iterator[str]:
    """Yield the addresses in a text already normalized by `provenance_tracker.plain`, in order."""
    for match in _ADDRESS.finditer(text):
        found = match.group()
        # Skip timestamps: a date with a time has as many digits as a phone number.
        if not _DATE.search(found) or "/" in found or "@" in found:
            yield found
