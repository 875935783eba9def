"""Find the Evidence line of a reply and split it into items.

    Evidence: "the exact words of the file" Story/Scenes/SCN-01.md:L12; receipt rcpt_…
    **Evidence (absence):** checked Story/Scenes/SCN-01…SCN-04 for "silver key"

Items are separated by `;`. A quote ends at the closing mark that is followed by a reference, `;` or the end of the
line, so marks and `;` inside it are text. `references` parses the text outside the quotes.
"""

import re
from dataclasses import dataclass
from itertools import islice

from tallystick.gate.reply.findings import Kind
from tallystick.gate.reply.references import has_reference, reference_follows

MAX_LINE = 20_000
"""Characters. A longer line is a pasted document, not evidence."""
MAX_ITEMS = 64
_MAX_OPENINGS = 96
"""Opening quote marks tried per line; together with `_MAX_CLOSINGS` this bounds the work for one line."""
_MAX_CLOSINGS = 100
_MAX_WRAPPED = 20
"""Continuation lines that a wrapped Evidence line may have."""

_LABEL = re.compile(
    r"(?:[-*+] {1,3})?(?:\*\*|__|\*|_)?evidence {0,3}(?:\(([^()]{1,40})\))?(?:\*\*|__|\*|_)? {0,3}:(?:\*\*|__|\*|_)?",
    re.IGNORECASE,
)
_HEAD = 100
"""Characters at the start of a line that are searched for the label or a code fence."""
_TAGS: dict[str, Kind] = {
    "content": "content",
    "quote": "content",
    "structural": "structural",
    "structure": "structural",
    "absence": "absence",
    "absent": "absence",
    "tool result": "tool_result",
    "tool": "tool_result",
    "receipt": "tool_result",
    "record": "record",
    "figure": "record",
    "request": "request",
    "access": "request",
    "access request": "request",
}
_LINK = re.compile(r"\[[^\[\]]{0,200}\]\(([^()\s]{1,300})\)")
"""A Markdown link; its target is the reference."""
_FIGURE = re.compile(r" ?figure ", re.IGNORECASE)
_CLOSING = {'"': '"”', "“": '”"', "„": '“”"', "«": "»", "'": "'’", "‘": "’'"}  # noqa: RUF001
_SIGNS = re.compile(f"[;{''.join(_CLOSING)}]")
"""What an item or a quote can begin or end at."""
_MARKS = {opening: re.compile(f"[{closing}]") for opening, closing in _CLOSING.items()}
_DOUBLE = frozenset('"“„«')
_BEFORE_OPENING = frozenset(" ([{:,;`*_=>—–-")  # noqa: RUF001


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceLine:
    """The one Evidence line of a reply."""

    number: int
    """Index of its first line in the reply, from 0."""
    last: int
    """Index of its last line: a quote may be wrapped."""
    tag: Kind | None
    """The claim type, if the label names one."""
    body: str
    """The text after the label, with runs of white space collapsed."""
    written: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LineFault:
    """Why there is no usable Evidence line."""

    code: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A piece of an item: a quote without its marks, or text outside the quotes."""

    text: str
    is_quote: bool


RawItem = tuple[Part, ...]


def evidence_line(lines: list[str]) -> EvidenceLine | LineFault:
    """Return the only Evidence line, or why there is none; a line inside a code block is counted, but not valid."""
    fenced = fenced_lines(lines)
    labelled = [
        (number, label)
        for number, line in enumerate(lines)
        if (label := _LABEL.match(line.lstrip()[:_HEAD])) is not None
    ]
    if not labelled:
        return LineFault(code="no_evidence_line", reason='End the reply with one line "Evidence: …".')
    if len(labelled) > 1:
        return LineFault(code="two_evidence_lines", reason="Give one Evidence line; separate its items with ;.")
    number, label = labelled[0]
    if number in fenced:
        return LineFault(code="evidence_in_code", reason="Take the Evidence line out of the code block.")
    written, last = _unwrapped(lines, number, label.end())
    body = _LINK.sub(r"\1", " ".join(written[label.end() :].split()))
    if len(body) > MAX_LINE:
        return LineFault(code="evidence_too_long", reason=f"Keep the Evidence line under {MAX_LINE} characters.")
    tag = _TAGS.get((label.group(1) or "").strip().lower().replace("_", " "))
    return EvidenceLine(number=number, last=last, tag=tag, body=body, written=written)


def _unwrapped(lines: list[str], number: int, label_end: int) -> tuple[str, int]:
    """Append the following lines while a quote is open; return the text and the index of the last line used."""
    written = lines[number].strip()
    last = number
    for following in map(str.strip, lines[number + 1 : number + 1 + _MAX_WRAPPED]):
        if not following or len(written) > MAX_LINE or not _has_open_quote(written[label_end:]):
            break
        written = f"{written}\n{following}"
        last += 1
    return written, last


def _has_open_quote(body: str) -> bool:
    body = " ".join(body.split())
    at = 0
    for _ in range(_MAX_OPENINGS):
        at = next((place for place in range(at, len(body)) if body[place] in _DOUBLE and _may_open(body, place)), -1)
        if at < 0:
            return False
        referenced = has_reference(body[:at])
        end = _closing(body, at, referenced=referenced)
        # A quote at the end of the line may have its source on the next line.
        if end is None or (not referenced and not body[end + 1 :].strip(" .,;")):
            return True
        at = end + 1
    return False


def fenced_lines(lines: list[str]) -> set[int]:
    """Return the indexes of lines in code fences, fences included; an unclosed fence runs to the end."""
    fenced: set[int] = set()
    fence = ""
    for number, line in enumerate(lines):
        start = line.lstrip()[:_HEAD]
        mark = start[: len(start) - len(start.lstrip(start[0]))] if start[:3] in {"```", "~~~"} else ""
        if fence or mark:
            fenced.add(number)
        if not fence:
            fence = mark
        elif mark.startswith(fence):
            fence = ""
    return fenced


def split_items(body: str) -> list[RawItem] | LineFault:
    """Split the line into items, each a sequence of quotes and the text between them."""
    items: list[list[Part]] = [[]]
    text_from = at = openings = 0
    while at < len(body):
        sign = body[at]
        if at == text_from and not items[-1] and _FIGURE.match(body, at):
            # An item `figure NUMBER = QUERY` runs to the next semicolon; quote marks in it belong to the query.
            at = body.find(";", at) if ";" in body[at:] else len(body)
            continue
        if sign == ";":
            _add_text(items[-1], body[text_from:at])
            items.append([])
            text_from = at + 1
        elif sign in _CLOSING and _may_open(body, at) and openings < _MAX_OPENINGS:
            openings += 1
            _add_text(items[-1], body[text_from:at])
            end = _closing(body, at, referenced=_has_reference(items[-1]))
            if end is None:
                text_from = at
            else:
                _add_quote(items, body[at + 1 : end])
                text_from, at = end + 1, end
        at += 1
        if at != text_from:
            found = _SIGNS.search(body, at)
            at = found.start() if found else len(body)
    _add_text(items[-1], body[text_from:])
    kept = [tuple(item) for item in items if any(part.is_quote or _says_something(part.text) for part in item)]
    if len(kept) > MAX_ITEMS:
        return LineFault(code="too_many_items", reason=f"Cite at most {MAX_ITEMS} items on the Evidence line.")
    return kept


def _may_open(body: str, at: int) -> bool:
    return at == 0 or body[at - 1] in _BEFORE_OPENING


def _may_close(body: str, at: int) -> bool:
    """Whether a mark can close a quote; between a space and a letter or digit it can only open one."""
    return body[at - 1] != " " or not body[at + 1 : at + 2].isalnum()


def _add_text(item: list[Part], text: str) -> None:
    if text.strip():
        item.append(Part(text=text.strip(), is_quote=False))


def _add_quote(items: list[list[Part]], quote: str) -> None:
    """Add a quote to the current item, or to a new one if this has a quote and a reference (the `;` is missing)."""
    item = items[-1]
    if any(part.is_quote for part in item) and _has_reference(item):
        before_first = item[: [part.is_quote for part in item].index(True)]
        moved: list[Part] = []
        # If references precede their quotes, the text before this quote is its reference.
        if _has_reference(before_first) and not item[-1].is_quote and has_reference(item[-1].text):
            moved.append(item.pop())
        items.append(moved)
    items[-1].append(Part(text=quote.strip(), is_quote=True))


def _has_reference(item: list[Part]) -> bool:
    return any(has_reference(part.text) for part in item if not part.is_quote)


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text)) or "*" in text


def _closing(body: str, opening: int, *, referenced: bool) -> int | None:
    """Return the end of a quote: the mark followed by a reference, else the first followed by `;` or the end."""
    first_plain: int | None = None
    marks = _MARKS[body[opening]].finditer(body, opening + 1)
    for at in islice((mark.start() for mark in marks if _may_close(body, mark.start())), _MAX_CLOSINGS):
        rest = body[at + 1 : at + 20].lstrip(" .,)]}`*_")
        if not rest or rest.startswith(";"):
            if referenced or (rest and reference_follows(body, body.index(";", at) + 1)):
                return at
            first_plain = at if first_plain is None else first_plain
        elif reference_follows(body, at + 1):
            return at
    return first_plain
