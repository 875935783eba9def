"""The project's files, made ready for search and kept as long as they are the same.

Files come through `FileSources`, so nothing outside the workspace and nothing of the control room is ever listed or
read. A file that is no text is left out and counted.
"""

import re
from array import array
from bisect import bisect_right
from collections import OrderedDict
from functools import cached_property, lru_cache
from threading import Lock

from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.storage.files import FileSources

MAX_FILES = 5_000
"""Files one search looks at; a project that has more is searched by globs."""
MAX_CHARS = 48 * 1024 * 1024
"""Characters of text kept between searches: some forty novels."""
MAX_HEADINGS = 400
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.{0,199})$", re.MULTILINE)
_FRONT = re.compile(r"\A---[ \t]*\n(.{0,8000}?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_WORD_CHARACTER = r"[^\W_]"


class Searchable:
    """One file's text, with what a search needs worked out once."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @cached_property
    def text(self) -> str:
        """In small letters, with plain apostrophes and line ends; each line is where it is in the file."""
        return _small(self.source.text.replace("\r\n", "\n").replace("\r", "\n"))

    @cached_property
    def starts(self) -> "array[int]":
        """Where each line begins."""
        return array("I", [0, *(found.end() for found in re.finditer("\n", self.text))])

    @cached_property
    def summary(self) -> str:
        """Front matter and headings: what a quick scan reads."""
        raw = self.source.text.replace("\r\n", "\n")
        front = _FRONT.match(raw)
        headings = [found.group(1) for found in _HEADING.finditer(raw)][:MAX_HEADINGS]
        return _lower("\n".join([front.group(1) if front else "", *headings]))

    def lines_with(self, stem: str, *, phrase: bool) -> list[int]:
        """The lines (from 1) on which a word begins with this stem, or a phrase stands; in order, with repeats."""
        if phrase:
            return [
                bisect_right(self.starts, found.start()) for found in pattern(stem, phrase=True).finditer(self.text)
            ]
        # Plain search: several times as fast as a pattern on a whole book.
        lines: list[int] = []
        at = self.text.find(stem)
        while at >= 0:
            if not at or not self.text[at - 1].isalnum():
                lines.append(bisect_right(self.starts, at))
            at = self.text.find(stem, at + 1)
        return lines


class Shelf:
    """All searchable files of one workspace; the least recently used fall off."""

    def __init__(self, sources: FileSources) -> None:
        self._sources = sources
        self._kept: OrderedDict[str, Searchable] = OrderedDict()
        self._chars = 0
        self._lock = Lock()

    def paths(self, globs: tuple[str, ...] = ()) -> list[str]:
        """The files that fit any of the globs; all without one.

        Raises:
            PathRefused: A glob that leaves the workspace.
        """
        found: dict[str, None] = {}
        for glob in globs or ("**",):
            found |= dict.fromkeys(self._sources.paths(glob))
        return sorted(found)[:MAX_FILES]

    def open(self, path: str) -> Searchable | None:
        """A file ready for search; None where it is gone, too large or no text."""
        try:
            source = self._sources.read(path)
        except PathRefused:
            return None
        if source is None:
            return None
        with self._lock:
            held = self._kept.get(source.sha256)
            if held is not None:
                self._kept.move_to_end(source.sha256)
                # The same text may stand under two names.
                return held if held.source.path == path else Searchable(source)
            return self._keep(Searchable(source))

    def _keep(self, made: Searchable) -> Searchable:
        self._kept[made.source.sha256] = made
        self._chars += len(made.source.text)
        while self._chars > MAX_CHARS and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._chars -= len(oldest.source.text)
        return made


@lru_cache(maxsize=512)
def pattern(stem: str, *, phrase: bool) -> re.Pattern[str]:
    """Finds a stem at the beginning of words; a phrase as whole words, over line breaks."""
    if phrase:
        inside = r"\s+".join(re.escape(word) for word in stem.split())
        return re.compile(rf"(?<!{_WORD_CHARACTER}){inside}(?!{_WORD_CHARACTER})")
    return re.compile(rf"(?<!{_WORD_CHARACTER}){re.escape(stem)}")


def _small(text: str) -> str:
    lowered = _lower(text)
    # A few letters grow when they are lowered; then places would no longer be those of the file.
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _lower(text: str) -> str:
    return text.lower().replace("’", "'")  # noqa: RUF001
