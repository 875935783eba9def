"""What a text says itself: without listings, block quotes and quotations that stand by themselves.

Told by the text's structure alone, not by its words. A quotation stands by itself at the beginning of a line or after a
colon; a label in marks (`press "Pay again"`) does not, and neither does one of a few words. A block quote that begins
with a mark such as `[!NOTE]` is the document's own note.
"""

import re
from collections.abc import Iterator, Sequence

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
