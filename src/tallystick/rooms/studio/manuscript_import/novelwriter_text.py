"""Reads the text of a novelWriter document: headings by role, references, comments, emphasis, short codes."""

import re
from dataclasses import field
from typing import Literal

from tallystick.records import record
from tallystick.rooms.studio.manuscript_import.inline import plain, read, render
from tallystick.rooms.studio.manuscript_import.model import Losses
from tallystick.rooms.studio.manuscript_import.structure import is_break
from tallystick.text.encoding import decode_text

Role = Literal["title", "part", "chapter", "scene", "break"]
_HEADING = re.compile(r"(#{1,4})(!?)[ \t]+(\S.*)\Z")
_ROLES: dict[tuple[int, str], Role] = {
    (1, ""): "part",
    (1, "!"): "title",
    (2, ""): "chapter",
    (2, "!"): "chapter",
    (3, ""): "scene",
    (3, "!"): "scene",
}
_REFERENCE = re.compile(r"@([a-z]{1,20}):[ \t]*(.*)\Z")
_COMMENT = re.compile(
    r"%[ \t]*(?:(synopsis|short|story|note|footnote)(?:\.[\w-]{1,40})?[ \t]*:)?[ \t]*(.*)\Z", re.IGNORECASE
)
_SINGLE_STAR = re.compile(r"(?<![\\*])\*(?!\*)")
_CODES = {"[i]": "_", "[/i]": "_", "[b]": "**", "[/b]": "**", "[br]": "\\\n"}
_CODE = re.compile(r"\[/?(?:i|b|u|s|m|sup|sub)\]|\[br\]|\[footnote:[^\]\n]{1,60}\]|\[field:[^\]\n]{1,60}\]")
_LAYOUT = re.compile(r"\[(?:new ?page|vspace(?::[0-9]{1,4})?)\]\Z", re.IGNORECASE)


@record
class Section:
    """The text below one heading, or between two breaks."""

    role: Role
    heading: str
    blocks: tuple[str, ...]
    references: dict[str, list[str]] = field(default_factory=dict)


@record
class Document:
    """One file."""

    name: str
    tags: tuple[str, ...]
    sections: tuple[Section, ...]

    def all_blocks(self) -> tuple[str, ...]:
        """Everything as one text, with its headings but the first, which names it."""
        blocks: list[str] = []
        for place, section in enumerate(self.sections):
            if place and section.heading:
                blocks.append(f"## {section.heading}")
            blocks += section.blocks
        return tuple(blocks)


def read_document(data: bytes, name: str, losses: Losses) -> Document:
    """Read one file."""
    reader = _Reader(name, losses)
    found = decode_text(data, guess=True)
    if found is None:
        losses.add("chapter_unreadable", name)
        return reader.finished()
    for line in found.text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        if not line.startswith("%%~"):
            reader.line(line.rstrip())
    return reader.finished()


class _Reader:
    def __init__(self, name: str, losses: Losses) -> None:
        self._name, self._losses = name, losses
        self._title = ""
        self._tags: list[str] = []
        self._sections: list[Section] = []
        self._role: Role = "scene"
        self._heading = ""
        self._blocks: list[str] = []
        self._held: list[str] = []
        self._references: dict[str, list[str]] = {}

    def line(self, line: str) -> None:
        """Take the next line."""
        if heading := _HEADING.match(line):
            self._begin(len(heading.group(1)), heading.group(2), heading.group(3).strip())
        elif reference := _REFERENCE.match(line):
            self._refer(reference.group(1), reference.group(2))
        elif line.startswith("%"):
            self._comment(line)
        elif _LAYOUT.match(line):
            self._losses.add("layout", self._name)
        elif not line.strip():
            self._end_paragraph()
        else:
            self._held.append(line)

    def finished(self) -> Document:
        """The whole of it."""
        self._close()
        return Document(name=self._title or self._name, tags=tuple(self._tags), sections=tuple(self._sections))

    def _begin(self, level: int, mark: str, text: str) -> None:
        words = " ".join(plain(text).split())
        role = _ROLES.get((level, mark))
        self._end_paragraph()
        if role is None:
            self._blocks.append(f"#### {words}")
            return
        self._close()
        self._title = self._title or words
        self._role, self._heading = role, words

    def _refer(self, key: str, said: str) -> None:
        names = [name.partition("|")[0].strip() for name in said.split(",") if name.strip()]
        if key == "tag":
            self._tags += names
        else:
            self._references.setdefault(key, []).extend(names)

    def _comment(self, line: str) -> None:
        found = _COMMENT.match(line)
        kind = (found.group(1) or "").casefold() if found else ""
        words = found.group(2).strip() if found else ""
        if kind in {"synopsis", "short"}:
            self._references.setdefault("synopsis", []).append(words)
        elif kind == "footnote":
            self._losses.add("footnote", self._name)
        elif words.startswith("~"):
            self._losses.add("comment", self._name)
        elif words:
            self._end_paragraph()
            self._blocks.append(f"<!-- {words.replace('--', '- -')} -->")

    def _end_paragraph(self) -> None:
        if not self._held:
            return
        lines, self._held = self._held, []
        text = "\\\n".join(self._aligned(line) for line in lines)
        if is_break(plain(text)):
            self._close_at_break()
            return
        quoted = all(line.startswith("> ") and line.endswith(" <") for line in lines)
        words = self._words(text)
        if words:
            self._blocks.append("> " + words.replace("\n", "\n> ") if quoted else words)

    def _aligned(self, line: str) -> str:
        inner = re.sub(r"\A>{1,2} |[ ]<{1,2}\Z", "", line)
        if line.startswith(">>") or line.endswith("<<"):
            self._losses.add("layout", self._name)
        return inner.strip()

    def _words(self, text: str) -> str:
        def code(found: re.Match[str]) -> str:
            known = _CODES.get(found.group())
            if known is None:
                self._losses.add("footnote" if "footnote" in found.group() else "formatting", self._name)
            return known or ""

        return render(read(_CODE.sub(code, _SINGLE_STAR.sub(r"\\*", text))))

    def _close_at_break(self) -> None:
        references = self._references
        self._close()
        # The second half of a scene has the same people in it.
        self._role, self._heading = "scene", ""
        self._references = {key: list(names) for key, names in references.items() if key != "synopsis"}

    def _close(self) -> None:
        self._end_paragraph()
        if self._blocks or self._heading or self._references:
            self._sections.append(
                Section(
                    role=self._role,
                    heading=self._heading,
                    blocks=tuple(self._blocks),
                    references=self._references,
                )
            )
        self._role, self._heading, self._blocks, self._references = "scene", "", [], {}
