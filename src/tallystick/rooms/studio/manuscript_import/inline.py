"""Inline text with emphasis, and its Markdown form; each can be read from the other.

Only what prose needs: `*italic*`, `**bold**`, `***both***`, hard line breaks, and escapes. Emphasis is read by the
delimiter rules of CommonMark, in bounded time; a link is its text.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from html import unescape

from tallystick.records import record

MAX_MARKS = 2_000
"""Marks of one paragraph. Beyond that it is a pattern, and stays as it is written."""
_STRONG = 2


@record
class Mark:
    """A run of stars or underscores."""

    sign: str
    count: int
    opens: bool
    closes: bool

    @classmethod
    def of(cls, text: str, start: int, end: int) -> "Mark":
        """Whether a delimiter run can open or close emphasis, by its neighbours."""
        before, after = text[start - 1] if start else " ", text[end] if end < len(text) else " "
        left = not after.isspace() and (not _is_sign(after) or before.isspace() or _is_sign(before))
        right = not before.isspace() and (not _is_sign(before) or after.isspace() or _is_sign(after))
        if text[start] == "_":
            # Inside a word an underscore is a letter.
            left, right = left and (not right or _is_sign(before)), right and (not left or _is_sign(after))
        return cls(sign=text[start], count=end - start, opens=left, closes=right)


def resolve(texts: list[str], marks: "list[Mark | None]") -> list[tuple[bool, bool]]:
    """(italic, bold) of every text; marks that are emphasis are taken out of `texts`.

    Args:
        texts: All pieces in order; a mark's piece is the mark itself.
        marks: For each piece its mark, or None.
    """
    italic, bold = [0] * len(texts), [0] * len(texts)
    left = [0 if mark is None else mark.count for mark in marks]
    places = [place for place, mark in enumerate(marks) if mark is not None]
    if len(places) <= MAX_MARKS:
        _pair(places, marks, left, italic, bold)
        for place in places:
            texts[place] = texts[place][: left[place]]
    return [(bool(one), bool(other)) for one, other in zip(italic, bold, strict=True)]


def _pair(places: list[int], marks: "list[Mark | None]", left: list[int], italic: list[int], bold: list[int]) -> None:
    open_at: list[int] = []
    for place in places:
        closer = marks[place]
        assert closer is not None  # noqa: S101 - these are the places of marks
        while closer.closes and left[place]:
            at = _opener(open_at, marks, left, place)
            if at is None:
                break
            opener = open_at[at]
            # An unclosed inner delimiter is text.
            del open_at[at + 1 :]
            used = _STRONG if min(left[opener], left[place]) >= _STRONG else 1
            for inside in range(opener + 1, place):
                (bold if used == _STRONG else italic)[inside] += 1
            left[opener] -= used
            left[place] -= used
            if not left[opener]:
                open_at.pop()
        if closer.opens and left[place]:
            open_at.append(place)


def _opener(open_at: list[int], marks: "list[Mark | None]", left: list[int], place: int) -> int | None:
    closer = marks[place]
    for at in range(len(open_at) - 1, -1, -1):
        opener = marks[open_at[at]]
        if opener is None or closer is None or opener.sign != closer.sign or not left[open_at[at]]:
            continue
        # The rule of three: a run that may do both does not pair with one that would make a multiple of three.
        both = opener.closes or closer.opens
        if both and (opener.count + closer.count) % 3 == 0 and (opener.count % 3 or closer.count % 3):
            continue
        return at
    return None


def _is_sign(letter: str) -> bool:
    return unicodedata.category(letter)[0] in {"P", "S"}


_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|\*|(?<![^\W_])_|_(?![^\W_])|`|<(?=[A-Za-z/!?])|\[\[|\]\(|\[\^|&(?=#?\w{1,31};)|~~"
)
_LINE_START = re.compile(r"(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|[0-9]{1,9}(?=[.)](?:\s|$))|=+\s*$|-{2,}\s*$|```|~~~|\|)")
_TOKEN = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|\\(?P<hard>\n)[ \t]*|(?P<wrapped>(?:(?<! ) +)?\n *)|(?P<code>`+)|(?P<run>\*+|_+)"
    r"|!\[\[[^\[\]\n]{0,400}\]\]|!\[[^\[\]\n]{0,400}\]\([^()\n]{0,1000}\)"
    r"|\[\[(?P<target>[^\[\]|\n]{0,300})(?:\|(?P<label>[^\[\]\n]{0,300}))?\]\]"
    r"|\[(?P<link>[^\[\]\n]{0,1000})\]\([^()\s]{0,1000}(?: \"[^\"\n]{0,300}\")?\)"
    r"|(?P<comment><!--)|(?P<entity>&#?\w{1,31};)"
)


@record
class Span:
    """Some text in one style."""

    text: str
    """`\\n` is a line break that is meant."""
    italic: bool = False
    bold: bool = False


def render(spans: Iterable[Span]) -> str:
    """One paragraph of Markdown that reads as these spans; empty when there is nothing to read.

    Emphasis that Markdown cannot say (inside a word, next to a sign) is dropped rather than shown as stars.
    """
    merged = list(_merged(_trimmed(spans)))
    made = _render(merged)
    if not any(map(_styled, merged)) or _words(read(made)) == _words(merged):
        return made
    return _render([Span(text="".join(span.text for span in merged))])


def _render(merged: list[Span]) -> str:
    made = ""
    for place, span in enumerate(merged):
        text = _escaped(span.text)
        before = merged[place - 1] if place else Span(text="")
        mark = "*" * (span.italic + 2 * span.bold)
        if span.italic and not span.bold and _styled(before) and made[-1:] == "*":
            # Next to another style a second star would be taken for part of it.
            mark = "_"
        lead, body, tail = _outer_blanks(text) if mark else ("", text, "")
        made += f"{lead}{mark}{body}{mark}{tail}"
    lines = [_at_line_start(line.strip(" \t")) for line in made.split("\n")]
    return "\\\n".join(lines)


def read(markdown: str) -> tuple[Span, ...]:
    """The spans of one paragraph of Markdown. Line ends inside it are blanks, unless a backslash stands before."""
    texts, marks = _tokens(markdown)
    styles = resolve(texts, marks)
    spans = (Span(text=text, italic=italic, bold=bold) for text, (italic, bold) in zip(texts, styles, strict=True))
    return tuple(_merged(span for span in spans if span.text))


def plain(markdown: str) -> str:
    """Only the text."""
    return "".join(span.text for span in read(markdown))


def _tokens(markdown: str) -> tuple[list[str], list[Mark | None]]:
    texts: list[str] = []
    marks: list[Mark | None] = []
    at = 0
    while (found := _TOKEN.search(markdown, at)) is not None:
        texts.append(markdown[at : found.start()])
        marks.append(None)
        text, end = _token(markdown, found)
        texts.append(text)
        run = found.group("run")
        marks.append(None if run is None else Mark.of(markdown, found.start(), found.end()))
        at = end
    return [*texts, markdown[at:]], [*marks, None]


def _token(markdown: str, found: re.Match[str]) -> tuple[str, int]:
    """The text of a token, and the offset after it."""
    groups = found.groupdict()
    if groups["code"] or groups["comment"]:
        return _enclosed(markdown, found)
    if groups["wrapped"]:
        # Two blanks before a line end are the older way to mean it.
        return ("\n" if found.group().startswith("  ") else " "), found.end()
    if groups["entity"]:
        return unescape(groups["entity"]), found.end()
    if groups["link"] is not None:
        return plain(groups["link"]), found.end()
    words = groups["hard"] or groups["escaped"] or groups["run"] or groups["label"] or groups["target"] or ""
    return words, found.end()


def _enclosed(markdown: str, found: re.Match[str]) -> tuple[str, int]:
    """Code is its text, a comment is nothing; what is never closed is what it looks like."""
    mark = found.group()
    end = mark if found.group("code") else "-->"
    close = markdown.find(end, found.end())
    if close < 0:
        return mark, found.end()
    return (markdown[found.end() : close] if found.group("code") else ""), close + len(end)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found.group()}", text)


def _at_line_start(line: str) -> str:
    found = _LINE_START.match(line)
    if found is None:
        return line
    # A number is escaped behind it: `1\.`
    at = found.end() if found.group()[0].isdigit() else 0
    return f"{line[:at]}\\{line[at:]}"


def _outer_blanks(text: str) -> tuple[str, str, str]:
    """Blanks at the ends stand outside of emphasis, or it is none."""
    body = text.strip()
    if not body:
        return text, "", ""
    start = text.index(body)
    return text[:start], body, text[start + len(body) :]


def _trimmed(spans: Iterable[Span]) -> Iterator[Span]:
    for span in spans:
        text = re.sub(r"[ \t\r\f\v]+", " ", span.text)
        if text:
            yield Span(text=text, italic=span.italic and bool(text.strip()), bold=span.bold and bool(text.strip()))


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    held: Span | None = None
    for span in spans:
        if held is not None and (held.italic, held.bold) == (span.italic, span.bold):
            held = Span(text=held.text + span.text, italic=span.italic, bold=span.bold)
            continue
        if held is not None:
            yield held
        held = span
    if held is not None:
        yield held


def _words(spans: Iterable[Span]) -> list[str]:
    return "".join(span.text for span in spans).split()


def _styled(span: Span) -> bool:
    return span.italic or span.bold
