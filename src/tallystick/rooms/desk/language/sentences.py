"""Sentences of a snippet that could be sent to a customer, without markup, tables, code and quotations.

Headings, markup, table lines, code and quotations are left out. What leads into a line
(`**Live.** …`) and a question that the text answers itself stand above what follows, as a heading does: they say what
it is about, and answer nothing.
"""

import re
from collections.abc import Iterator, Sequence

from tallystick.gate.reply.sentences import written_sentences
from tallystick.records import record

SPEECH = 4
"""Words from which on a quotation is what somebody says; fewer are a label."""
_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
_BLOCK = re.compile(r" {0,3}>")
_NOTE = re.compile(r" {0,3}>\s*\[![A-Za-z]+\]")
_LONGEST = 2_000
_QUOTATION = re.compile(
    r"(?:(?<=:)\s{0,3}|^[ \t]*+(?:[-*•>]|\d{1,3}[.)])?[ \t]*+)"
    rf"(?:“([^“”]{{1,{_LONGEST}}})”|„([^„“”]{{1,{_LONGEST}}})[“”]|«([^«»]{{1,{_LONGEST}}})»|\"([^\"]{{1,{_LONGEST}}})\")"
    r"(?:[ \t]*[,;a-z][^.!?\n]{0,400}[.!?]?)?",
    re.MULTILINE,
)
"""With the rest of the sentence that it stands in."""
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
RECORD = "ev"
"""What a draft's references begin with: `[ev:ev_1]`. Other brackets are text."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARKS = re.compile(r"(\*\*|__|`|(?<!\w)[*_])(\S(?:.*?\S)?)\1")
_ITEM = re.compile(r"^(?:(?:[-*•>]|#{1,6}|\d{1,3}[.)])\s+)+")
_LEAD = re.compile(r"^(\*\*|__)(\S[^*_]{0,118}[.!?])\1\s+(?=\S)")
_RULER = re.compile(r"[-: ]*")
_PROMPT = re.compile(r"(?:\$|>>>|#!|PS [A-Z]:\\.*>|[A-Z]:\\.*>)\s?\S")
_SIGN = re.compile(
    r"[{}\[\]<>=|\\^~]|\w_\w|::|->|\w\(\)|^--?[a-z]|^[./~]{0,2}/\w|[^\W\d_]{2}\.[^\W\d_]{2}|^[^\w\s&+–—-]+$"  # noqa: RUF001
)
"""What words are not written with: braces, names of code, flags, paths, signs that stand alone."""
_AROUND = ".,;:!?()'\"“”‘’…"  # noqa: RUF001
MOSTLY_SIGNS = 0.3
"""From this share of its words on, a line that is written with such signs is for machines."""
LEAST = 2
"""Words of a sentence; fewer are a label."""


@record
class PlainSentence:
    """One sentence, as it could be sent."""

    sentence: str
    under: str = ""
    """What leads into it on its own line, or the question that it stands below."""


def plain_sentences(snippet: str) -> list[str]:
    """The sentences of a snippet."""
    return [one.sentence for one in spoken(snippet)]


def spoken(snippet: str) -> Iterator[PlainSentence]:
    """The sentences of a snippet, each with what stands above it in the text itself."""
    above = ""
    for line in _lines(own_words(snippet).splitlines()):
        lead = _LEAD.match(line)
        under = _plain(lead[2]) if lead else above
        told = False
        for one in written_sentences(_plain(line[lead.end() :] if lead else line), kind=RECORD):
            if one.endswith("?"):
                under = one
            elif is_sentence(one):
                told = True
                yield PlainSentence(sentence=one, under=under)
        if not told and under.endswith("?"):
            above = under


def is_sentence(text: str) -> bool:
    """Whether a text is made of words: neither a label nor code."""
    words = text.split()
    if len(words) < LEAST or not any(map(str.isalnum, text)) or _PROMPT.match(text):
        return False
    signs = sum(_SIGN.search(word.strip(_AROUND) or word) is not None for word in words)
    return signs < LEAST or signs / len(words) < MOSTLY_SIGNS


def _plain(text: str) -> str:
    return _MARKS.sub(r"\2", _LINK.sub(r"\1", text)).strip()


def _lines(raw_lines: Sequence[str]) -> list[str]:
    """Lines as they are meant: one that only goes on belongs to the one before; a row of a table is a line."""
    lines: list[str] = []
    head: list[str] = []
    goes_on = False
    for raw in raw_lines:
        line = raw.strip()
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not head:
                head = cells
            elif not all(map(_RULER.fullmatch, cells)):
                lines.append(_row(head, cells))
            goes_on = False
            continue
        head = []
        if goes_on and line and not _ITEM.match(line):
            lines[-1] += f" {line}"
        elif line and not line.startswith("#"):
            lines.append(_ITEM.sub("", line))
        goes_on = bool(line) and not line.startswith("#")
    return lines


def _row(head: Sequence[str], cells: Sequence[str]) -> str:
    first, *others = cells
    if len(others) == 1:
        return f"{first}: {others[0]}"
    told = (f"{name} {cell}" for name, cell in zip(head[1:], others, strict=False) if cell)
    return f"{first}: {', '.join(told)}"


def own_words(snippet: str) -> str:
    """A snippet without what it only lists or quotes."""
    kept = "\n".join(_without_block_quotes(_without_code(snippet.splitlines())))
    return _QUOTATION.sub(_without_speech, kept)


def _without_speech(found: re.Match[str]) -> str:
    """A break in place of a quotation; a label, and marks of two paragraphs, stay as they are."""
    said = next(group for group in found.groups() if group is not None)
    is_speech = len(said.split()) >= SPEECH and _PARAGRAPH.search(said) is None
    return "\n\n" if is_speech else found[0]


def _without_block_quotes(lines: Sequence[str]) -> Iterator[str]:
    """The lines that stand in no block quote, and those of notes."""
    inside = note = False
    for line in lines:
        if _BLOCK.match(line):
            note = note if inside else _NOTE.match(line) is not None
            inside = True
            if note:
                yield "" if _NOTE.match(line) else line
            continue
        # A line right below a block quote goes on with it, until a blank one.
        inside = inside and bool(line.strip())
        if not inside or note:
            yield line


def _without_code(lines: Sequence[str]) -> list[str]:
    """The lines that stand in no fence. A snippet may be cut inside one: then neither side of its mark is text."""
    marks = [(at, found) for at, line in enumerate(lines) if (found := _FENCE.fullmatch(line))]
    kept, fence, begin = [], "", 0
    if len(marks) % 2 and not marks[0][1][2].strip():
        begin = marks[0][0]
    for line in lines[begin:]:
        found = _FENCE.fullmatch(line)
        if found is None:
            kept += [] if fence else [line]
        elif not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
            # What follows a listing does not go on with what stood before it.
            kept.append("")
    return kept
