"""Numbers and quotes in a report's text: find them, and restore them."""

import re
from collections.abc import Mapping, Sequence
from html import escape, unescape

from tallystick.records import record
from tallystick.rooms.insight.report.markdown import plain_text

_MARK_MD = re.compile(r'\[(?P<shown>[^\[\]\n]{1,80})\]\(#figures "(?P<note>f\d{1,6})"\)')
_MARK_HTML = re.compile(r'data-f="(?P<note>f\d{1,6})"(?P<more>[^<>]{0,200})>(?P<shown>[^<>]{1,80})<')
_VALUE = re.compile(r'(?<= value=")[^"<>]{0,80}(?=")')
_QUOTE_MD = re.compile(r"^> (?P<words>[^\n]*) — ticket (?P<ticket>\d{1,10})$", re.MULTILINE)
_QUOTE_HTML = re.compile(r"<blockquote>(?P<words>[^<>]*) <cite>ticket (?P<ticket>\d{1,10})</cite></blockquote>")
_BACKSLASH = re.compile(r"\\([\\`*_{}\[\]<>|#!~])")


@record
class Mark:
    """A number in the text."""

    note_id: str
    shown: str
    value: str | None = None
    """What a page's markup says besides; None: it says nothing."""


@record
class ComputedNumber:
    """The recomputed value of a number."""

    shown: str
    value: str


def is_page(body: str) -> bool:
    """Whether a text is that of a page, and no Markdown."""
    return body.lstrip().startswith("<")


def marks_in(body: str) -> list[Mark]:
    """The numbers of a text, in its order."""
    if not is_page(body):
        return [Mark(note_id=found["note"], shown=unescape(found["shown"])) for found in _MARK_MD.finditer(body)]
    return [
        Mark(note_id=found["note"], shown=unescape(found["shown"]), value=_value(found["more"]))
        for found in _MARK_HTML.finditer(body)
    ]


def quotes_in(body: str) -> list[tuple[int, str]]:
    """Ticket and words of each quote, in the order of the text."""
    if is_page(body):
        return [(int(found["ticket"]), unescape(found["words"])) for found in _QUOTE_HTML.finditer(body)]
    return [
        (int(found["ticket"]), unescape(_BACKSLASH.sub(r"\1", found["words"]))) for found in _QUOTE_MD.finditer(body)
    ]


def with_numbers(body: str, right: Mapping[str, ComputedNumber]) -> str:
    """The text with these numbers in their places; others stay."""

    def markdown(found: re.Match[str]) -> str:
        wanted = right.get(found["note"])
        return found[0] if wanted is None else f'[{wanted.shown.replace("<", "&lt;")}](#figures "{found["note"]}")'

    def page(found: re.Match[str]) -> str:
        wanted = right.get(found["note"])
        if wanted is None:
            return found[0]
        more = _VALUE.sub(lambda _: escape(wanted.value), found["more"], count=1)
        return f'data-f="{found["note"]}"{more}>{escape(wanted.shown)}<'

    return _MARK_HTML.sub(page, body) if is_page(body) else _MARK_MD.sub(markdown, body)


def with_quotes(body: str, words: Sequence[str]) -> str:
    """The text with these words as its quotes, which are as many."""
    left = iter(words)

    def markdown(found: re.Match[str]) -> str:
        return f"> {plain_text(next(left))} — ticket {found['ticket']}"

    def page(found: re.Match[str]) -> str:
        return f"<blockquote>{escape(next(left))} <cite>ticket {found['ticket']}</cite></blockquote>"

    return _QUOTE_HTML.sub(page, body) if is_page(body) else _QUOTE_MD.sub(markdown, body)


def _value(more: str) -> str | None:
    found = _VALUE.search(more)
    return None if found is None else unescape(found[0])
