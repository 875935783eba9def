"""Copies a journal from files to PostgreSQL and back: the same bytes, in one transaction or into a new folder.

The source stays as it is until the copy is complete and compared. Then it is closed, so that no process appends to it:
the last segment is made read-only, or the head in the database is marked as moved.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import psycopg

from tallystick.errors import LedgerDamaged, LedgerError
from tallystick.gate.record.journal import ZERO
from tallystick.gate.record.signing import Keys
from tallystick.gate.record.tree import leaf_hash
from tallystick.storage.journal import disk
from tallystick.storage.journal.archive import DEFINITIONS
from tallystick.storage.journal.checkpoints import split_notes
from tallystick.storage.journal.head import Head, HeadFile, pack
from tallystick.storage.journal.log_reader import parse_header, split_line
from tallystick.storage.journal.segments import Segments, position, seal_segment
from tallystick.storage.keys import LOG, SECRET
from tallystick.storage.shared_journal.link import CONNECT_S, away
from tallystick.storage.shared_journal.tree_rows import TreeRows

_TABLES = "tally_records, tally_nodes, tally_checkpoints, tally_blobs"
_COPY = "COPY tally_records (seq, session_id, leaf, header, inputs, outputs) FROM STDIN (FORMAT BINARY)"
_TYPES = ("int8", "text", "bytea", "bytea", "bytea", "bytea")
Connection = psycopg.Connection[tuple[Any, ...]]
Copied = tuple[int, bytes, int]
"""Number of records, leaf of the last one, and sequence number of the latest rotation of keys (-1: none)."""


@contextmanager
def closed_files(audit: Path) -> Iterator[None]:
    """Hold the lock of the journal in files, so that no process appends to it."""
    lock = disk.WriteLock(audit / "journal" / "lock")
    try:
        with lock:
            yield
    finally:
        lock.close()


@contextmanager
def transaction(conninfo: str) -> Iterator[Connection]:
    """Begin one transaction for a whole copy; an error rolls all of it back."""
    try:
        with psycopg.connect(conninfo, connect_timeout=CONNECT_S) as connection:
            yield connection
    except psycopg.Error as error:
        raise away(error) from error


def copy_in(audit: Path, conninfo: str, keys: Keys) -> None:
    """Copy the journal in files into the database, unless it is there; called under `closed_files`.

    Raises:
        LedgerError: The database holds another journal.
    """
    with transaction(conninfo) as connection:
        connection.execute(
            "INSERT INTO tally_head (size, leaf, slot, stamp) VALUES (0, %s, %s, '') ON CONFLICT DO NOTHING",
            (ZERO, pack(Head(), keys)),
        )
        row = connection.execute("SELECT size, moved FROM tally_head FOR UPDATE").fetchone()
        size, moved = row or (0, False)
        here = _leaf_in_files(audit, size)
        if here is None and not moved and _continues(connection, audit):
            return  # copied before, and other nodes have gone on
        if size and (here is None or here != _leaf_in_rows(connection, size)):
            message = "The database holds another journal. Give an empty database."
            raise LedgerError(message, code="journal_exists")
        connection.execute(f"TRUNCATE {_TABLES} RESTART IDENTITY")
        copied = _copy_records(connection, audit)
        _copy_rest(connection, audit)
        _set_head(connection, copied, keys)


def _continues(connection: Connection, audit: Path) -> bool:
    """Return whether the database holds all records of the files, and more."""
    size, leaf = 0, ZERO
    for size, _, leaf, _ in _records(audit):  # noqa: B007 - the last one counts
        pass
    return _leaf_in_rows(connection, size + 1) == leaf


def _leaf_in_files(audit: Path, size: int) -> bytes | None:
    """Return the leaf of the last of `size` records; None if there are fewer."""
    return next((leaf for seq, _, leaf, _ in _records(audit) if seq == size - 1), None) if size else ZERO


def _leaf_in_rows(connection: Connection, size: int) -> bytes | None:
    row = connection.execute("SELECT header FROM tally_records WHERE seq = %s", (size - 1,), binary=True).fetchone()
    return None if row is None else leaf_hash(bytes(row[0]))


def _records(audit: Path) -> Iterator[tuple[int, str, bytes, tuple[bytes, bytes, bytes]]]:
    """Yield sequence number, session, leaf and columns of each record in the files."""
    for seq, line in enumerate(Segments(audit / "journal").lines(position(0, 0))):
        columns = split_line(line.data) if line.whole else None
        header = None if columns is None else parse_header(columns[0])
        if columns is None or header is None:
            raise LedgerDamaged(f"Record {seq} is damaged. Run `tally audit verify`.", code="journal_damaged")
        yield seq, str(header["session_id"]), leaf_hash(columns[0]), columns


def _copy_records(connection: Connection, audit: Path) -> Copied:
    size, last, rotated = 0, ZERO, -1
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(_TYPES)
        for seq, session, leaf, columns in _records(audit):
            copy.write_row((seq, session, leaf, *columns))
            size, last = seq + 1, leaf
            if b'"kind":"key_rotation"' in columns[0]:
                rotated = seq
    return size, last, rotated


def _copy_rest(connection: Connection, audit: Path) -> None:
    """Copy blobs, definitions and checkpoints."""
    for path in (audit / "blobs").glob("??/*"):
        connection.execute("INSERT INTO tally_blobs VALUES (%s, %s)", (path.name, path.read_bytes()))
    for kind, ending in DEFINITIONS.items():
        for path in (audit / kind).glob(f"*{ending}"):
            text = "INSERT INTO tally_definitions VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
            connection.execute(text, (kind, path.name, path.read_bytes()))
    with (audit / "journal" / "checkpoints").open("rb") as file:
        for note in split_notes(file):
            size = int(note.split(b"\n", 2)[1])
            connection.execute("INSERT INTO tally_checkpoints (size, note) VALUES (%s, %s)", (size, note))


def _set_head(connection: Connection, copied: Copied, keys: Keys) -> None:
    size, leaf, rotated = copied
    TreeRows().extend(0, size, lambda text, values: connection.execute(text, values, binary=True).fetchall())
    row = connection.execute("SELECT COALESCE(MAX(size), 0) FROM tally_checkpoints").fetchone()
    last = connection.execute("SELECT header FROM tally_records WHERE seq = %s", (size - 1,), binary=True).fetchone()
    stamp = "" if last is None else str((parse_header(bytes(last[0])) or {}).get("timestamp", ""))
    slot = pack(Head(size=size, checkpointed=min(size, int(row[0]) if row else 0), leaf=leaf), keys)
    connection.execute(
        "UPDATE tally_head SET size = %s, leaf = %s, slot = %s, stamp = %s, rotated = %s, moved = FALSE",
        (size, leaf, slot, stamp, rotated),
    )


def is_retired(audit: Path) -> bool:
    """Return whether an interrupted move has already closed the journal in files."""
    segments = Segments(audit / "journal")
    return any(not segments.path(number).stat().st_mode & disk.WRITABLE for number in segments.numbers()[-1:])


def retire_files(audit: Path) -> None:
    """Make the last segment read-only, so that processes that have it open refuse; under `closed_files`."""
    segments = Segments(audit / "journal")
    for number in segments.numbers()[-1:]:
        fd = os.open(segments.path(number), os.O_RDONLY | os.O_NOFOLLOW)
        try:
            seal_segment(fd)
        finally:
            os.close(fd)


def set_aside(audit: Path) -> Path:
    """Rename the folder of the journal in files, which is a copy from now on."""
    number = 1
    while (aside := audit / f"journal.moved-{number}").exists():
        number += 1
    (audit / "journal").rename(aside)
    return aside


def copy_out(connection: Connection, keys_from: Path, audit: Path, keys: Keys, segment_bytes: int) -> None:
    """Write the journal in the database as files into a new audit folder, which may be opened then."""
    shutil.rmtree(audit, ignore_errors=True)
    journal = audit / "journal"
    disk.make_folder(journal)
    for name in (SECRET, LOG):
        shutil.copy2(keys_from / name, audit / name)
    if (keys_from / "keys").is_dir():
        shutil.copytree(keys_from / "keys", audit / "keys")
    size, leaf, end = _write_segments(connection, journal, segment_bytes)
    with connection.cursor("notes", binary=True) as cursor:
        cursor.execute("SELECT note FROM tally_checkpoints ORDER BY number")
        disk.write_whole(journal / "checkpoints", b"".join(bytes(row[0]) + b"\n" for row in cursor))
    for digest, data in connection.execute("SELECT digest, data FROM tally_blobs", binary=True):
        _write(audit / "blobs" / digest[:2] / digest, data)
    for kind, name, data in connection.execute("SELECT kind, name, data FROM tally_definitions", binary=True):
        _write(audit / kind / name, data)
    head = HeadFile(journal / "head")
    # No checkpoint is named as covered, so that opening it writes tree and views.
    disk.pwrite(head.fd, pack(Head(size=size, end=end, leaf=leaf), keys), 0)
    disk.fsync(head.fd)
    head.close()


def _write_segments(connection: Connection, journal: Path, segment_bytes: int) -> tuple[int, bytes, int]:
    segments, number, offset, size, leaf = Segments(journal), 0, 0, 0, ZERO
    file = _new_file(segments.path(0))
    with connection.cursor("lines", binary=True) as cursor:
        cursor.execute("SELECT header, inputs, outputs FROM tally_records ORDER BY seq")
        for row in cursor:
            if offset >= segment_bytes:
                _finish(file, sealed=True)
                number, offset = number + 1, 0
                file = _new_file(segments.path(number))
            offset += file.write(b"%b\t%b\t%b\n" % row)
            size, leaf = size + 1, leaf_hash(row[0])
    _finish(file, sealed=False)
    return size, leaf, position(number, offset)


def _new_file(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, disk.FILE_MODE), "wb")


def _finish(file: BinaryIO, *, sealed: bool) -> None:
    file.flush()
    disk.fsync(file.fileno())
    if sealed:
        disk.fchmod(file.fileno(), disk.SEALED_MODE)
    file.close()


def _write(path: Path, data: bytes) -> None:
    disk.make_folder(path.parent)
    disk.write_whole(path, bytes(data))
