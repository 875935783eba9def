"""The lexical index on SQLite FTS5, in a file of its own.

The words of a passage are stored as stems of `tallystick.text`, so that a query and every other part of the package
compare words alike; FTS5 counts them and scores with its BM25, in which headings and title count more than text. The
texts themselves are not stored.

Each machine has its own file, also where several share one PostgreSQL database: an index is made again from its sources
in seconds, and a search must not wait for a network.
"""

import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

import orjson

from tallystick.reading.index import Hit, IndexedDocument
from tallystick.reading.passages import IndexedPassage
from tallystick.storage.private import private_file, private_folder
from tallystick.text.stems import VERSION, stem_all, stems
from tallystick.text.words import content_words, words

FORMAT = f"5 {VERSION}"
"""Of the tables, of the cut of the passages and of the stems; a file of another format is emptied."""
HEADINGS, TITLE = 2.0, 1.5
"""What a word of the headings and of the title counts, in words of the text."""
MAX_WORDS = 48
"""Words of a query that are looked up."""
BUSY_MS = 30_000

_TABLES = """
CREATE TABLE format (version TEXT NOT NULL);
CREATE TABLE documents (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, version TEXT NOT NULL);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, number INTEGER NOT NULL, section INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
    headings TEXT NOT NULL, digest BLOB NOT NULL, UNIQUE (document, number)
);
CREATE TABLE forms (
    stem TEXT NOT NULL, word TEXT NOT NULL, part INTEGER NOT NULL, PRIMARY KEY (stem, word, part)
) WITHOUT ROWID;
CREATE INDEX forms_by_word ON forms (word, stem);
CREATE VIRTUAL TABLE words USING fts5(body, headings, title, tokenize = "unicode61 remove_diacritics 0");
"""
_PART = re.compile(r"[^\W_]+")
_HOLDERS = """
SELECT name FROM documents WHERE id IN (
    SELECT p.document FROM passages p WHERE p.id IN (SELECT rowid FROM words WHERE words MATCH ?)
)
"""
_PASSAGE = "p.number, p.section, p.first, p.last, p.first_line, p.last_line, p.headings"


class FtsIndex:
    """A `LexicalIndex` in one SQLite file, used by several threads and processes."""

    def __init__(self, path: Path) -> None:
        """Open the file, creating it if missing; a damaged one, or one of another format, is replaced.

        Raises:
            OSError: It cannot be created.
        """
        self._path = path
        self._lock = RLock()
        private_folder(path.parent)
        self._connection = self._open()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def versions(self) -> Mapping[str, str]:
        """Return document name → the version that is indexed."""
        with self._lock:
            return dict(self._connection.execute("SELECT name, version FROM documents"))

    def put(self, documents: Iterable[IndexedDocument]) -> None:
        """Add documents, or replace those of the same name, in one transaction."""
        with self._writing() as connection:
            for document in documents:
                known = connection.execute("SELECT version FROM documents WHERE name = ?", (document.name,)).fetchone()
                if known == (document.version,):
                    # Another process indexed it in the meantime.
                    continue
                _remove(connection, document.name)
                _add(connection, document)

    def remove(self, names: Iterable[str]) -> None:
        """Remove documents; unknown names are ignored."""
        with self._writing() as connection:
            for name in names:
                _remove(connection, name)

    def search(self, query: str, *, limit: int, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that hold a word of the query, the best first."""
        wanted = query_stems(query)
        if not wanted:
            return []
        matched = " OR ".join(f'"{each}"' for each in wanted)
        with self._lock:
            rows = self._rows(matched, limit, within)
        return [
            Hit(name=name, version=version, passage=_passage(rest), score=-score)
            for name, version, score, *rest in rows
        ]

    def digests(self, within: Collection[str] | None = None) -> dict[int, bytes]:
        """Return the digest of every passage by the passage's number in the index."""
        statement = "SELECT id, digest FROM passages"
        given: tuple[str, ...] = ()
        if within is not None:
            statement += " WHERE document IN (SELECT id FROM documents WHERE name IN (SELECT value FROM json_each(?)))"
            given = (orjson.dumps(sorted(within)).decode(),)
        with self._lock:
            return dict(self._connection.execute(statement, given))

    def hits(self, scores: Mapping[int, float]) -> list[Hit]:
        """Return passages by their numbers in the index, in this order; those that are gone are left out."""
        statement = (
            f"SELECT p.id, d.name, d.version, {_PASSAGE} FROM passages p"  # noqa: S608 - our own columns
            " JOIN documents d ON d.id = p.document WHERE p.id IN (SELECT value FROM json_each(?))"
        )
        with self._lock:
            rows = self._connection.execute(statement, (orjson.dumps(list(scores)).decode(),)).fetchall()
        found = {
            number: Hit(name=name, version=version, passage=_passage(rest), score=scores[number])
            for number, name, version, *rest in rows
        }
        return [found[number] for number in scores if number in found]

    def state(self) -> tuple[int, int]:
        """Return a value that changes whenever this or another process has written."""
        with self._lock:
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            return int(version), self._connection.total_changes

    def forms(self, stem: str) -> list[str]:
        """Return the words with this stem that occur, or occurred, in the indexed documents; folded, and sorted."""
        with self._lock:
            rows = self._connection.execute("SELECT word FROM forms WHERE stem = ? AND NOT part ORDER BY word", (stem,))
            return [word for (word,) in rows]

    def holders(self, beginnings: Iterable[str]) -> set[str]:
        """Return the names of the documents that hold a word with one of these beginnings, or another form of it."""
        found: set[str] = set()
        with self._lock:
            for beginning in dict.fromkeys(beginnings):
                wanted = {*stem_all([beginning]), *self._stems_of(beginning)}
                matched = " OR ".join(f'"{each}"' for each in sorted(wanted))
                rows = self._connection.execute(_HOLDERS, (matched,))
                found.update(name for (name,) in rows)
        return found

    def _stems_of(self, beginning: str) -> Iterator[str]:
        # The last character of Unicode ends the range of words that begin so.
        statement = "SELECT DISTINCT stem FROM forms WHERE word >= ? AND word < ?"
        return (stem for (stem,) in self._connection.execute(statement, (beginning, beginning + "\U0010ffff")))

    def _rows(self, matched: str, limit: int, within: Collection[str] | None) -> list[tuple[Any, ...]]:
        given: tuple[str, ...] = (matched,)
        narrowed = ""
        if within is not None:
            given = (matched, orjson.dumps(sorted(within)).decode())
            narrowed = (
                " AND rowid IN (SELECT p.id FROM passages p JOIN documents d ON d.id = p.document"
                " WHERE d.name IN (SELECT value FROM json_each(?)))"
            )
        # Only the best are joined: FTS5 ranks by itself several times as fast as in a join.
        statement = (
            f"SELECT d.name, d.version, w.rank, {_PASSAGE} FROM"  # noqa: S608 - our own columns
            f" (SELECT rowid, rank FROM words WHERE words MATCH ?{narrowed} ORDER BY rank LIMIT ?) w"
            " JOIN passages p ON p.id = w.rowid JOIN documents d ON d.id = p.document"
            " ORDER BY w.rank, d.name, p.number"
        )
        return self._connection.execute(statement, (*given, limit)).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.rollback()
                raise
            self._connection.commit()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._usable()
        except sqlite3.DatabaseError:
            # Damaged: what it held can be made again.
            for ending in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
            return self._usable()

    def _usable(self) -> sqlite3.Connection:
        private_file(self._path)
        connection = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        try:
            connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN IMMEDIATE")
            if _format_of(connection) != FORMAT:
                _recreate(connection)
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection


def query_stems(query: str) -> list[str]:
    """Return the stems of the significant words of a query, each once; of all its words if none is significant."""
    wanted = list(dict.fromkeys(stem_all(content_words(query, query=True))))
    return (wanted or list(dict.fromkeys(stem_all(words(query)))))[:MAX_WORDS]


def _add(connection: sqlite3.Connection, document: IndexedDocument) -> None:
    inserted = connection.execute(
        "INSERT INTO documents (name, version) VALUES (?, ?)", (document.name, document.version)
    )
    number = inserted.lastrowid
    connection.executemany("INSERT OR IGNORE INTO forms VALUES (?, ?, ?)", sorted(_forms(document)))
    title = " ".join(stems(document.title))
    for each in document.passages:
        headings = orjson.dumps(each.headings).decode()
        row = (number, each.number, each.section, each.start, each.end, each.first_line, each.last_line)
        passage = connection.execute(
            "INSERT INTO passages (document, number, section, first, last, first_line, last_line,"
            " headings, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, headings, document.digest(each)),
        ).lastrowid
        body = " ".join(stems(document.text[each.start : each.end]))
        connection.execute(
            "INSERT INTO words (rowid, body, headings, title) VALUES (?, ?, ?, ?)",
            (passage, body, " ".join(stems(" ".join(each.headings))), title),
        )


def _forms(document: IndexedDocument) -> set[tuple[str, str, bool]]:
    """Return stem, word and False; and stem, part of the word and True, where signs divide it (`o'brien`)."""
    found: set[tuple[str, str, bool]] = set()
    for word in set(words(document.text)):
        parts = _PART.findall(word)
        for each in stem_all([word]):
            found.add((each, word, False))
            found.update((each, part, True) for part in parts if part != word)
    return found


def _remove(connection: sqlite3.Connection, name: str) -> None:
    held = connection.execute("SELECT id FROM documents WHERE name = ?", (name,)).fetchone()
    if held is not None:
        connection.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE document = ?)", held)
        connection.execute("DELETE FROM passages WHERE document = ?", held)
        connection.execute("DELETE FROM documents WHERE id = ?", held)


def _passage(row: Sequence[Any]) -> IndexedPassage:
    number, section, start, end, first_line, last_line, headings = row
    return IndexedPassage(
        number=number,
        section=section,
        start=start,
        end=end,
        first_line=first_line,
        last_line=last_line,
        headings=tuple(orjson.loads(headings)),
    )


def _format_of(connection: sqlite3.Connection) -> str | None:
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'format'").fetchone() is None:
        return None
    return str(connection.execute("SELECT version FROM format").fetchone()[0])


def _recreate(connection: sqlite3.Connection) -> None:
    for name in ("format", "documents", "passages", "forms", "words"):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in filter(str.strip, _TABLES.split(";\n")):
        connection.execute(statement)
    connection.execute("INSERT INTO words (words, rank) VALUES ('rank', ?)", (f"bm25(1.0, {HEADINGS}, {TITLE})",))
    connection.execute("INSERT INTO format VALUES (?)", (FORMAT,))
