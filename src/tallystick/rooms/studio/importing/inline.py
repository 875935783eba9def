"""Text with emphasis, and Markdown for it: one is read from the other and gives it back.

Only what prose needs: `*italic*`, `**bold**`, `***both***`, hard line breaks, and escapes for signs that would
otherwise mean something. Emphasis is read by the rules of CommonMark; links are their text.
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape

from tallystick.records import record
from tallystick.rooms.studio.importing.emphasis import Mark, resolve

_ASCII_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
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
    """What a token reads as, and where the text goes on."""
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
