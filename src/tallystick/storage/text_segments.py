"""Storage of a text index: a separate SQLite file next to the database.

It holds only data derived from the log, so it is not migrated but discarded and refilled when its format changes, and
each machine has its own even when several share one PostgreSQL database.

Texts are numbered in log order. A rebuilt index yields the same numbers, two processes filling one file write the same
rows, and a query "as of" a time is a limit on the number.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson

from tallystick.text.stems import VERSION

FORM = crc32(f"3 {VERSION}".encode()) & 0x7FFF_FFFF
"""Version of the format and of the stems in it; a file with another version is emptied and refilled."""
BUSY_S = 30
AT_ONCE = 500
"""Parameters per statement; SQLite accepts more, but not every build accepts a thousand."""
CACHE_KIB = 65_536
MAPPED_BYTES = 1 << 30
"""Address space, not memory: the system keeps only the used pages."""
NONE = -1

_TABLES = """
CREATE TABLE segments (segment INTEGER PRIMARY KEY, last_number INTEGER NOT NULL, last_seq INTEGER NOT NULL);
CREATE TABLE postings (word TEXT, segment INTEGER, data BLOB NOT NULL, PRIMARY KEY (word, segment)) WITHOUT ROWID;
CREATE TABLE entries (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, seq INTEGER NOT NULL, speaker TEXT NOT NULL, episode TEXT NOT NULL,
    at INTEGER NOT NULL, asks INTEGER NOT NULL, timed INTEGER NOT NULL, before INTEGER NOT NULL,
    after INTEGER NOT NULL, words BLOB NOT NULL
);
CREATE TABLE holders (word TEXT PRIMARY KEY, texts INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE speakers (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX entries_by_seq ON entries (seq);
CREATE INDEX entries_by_episode ON entries (episode, number);
"""
_ENTRY = "number, id, seq, speaker, episode, at, asks, timed, before, after"
POSTING = 5
"""Bytes per text in the postings of a word."""


@dataclass(kw_only=True, slots=True)
class SegmentEntry:
    """Index data of one text; the text itself stays in the log."""

    number: int
    id: str
    seq: int
    speaker: str = ""
    """The source's id in lower case."""
    episode: str = ""
    at: int = 0
    """Time of observation, in seconds."""
    asks: bool = False
    """Whether it contains a question, so that the next text of its episode is likely the answer."""
    timed: bool = False
    """Whether it states when something happened."""
    before: int = NONE
    """Number of the previous text in its episode."""
    after: int = NONE
    words: Mapping[str, int] = field(default_factory=dict[str, int])
    """Word → packed weight; scores texts that were not found by their rarest words alone."""


class TextSegments:
    """Stored segments of one index. It has one connection, so the index serialises callers with a lock."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or an in-memory database if `path` is None."""
        if path is not None:
            # The texts are private, and SQLite would create a file that everybody can read.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._base = sqlite3.connect(
            ":memory:" if path is None else path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=NORMAL")
        # Queries read a few rows from all over the file; with the defaults, each would be read from disk.
        self._base.execute(f"PRAGMA cache_size={-CACHE_KIB}")
        self._base.execute(f"PRAGMA mmap_size={MAPPED_BYTES}")
        # Deleted rows may belong to texts erased from the log: their bytes must be overwritten.
        self._base.execute("PRAGMA secure_delete=ON")
        with self._writing():
            if self._base.execute("PRAGMA user_version").fetchone()[0] != FORM:
                self._make()

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def clear(self) -> None:
        """Delete all data."""
        with self._writing():
            self._make()
        self._wipe_journal()

    def reach(self) -> tuple[int, int, int]:
        """Return the number of segments, the next text's number, and the log position of the last stored text."""
        found = self._base.execute(
            "SELECT segment + 1, last_number + 1, last_seq FROM segments ORDER BY segment DESC LIMIT 1"
        ).fetchone()
        return (0, 0, NONE) if found is None else (found[0], found[1], found[2])

    def add(self, segment: int, postings: Mapping[str, bytes], entries: Sequence[SegmentEntry]) -> bool:
        """Store the next segment; False: another process was first, and nothing is stored."""
        with self._writing():
            if self.reach()[0] != segment:
                return False
            last = entries[-1]
            self._base.execute("INSERT INTO segments VALUES (?, ?, ?)", (segment, last.number, last.seq))
            self._base.executemany(
                "INSERT INTO postings VALUES (?, ?, ?)", ((word, segment, data) for word, data in postings.items())
            )
            self._base.executemany(
                "INSERT INTO holders VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET texts = texts + excluded.texts",
                ((word, len(data) // POSTING) for word, data in postings.items()),
            )
            self._base.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_row, entries))
        return True

    def add_speaker(self, word: str) -> None:
        """Store that a word names a speaker."""
        self._base.execute("INSERT OR IGNORE INTO speakers VALUES (?)", (word,))

    def is_speaker(self, word: str) -> bool:
        """Return whether a word names a speaker."""
        return self._base.execute("SELECT 1 FROM speakers WHERE word = ?", (word,)).fetchone() is not None

    def link(self, number: int, after: int) -> None:
        """Store which text follows a stored one in its episode."""
        self._base.execute("UPDATE entries SET after = ? WHERE number = ?", (after, number))

    def holders(self, word: str) -> int:
        """Return how many stored texts contain a word."""
        found = self._base.execute("SELECT texts FROM holders WHERE word = ?", (word,)).fetchone()
        return 0 if found is None else int(found[0])

    def postings(self, word: str) -> Iterator[tuple[int, bytes]]:
        """Yield segment and packed postings of a word, newest first; rows are read lazily."""
        return self._base.execute("SELECT segment, data FROM postings WHERE word = ? ORDER BY segment DESC", (word,))

    def entries(self, numbers: Iterable[int]) -> Iterator[SegmentEntry]:
        """Yield stored entries by number, without their words."""
        for row in self._by_number(_ENTRY, numbers):
            number, id_, seq, speaker, episode, at, asks, timed, before, after = row
            yield SegmentEntry(
                number=number,
                id=id_,
                seq=seq,
                speaker=speaker,
                episode=episode,
                at=at,
                asks=bool(asks),
                timed=bool(timed),
                before=before,
                after=after,
            )

    def words(self, numbers: Iterable[int]) -> dict[int, dict[str, int]]:
        """Return the words of stored entries; most queries need them for a few entries only."""
        return {number: orjson.loads(words) for number, words in self._by_number("number, words", numbers)}

    def _by_number(self, columns: str, numbers: Iterable[int]) -> Iterator[Any]:
        wanted = list(numbers)
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            marks = ",".join("?" * len(some))
            asked = f"SELECT {columns} FROM entries WHERE number IN ({marks})"  # noqa: S608 - marks only
            yield from self._base.execute(asked, some)

    def upto(self, seq: int) -> int:
        """Return how many stored texts are in the log up to this sequence number."""
        found: int = self._base.execute(
            "SELECT coalesce(max(number), -1) + 1 FROM entries WHERE seq <= ?", (seq,)
        ).fetchone()[0]
        return found

    def last_of(self, episode: str) -> int:
        """Return the number of the newest stored text of an episode; -1 if there is none."""
        found: int = self._base.execute(
            "SELECT coalesce(max(number), -1) FROM entries WHERE episode = ?", (episode,)
        ).fetchone()[0]
        return found

    def _wipe_journal(self) -> None:
        """Truncate the write-ahead log, which still contains old pages until it is checkpointed."""
        self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _make(self) -> None:
        for table in ("segments", "postings", "holders", "entries", "speakers"):
            self._base.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _TABLES.split(";"):
            self._base.execute(statement)
        self._base.execute(f"PRAGMA user_version = {FORM}")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")


def _row(entry: SegmentEntry) -> tuple[object, ...]:
    words = orjson.dumps(dict(sorted(entry.words.items())))
    return (
        entry.number,
        entry.id,
        entry.seq,
        entry.speaker,
        entry.episode,
        entry.at,
        entry.asks,
        entry.timed,
        entry.before,
        entry.after,
        words,
    )
