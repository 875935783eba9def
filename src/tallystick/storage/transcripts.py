"""Session transcripts: `.control-room/transcripts/<sessionId>.jsonl`, one line per turn.

The next turn of a session gets the earlier ones as context, also across processes and restarts. A file has a size
limit: when full, it is renamed to `<sessionId>.jsonl.1`, replacing the previous one. A transcript is not evidence and
not signed; the evidence is in the receipts, which each line refers to.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from tallystick.agents.transcript_entry import TranscriptEntry
from tallystick.errors import ConfigError
from tallystick.gate.session import valid_session_id
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.journal import disk
from tallystick.turns.model import Message

FOLDER = "transcripts"
FILE_BYTES = 4 * 1024 * 1024
"""Size at which a session's file is rotated."""
TAIL_BYTES = 512 * 1024
"""Bytes read from the end of a file for the next turn; more would not fit any model."""
HISTORY_TURNS = 12
HISTORY_CHARS = 24_000
"""Limits of the history given to a turn: a few pages, so that the task itself stays prominent."""


class Transcripts:
    """The transcripts of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._folder = workspace / CONTROL_ROOM / FOLDER

    def add(self, session_id: str, entry: TranscriptEntry) -> None:
        """Append one turn.

        Raises:
            ConfigError: The file cannot be written; the message says what to do.
        """
        line = orjson.dumps(entry.as_dict()) + b"\n"
        path = self._path(session_id)
        try:
            disk.make_folder(self._folder)
            _append(path, line)
        except OSError as error:
            message = f"The transcript of {session_id} cannot be written: {error.strerror}. Free some space."
            raise ConfigError(message, code="transcript_unwritable") from None

    def turns(self, session_id: str) -> list[dict[str, Any]]:
        """Return the last turns of a session, oldest first; unreadable lines are skipped."""
        return list(_lines(_tail(self._path(session_id))))

    def history(self, session_id: str, *, subject: str, agent_id: str) -> tuple[Message, ...]:
        """Return the recent accepted messages and replies between this caller and this agent.

        Args:
            session_id: The session.
            subject: The caller.
            agent_id: The agent.
        """
        chosen: list[tuple[str, str]] = []
        left = HISTORY_CHARS
        for turn in reversed(self.turns(session_id)):
            message, reply = turn.get("message"), turn.get("reply")
            if (turn.get("subject"), turn.get("agent_id")) != (subject, agent_id):
                continue
            if not isinstance(message, str) or not isinstance(reply, str):
                continue
            left -= len(message) + len(reply)
            if left < 0 or len(chosen) == HISTORY_TURNS:
                break
            chosen.append((message, reply))
        return tuple(
            told
            for message, reply in reversed(chosen)
            for told in (Message(role="user", content=message), Message(role="assistant", content=reply))
        )

    def _path(self, session_id: str) -> Path:
        if not valid_session_id(session_id):
            message = f"{session_id!r:.60} cannot be a session id: letters, digits, dot, dash, underscore"
            raise ConfigError(message, code="session_id_invalid")
        return self._folder / f"{session_id}.jsonl"


def _append(path: Path, line: bytes) -> None:
    """Append a line under a lock, so that lines of two processes never mix, even during rotation."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        fd = os.open(path, flags, disk.FILE_MODE)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if not _is_still(path, fd):
                continue  # another process rotated the file while we waited
            size = os.fstat(fd).st_size
            if size and size + len(line) > FILE_BYTES:
                path.replace(path.with_name(f"{path.name}.1"))
                continue
            # A line torn by a crash must not corrupt this one.
            torn = size and os.pread(fd, 1, size - 1) != b"\n"
            disk.write_all(fd, b"\n" + line if torn else line)
        finally:
            os.close(fd)
        return


def _is_still(path: Path, fd: int) -> bool:
    try:
        now = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return False
    held = os.fstat(fd)
    return (now.st_dev, now.st_ino) == (held.st_dev, held.st_ino)


def _tail(path: Path) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(fd, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        data = file.read(TAIL_BYTES)
    # The first line of a partial read is incomplete.
    return data if size <= TAIL_BYTES else data.partition(b"\n")[2]


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        try:
            turn = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(turn, dict):
            yield turn
