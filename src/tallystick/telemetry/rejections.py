"""Rejections by bucket, with activations, tokens and cost: in total, per session, per agent, per conference.

Stored in `.control-room/telemetry/`: `totals.json` and `sessions/<session>.json`. Several processes add to the same
files: each adds its counts since its last write, under one lock, so that nothing is counted twice or lost. A background
thread writes at most once a second and on close; an unwritable disk only delays the numbers.
"""

import atexit
import contextlib
import fcntl
import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import orjson

from tallystick.agents.counts import NUMBERS, Count
from tallystick.gate.codes import Bucket
from tallystick.gate.record.secrets import mask
from tallystick.gate.session import Session, valid_session_id

INTERVAL_S = 1.0
MAX_PENDING = 10_000
"""Maximum number of places between two writes; further ones count in the totals only."""
MAX_NAMES = 1_000
"""Maximum number of agents or conferences in one file; further ones count as `other`."""
MAX_NAME_CHARS = 128
OTHER = "other"

Place = tuple[str | None, str | None, str | None]
"""Session, agent, conference."""

_log = logging.getLogger(__name__)


class Rejections:
    """Counts events and writes the counts to the control room. Thread-safe."""

    def __init__(self, folder: Path, *, interval_s: float = INTERVAL_S) -> None:
        self._folder = folder
        self._interval_s = interval_s
        self._closing = Event()
        self._failed = False
        self._lock: Lock
        self._pending: dict[Place, Count]
        self._due: Event
        self._writer: Thread | None
        self._pid: int
        self._begin()

    def add(self, session: Session, count: Count | None = None, *, bucket: str | None = None) -> None:
        """Count an event of a session.

        Args:
            session: The session.
            count: Activity and usage of agents.
            bucket: The bucket of one rejection.
        """
        if os.getpid() != self._pid:
            self._begin()
        place: Place = (session.session_id, session.agent_id, session.conference_id)
        with self._lock:
            here = self._pending.get(place)
            if here is None:
                key = place if len(self._pending) < MAX_PENDING else (None, None, None)
                here = self._pending.setdefault(key, Count())
            if count is not None:
                here.add(count)
            if bucket is not None:
                here.rejections[bucket] = here.rejections.get(bucket, 0) + 1
            if self._writer is None and not self._closing.is_set():
                self._start()
        if not self._due.is_set():
            self._due.set()

    def totals(self) -> dict[str, Any]:
        """Return the counts of all sessions and processes, after writing this process's pending counts."""
        self.flush()
        return complete(load(self._folder / "totals.json"))

    def session(self, session_id: str) -> dict[str, Any]:
        """Return the counts of one session; all zero if nothing was counted."""
        self.flush()
        return complete(load(self._folder / "sessions" / f"{session_id}.json") if valid_session_id(session_id) else {})

    @property
    def folder(self) -> Path:
        """Folder of the files."""
        return self._folder

    def flush(self) -> None:
        """Write the counts since the last write."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            pending, self._pending = self._pending, {}
            self._due.clear()
        if not pending:
            return
        try:
            self._write(pending)
            self._failed = False
        except OSError as error:
            self._put_back(pending)
            if not self._failed:
                self._failed = True
                _log.warning("telemetry cannot be written (%s); it is kept and tried again", error.strerror)

    def close(self) -> None:
        """Write the pending counts and stop the thread."""
        self._closing.set()
        self._due.set()
        if self._writer is not None and os.getpid() == self._pid:
            self._writer.join()
        atexit.unregister(self.close)
        self.flush()

    def _begin(self) -> None:
        """Start with no counts; also in a forked child, whose parent writes the earlier counts."""
        self._lock = Lock()
        self._pending = {}
        self._due = Event()
        self._writer = None
        self._pid = os.getpid()

    def _start(self) -> None:
        self._writer = Thread(target=self._run, name="tally-telemetry", daemon=True)
        self._writer.start()
        atexit.register(self.close)

    def _run(self) -> None:
        while not self._closing.is_set():
            self._due.wait()
            self._closing.wait(self._interval_s)
            self.flush()

    def _put_back(self, pending: dict[Place, Count]) -> None:
        with self._lock:
            for place, count in pending.items():
                key = place if place in self._pending or len(self._pending) < MAX_PENDING else (None, None, None)
                self._pending.setdefault(key, Count()).add(count)

    def _write(self, pending: dict[Place, Count]) -> None:
        sessions = self._folder / "sessions"
        sessions.mkdir(parents=True, exist_ok=True, mode=0o700)
        by_session: dict[str, list[tuple[Place, Count]]] = {}
        for place, count in pending.items():
            if place[0] is not None and valid_session_id(place[0]):
                by_session.setdefault(place[0], []).append((place, count))
        with _locked(self._folder / ".lock"):
            _update(self._folder / "totals.json", pending.items())
            for session_id, counts in by_session.items():
                # The totals are already written: retrying for a failed session file would count them twice.
                with contextlib.suppress(OSError):
                    _update(sessions / f"{session_id}.json", counts)


def _update(path: Path, counts: Iterable[tuple[Place, Count]]) -> None:
    document = load(path)
    for (_, agent, conference), count in counts:
        _add(document.setdefault("totals", {}), count)
        if agent is not None:
            _add(_named(document, "agents", agent), count)
        if conference is not None:
            inside = _named(document, "conferences", conference)
            _add(inside, count)
            if agent is not None:
                _add(_named(inside, "agents", agent), count)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    draft.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    draft.replace(path)


def load(path: Path) -> dict[str, Any]:
    """Load a file's document; a damaged file is renamed, and counting restarts from zero."""
    try:
        document = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except orjson.JSONDecodeError:
        document = None
    if isinstance(document, dict) and isinstance(document.get("totals"), dict):
        return document
    path.replace(path.with_name(f"{path.name}.damaged"))
    _log.warning("%s was damaged; it is kept as %s.damaged and counting begins anew", path.name, path.name)
    return {}


def _named(document: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    names: dict[str, Any] = document.setdefault(kind, {})
    key = mask(name)[:MAX_NAME_CHARS]
    found: dict[str, Any] = names.setdefault(key if key in names or len(names) < MAX_NAMES else OTHER, {})
    return found


def _add(into: dict[str, Any], count: Count) -> None:
    for name in NUMBERS:
        into[name] = into.get(name, 0) + getattr(count, name)
    rejections = into.setdefault("rejections", dict.fromkeys((str(bucket) for bucket in Bucket), 0))
    for bucket, number in count.rejections.items():
        rejections[bucket] = rejections.get(bucket, 0) + number


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """Fill in missing parts of a document, so that readers need no checks."""
    _add(document.setdefault("totals", {}), Count())
    return {"agents": {}, "conferences": {}} | document


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
