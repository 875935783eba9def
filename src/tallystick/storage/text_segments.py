"""Where a text index is kept: a file of its own beside the database.

It holds nothing that is not in the log, so it is not migrated but thrown away and filled again when its form changes,
and each machine has its own even when several share one PostgreSQL.

Texts are numbered in the order of the log. An index built again gives the same numbers, two processes that fill one
file write the same rows, and «as of then» is a cut at a number.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

FORM = 2
"""Another number: the file is emptied and filled again."""
BUSY_S = 30
AT_ONCE = 500
"""Numbers in one statement; SQLite takes more, but not every build of it takes a thousand."""
CACHE_KIB = 65_536
MAPPED_BYTES = 1 << 30
"""Address space, not memory: the system keeps of it what is used."""
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
"""Bytes of one text in the postings of a word."""


@dataclass(kw_only=True, slots=True)
class Entry:
    """What an index remembers of one text; the text itself stays in the log."""

    number: int
    id: str
    """Empty: it was erased, and only its number is left."""
    seq: int
    speaker: str = ""
    """The source's id, in small letters."""
    episode: str = ""
    at: int = 0
    """When it was observed, in seconds."""
    asks: bool = False
    """It holds a question, so the next text of its episode is likely the answer."""
    timed: bool = False
    """It says when something happened."""
    before: int = NONE
    """Number of the text before it in its episode."""
    after: int = NONE
    words: Mapping[str, int] = field(default_factory=dict[str, int])
    """Word → packed weight. What was not found by its rarest words alone is scored by these."""


class TextSegments:
    """The kept segments of one index. One connection, so callers take turns (the index holds a lock)."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or a database in memory without one."""
        if path is not None:
            # What was said is nobody else's business; SQLite itself would make the file readable to all.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._base = sqlite3.connect(
            ":memory:" if path is None else path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=NORMAL")
        # Questions read a few rows from all over the file; the defaults would read each of them from the disk.
        self._base.execute(f"PRAGMA cache_size={-CACHE_KIB}")
        self._base.execute(f"PRAGMA mmap_size={MAPPED_BYTES}")
        # What is deleted here may have been erased from the log: its bytes must go too.
        self._base.execute("PRAGMA secure_delete=ON")
        with self._writing():
            if self._base.execute("PRAGMA user_version").fetchone()[0] != FORM:
                self._make()

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()

    def clear(self) -> None:
        """Begin anew."""
        with self._writing():
            self._make()
        self._wipe_journal()

    def reach(self) -> tuple[int, int, int]:
        """How many segments there are, the next text's number, and the place in the log of the last kept one."""
        found = self._base.execute(
            "SELECT segment + 1, last_number + 1, last_seq FROM segments ORDER BY segment DESC LIMIT 1"
        ).fetchone()
        return (0, 0, NONE) if found is None else (found[0], found[1], found[2])

    def add(self, segment: int, postings: Mapping[str, bytes], entries: Sequence[Entry]) -> bool:
        """Keep the next segment; False: another process was first, and nothing is kept."""
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
        """Note that a word names somebody who speaks."""
        self._base.execute("INSERT OR IGNORE INTO speakers VALUES (?)", (word,))

    def is_speaker(self, word: str) -> bool:
        """Whether a word names somebody who speaks."""
        return self._base.execute("SELECT 1 FROM speakers WHERE word = ?", (word,)).fetchone() is not None

    def link(self, number: int, after: int) -> None:
        """Note which text follows a kept one in its episode."""
        self._base.execute("UPDATE entries SET after = ? WHERE number = ?", (after, number))

    def holders(self, word: str) -> int:
        """How many kept texts hold a word."""
        found = self._base.execute("SELECT texts FROM holders WHERE word = ?", (word,)).fetchone()
        return 0 if found is None else int(found[0])

    def postings(self, word: str) -> Iterator[tuple[int, bytes]]:
        """Segment and packed postings of a word, the newest first; each is read when it is taken."""
        return self._base.execute("SELECT segment, data FROM postings WHERE word = ? ORDER BY segment DESC", (word,))

    def entries(self, numbers: Iterable[int]) -> Iterator[Entry]:
        """Kept entries by number, without their words; those of erased texts are left out."""
        for row in self._by_number(_ENTRY, numbers):
            number, id_, seq, speaker, episode, at, asks, timed, before, after = row
            yield Entry(
                number=number, id=id_, seq=seq, speaker=speaker, episode=episode, at=at, asks=bool(asks),
                timed=bool(timed), before=before, after=after,
            )  # fmt: skip

    def words(self, numbers: Iterable[int]) -> dict[int, dict[str, int]]:
        """The words of kept entries; most questions need them of a few only."""
        return {number: orjson.loads(words) for number, words in self._by_number("number, words", numbers)}

    def _by_number(self, columns: str, numbers: Iterable[int]) -> Iterator[Any]:
        wanted = list(numbers)
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            marks = ",".join("?" * len(some))
            asked = f"SELECT {columns} FROM entries WHERE id != '' AND number IN ({marks})"  # noqa: S608 - marks only
            yield from self._base.execute(asked, some)

    def numbers_of(self, ids: Iterable[str]) -> list[int]:
        """The numbers of kept texts by their ids. Reads through all of them: erasing is rare."""
        found = (self._base.execute("SELECT number FROM entries WHERE id = ?", (each,)).fetchall() for each in ids)
        return [number for rows in found for (number,) in rows]

    def upto(self, seq: int) -> int:
        """How many of the kept texts stand in the log up to this place."""
        found: int = self._base.execute(
            "SELECT coalesce(max(number), -1) + 1 FROM entries WHERE seq <= ?", (seq,)
        ).fetchone()[0]
        return found

    def last_of(self, episode: str) -> int:
        """The newest kept text of an episode."""
        found: int = self._base.execute(
            "SELECT coalesce(max(number), -1) FROM entries WHERE episode = ?", (episode,)
        ).fetchone()[0]
        return found

    def forget(self, entry: Entry, segment: int, postings: Mapping[str, bytes]) -> None:
        """Blank an entry, and put the postings of its segment as they are without it."""
        with self._writing():
            for word, data in postings.items():
                self._base.execute("UPDATE postings SET data = ? WHERE word = ? AND segment = ?", (data, word, segment))
                self._base.execute("UPDATE holders SET texts = texts - 1 WHERE word = ?", (word,))
            self._base.execute("DELETE FROM postings WHERE segment = ? AND length(data) = 0", (segment,))
            self._base.execute("DELETE FROM holders WHERE texts = 0")
            blank = Entry(number=entry.number, id="", seq=entry.seq)
            self._base.execute("REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _row(blank))
        self._wipe_journal()

    def _wipe_journal(self) -> None:
        """Old pages also stand in the write-ahead file until it is written back and cut."""
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


def _row(entry: Entry) -> tuple[object, ...]:
    words = orjson.dumps(dict(sorted(entry.words.items())))
    return (entry.number, entry.id, entry.seq, entry.speaker, entry.episode, entry.at, entry.asks, entry.timed,
            entry.before, entry.after, words)  # fmt: skip
