"""The structure of a manuscript: what a heading starts, and from pieces in reading order to chapters and scenes.

A line by itself may announce a part, a chapter, a scene, or a break between two scenes. Every format uses this code.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from tallystick.rooms.studio.book.numbers import NUMBER, read_number
from tallystick.rooms.studio.manuscript_import.inline import plain
from tallystick.rooms.studio.manuscript_import.model import ChapterDraft, Losses, Piece, SceneDraft

Label = Literal["part", "chapter", "scene"]
MAX_HEADING = 120
_WORDS: dict[str, Label] = {
    "part": "part",
    "book": "part",
    "volume": "part",
    "act": "part",
    "teil": "part",
    "partie": "part",
    "chapter": "chapter",
    "letter": "chapter",
    "stave": "chapter",
    "canto": "chapter",
    "adventure": "chapter",
    "kapitel": "chapter",
    "chapitre": "chapter",
    "scene": "scene",
    "szene": "scene",
}
_ALONE = frozenset(
    {"prologue", "epilogue", "interlude", "preface", "foreword", "introduction", "afterword", "coda", "conclusion"}
)
_ORDINALS = frozenset(
    {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "last"}
)
_LABELLED = re.compile(
    rf"({'|'.join(_WORDS)})[ \t]++(?:the[ \t]++)?({NUMBER})"
    r"(?:[ \t]*+(?:[.:][ \t]*+)?\Z|[ \t]*[.:\u2014\u2013-][ \t]*(\S.*)\Z)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"([IVXLC]{1,7}|[0-9]{1,3})[.:]?[ \t]+(\S.{0,100})\Z")
_BARE = re.compile(r"([IVXLC]{1,7}|[0-9]{1,3})[.]?\Z")
_BREAK = re.compile(
    r"(?:[*#~+\u2022\u25c6\u25c7\u2756\u2042\u2766\u2767\u00a7\u25cf\u25a0\u2217\u273b][ \t\u00a0]*){1,12}\Z"
)
_RULE = re.compile(r"(?:[-_=\u2014\u2013.\u00b7][ \t\u00a0]*){3,40}\Z")


def label_of(text: str) -> Label | None:
    """What a line explicitly starts: `Chapter 3`, `CHAPTER III.`, `Part Two: The Sea`, `Epilogue`."""
    line = text.strip()
    if not line or len(line) > MAX_HEADING:
        return None
    if line.rstrip(".:").casefold() in _ALONE:
        return "chapter"
    found = _LABELLED.match(line)
    counted = found is not None and (read_number(found.group(2)) is not None or found.group(2).lower() in _ORDINALS)
    if found is None or not counted:
        return None
    rest = found.group(3)
    # `Part one. He went home and slept.` is a sentence.
    if rest and (rest.endswith((".", ",", ";")) and len(rest.split()) > _FEW):
        return None
    return _WORDS[found.group(1).casefold()]


_FEW = 6


def numeral_of(text: str) -> tuple[int, str] | None:
    """(number, title) of a line that is a numeral, alone or before a title in capitals: `IV`, `VII. THE SEA`."""
    line = text.strip()
    if bare := _BARE.match(line):
        number = read_number(bare.group(1))
        return None if number is None else (number, "")
    found = _NUMBERED.match(line)
    number = read_number(found.group(1)) if found else None
    if found is None or number is None:
        return None
    title = found.group(2).strip()
    capital = title.upper() == title and any(sign.isalpha() for sign in title)
    return (number, title) if capital else None


def number_of_chapter(text: str) -> int | None:
    """The number of a line that calls itself a chapter with a number."""
    found = _LABELLED.match(text.strip())
    return read_number(found.group(2)) if found and label_of(text) == "chapter" else None


def read_bare(text: str) -> int | None:
    """The number of a line that is nothing but a numeral."""
    found = _BARE.match(text.strip())
    return read_number(found.group(1)) if found else None


def is_break(text: str) -> bool:
    """Whether a line by itself stands for the gap between two scenes: `* * *`, `#`, `***`, `---`, an asterism."""
    line = text.strip()
    return bool(line) and (_BREAK.match(line) is not None or _RULE.match(line) is not None)


SHORT_OPENING = 200
"""Words before the first chapter that are taken for a title page and a table of contents."""
OPENING = "Opening"


def assemble(pieces: Sequence[Piece], losses: Losses, where: str) -> tuple[str, tuple[ChapterDraft, ...]]:
    """The title, if the pieces begin with one, and the chapters.

    Args:
        pieces: Headings, breaks and blocks in reading order.
        losses: Counts what is left out.
        where: How the source is called there.
    """
    title, rest = _title(list(pieces))
    roles = _roles(rest)
    maker = _Maker()
    for piece in rest:
        if piece.kind == "heading":
            maker.heading(roles.get(_key(piece)), piece)
        elif piece.kind == "break":
            maker.close_scene()
        else:
            maker.blocks.append(piece.text)
    return title, settled(maker.finished(), losses, where)


def settled(chapters: list[ChapterDraft], losses: Losses, where: str) -> tuple[ChapterDraft, ...]:
    """Without lines of a table of contents, and with a title for what stands before the first chapter."""
    return tuple(_without_opening(_without_contents(chapters), losses, where))


def heading_text(text: str) -> str:
    """A heading as a title: one line of plain text."""
    return " ".join(plain(text).split())


class _Maker:
    """Takes pieces one by one."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self._part: str | None = None
        self._chapter: str | None = None
        self._scene: str | None = None
        self._scenes: list[SceneDraft] = []
        self._done: list[ChapterDraft] = []

    def heading(self, role: Label | None, piece: Piece) -> None:
        """A heading begins something, or is one inside a scene."""
        text = heading_text(piece.text)
        if role is None:
            # One level for all of them, so that the same section is the same line from every format.
            self.blocks.append(f"#### {piece.text.strip()}")
            return
        if role == "scene":
            self.close_scene()
            self._scene = text
            return
        self._close_chapter()
        if role == "part":
            self._part = text
        else:
            self._chapter = text

    def close_scene(self) -> None:
        """Close the scene if it has any blocks."""
        if self.blocks:
            self._scenes.append(SceneDraft(title=self._scene, blocks=tuple(self.blocks)))
        self.blocks, self._scene = [], None

    def finished(self) -> list[ChapterDraft]:
        """All chapters."""
        self._close_chapter()
        return self._done

    def _close_chapter(self) -> None:
        self.close_scene()
        if self._scenes or self._chapter is not None:
            title = self._chapter if self._chapter is not None else ""
            self._done.append(ChapterDraft(title=title, part=self._part, scenes=tuple(self._scenes)))
        self._scenes, self._chapter = [], None


def _title(pieces: list[Piece]) -> tuple[str, list[Piece]]:
    """The book's own title: a first heading whose level comes once, above all others, and that is no chapter's."""
    levels = Counter(piece.level for piece in pieces if piece.kind == "heading")
    first = pieces[0] if pieces else None
    if first is None or first.kind != "heading" or len(levels) < _SEVERAL or label_of(heading_text(first.text)):
        return "", pieces
    below = min((level for level in levels if level != first.level), default=first.level)
    # What stands far below it are sections of a chapter, not the chapters of a book.
    if first.level == min(levels) and levels[first.level] == 1 and below - first.level <= _SCENE_BELOW:
        return heading_text(first.text), pieces[1:]
    return "", pieces


_SEVERAL = 2


def _roles(pieces: Iterable[Piece]) -> dict[tuple[int, Label | None], Label | None]:
    """What each kind of heading starts, by its level and label."""
    headings = [piece for piece in pieces if piece.kind == "heading"]
    keys = [_key(piece) for piece in headings]
    # An epilogue may stand beside the parts; only numbered chapters tell where chapters stand.
    numbered = [piece.level for piece in headings if number_of_chapter(heading_text(piece.text)) is not None]
    levels = sorted({level for level, _ in keys})
    chapter = min(numbered) if numbered else _chapter_level(levels, set(keys))
    scene = next((level for level in levels if level > chapter), chapter + 1)
    roles: dict[tuple[int, Label | None], Label | None] = {}
    for level, label in keys:
        roles[level, label] = label or _by_level(level, chapter, scene)
    return roles


def _chapter_level(levels: Sequence[int], keys: set[tuple[int, Label | None]]) -> int:
    """Without numbered chapters: below what calls itself a part, above what calls itself a scene; else by the count.

    One or two levels are chapters and scenes, three have parts above.
    """
    parts = [level for level, label in keys if label == "part"]
    scenes = [level for level, label in keys if label == "scene"]
    if parts:
        return next((level for level in levels if level > max(parts)), max(parts) + 1)
    if scenes:
        return min(scenes) - 1
    if not levels:
        return 1
    return levels[0] if len(levels) <= _SEVERAL else levels[1]


def _by_level(level: int, chapter: int, scene: int) -> Label | None:
    if level < chapter:
        return "part"
    if level == chapter:
        return "chapter"
    return "scene" if level == scene <= chapter + _SCENE_BELOW else None


_SCENE_BELOW = 2
"""Scenes stand one level below chapters, or two where a level was left out; deeper headings are sections."""


def _key(piece: Piece) -> tuple[int, Label | None]:
    return piece.level, label_of(heading_text(piece.text))


def _without_contents(chapters: list[ChapterDraft]) -> list[ChapterDraft]:
    """A chapter without a word whose title comes again later is a line of a table of contents."""
    titles = Counter(_folded(chapter.title) for chapter in chapters)
    kept: list[ChapterDraft] = []
    for chapter in chapters:
        titles[_folded(chapter.title)] -= 1
        if chapter.scenes or (chapter.title and not titles[_folded(chapter.title)] and not _is_contents(chapter)):
            kept.append(chapter)
    return kept


def _without_opening(chapters: list[ChapterDraft], losses: Losses, where: str) -> Iterable[ChapterDraft]:
    for place, chapter in enumerate(chapters):
        if chapter.title or len(chapters) == 1:
            # A book without chapters is one.
            yield chapter
            continue
        words = sum(len(block.split()) for scene in chapter.scenes for block in scene.blocks)
        if place == 0 and words < SHORT_OPENING:
            losses.add("front_matter", where, words)
            continue
        title = OPENING if place == 0 else chapter.part or OPENING
        yield ChapterDraft(title=title, part=chapter.part, scenes=chapter.scenes)


def _is_contents(chapter: ChapterDraft) -> bool:
    return _folded(chapter.title) in {"contents", "table of contents"}


def _folded(title: str) -> str:
    return re.sub(r"[\W_]+", " ", title.casefold()).strip()
