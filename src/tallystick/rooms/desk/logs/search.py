"""Log search: entries that contain every word, newest first, within a read budget."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from tallystick.records import record
from tallystick.rooms.desk.logs.entries import Budget, LogEntry, entries_from_end

MAX_FILES = 200
MAX_READ = 256 * 1024 * 1024
"""Bytes of one search: a second or two."""
MAX_SHOWN = 2_000
"""Characters of an entry that are given."""
OLDER = 500
"""Entries before the time asked for after which a file is left: clocks step back a little, not by so much."""
_TERM = re.compile(r'"([^"]{1,500})"|(\S+)')


@record
class LogHit:
    """A matching log entry."""

    file: str
    offset: int
    moment: datetime | None
    text: str
    cut: bool


@record
class LogAnswer:
    """The result of a search."""

    hits: tuple[LogHit, ...]
    files: int
    complete: bool
    """Whether all relevant files were read."""


@record
class LogQuery:
    """A log query."""

    terms: tuple[str, ...]
    """Lower case; an entry must contain all of them."""
    since: datetime | None = None
    until: datetime | None = None

    def fits(self, entry: LogEntry) -> bool:
        """Whether this entry is wanted. One without a time is in no span of time."""
        if entry.moment is None:
            timely = self.since is None and self.until is None
        else:
            timely = not self.is_older(entry) and (self.until is None or entry.moment <= self.until)
        if not timely:
            return False
        text = entry.text.casefold()
        return all(term in text for term in self.terms)

    def is_older(self, entry: LogEntry) -> bool:
        """Whether the entry is before `since`."""
        return self.since is not None and entry.moment is not None and entry.moment < self.since


def terms_of(query: str) -> tuple[str, ...]:
    """The terms of a query; a quoted phrase is one term."""
    found = (quoted or word.strip('"') for quoted, word in _TERM.findall(query))
    return tuple(dict.fromkeys(term.casefold() for term in found if any(map(str.isalnum, term))))


class LogFiles:
    """The log files of one workspace."""

    def __init__(self, workspace: Path, patterns: Sequence[str], *, max_read: int = MAX_READ) -> None:
        self._workspace, self._patterns, self._max_read = workspace.resolve(), tuple(patterns), max_read

    @property
    def are_named(self) -> bool:
        """Whether the settings name any."""
        return bool(self._patterns)

    def search(self, query: LogQuery, k: int) -> LogAnswer:
        """The newest entries that fit."""
        budget = Budget(left=self._max_read)
        paths = self._newest_first()
        hits: list[LogHit] = []
        for path in paths[:MAX_FILES]:
            with _opened(path) as descriptor:
                if descriptor is not None:
                    name = self._name(path)
                    hits += [_hit(name, entry) for entry in islice(_fitting(descriptor, query, budget), k)]
        hits.sort(key=lambda hit: (hit.moment or _LONG_AGO, hit.file, hit.offset), reverse=True)
        complete = budget.left > 0 and len(paths) <= MAX_FILES
        return LogAnswer(hits=tuple(hits[:k]), files=min(len(paths), MAX_FILES), complete=complete)

    def _newest_first(self) -> list[Path]:
        found: dict[Path, float] = {}
        for pattern in self._patterns:
            for path in self._named(pattern):
                try:
                    if path.is_file() and not path.is_symlink():
                        found[path] = path.stat().st_mtime
                except OSError:
                    continue
        return sorted(found, key=lambda path: (-found[path], str(path)))

    def _named(self, pattern: str) -> Iterator[Path]:
        wanted = Path(pattern).expanduser()
        root = Path(wanted.anchor) if wanted.is_absolute() else self._workspace
        return root.glob(str(wanted.relative_to(wanted.anchor)))

    def _name(self, path: Path) -> str:
        inside = path.is_relative_to(self._workspace)
        return path.relative_to(self._workspace).as_posix() if inside else path.name


_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def _fitting(descriptor: int, query: LogQuery, budget: Budget) -> Iterator[LogEntry]:
    older = 0
    for entry in entries_from_end(descriptor, budget):
        older = older + 1 if query.is_older(entry) else 0
        if older > OLDER:
            return
        if query.fits(entry):
            yield entry


def _hit(name: str, entry: LogEntry) -> LogHit:
    return LogHit(
        file=name,
        offset=entry.offset,
        moment=entry.moment,
        text=entry.text[:MAX_SHOWN],
        cut=len(entry.text) > MAX_SHOWN,
    )


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    try:
        # A pipe would wait for its writer, and a link could lead anywhere.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
