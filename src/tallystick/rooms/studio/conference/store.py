"""The conferences of a workspace: `.control-room/conferences/<id>/conference.json` and `transcript.jsonl`.

The file holds ids and digests. Whether a round that is written down as running does run is told by a lock that its
process holds and that dies with it: so a round whose process was killed shows as broken off, in every process, with
nobody there to clean up. Looking at that lock and taking it both happen while the file itself is locked, so that who
looks never stands in the way of who begins.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError
from tallystick.gate.session import valid_session_id
from tallystick.records import record
from tallystick.rooms.studio.conference.nouns import Conference, Round
from tallystick.rooms.studio.conference.states import may_become
from tallystick.rooms.studio.conference.wire import conference_from, conference_wire
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.journal import disk
from tallystick.storage.json_file import JsonFile
from tallystick.storage.json_lines import JsonLines

FOLDER = "conferences"
UNKNOWN = Problem(code="conference_unknown", message="There is no conference of this id.")
NO_ROUND = Problem(code="round_unknown", message="There is no round of this number. Rounds are numbered from 1.")
BUSY = Problem(code="round_running", message="A round of this conference runs. Wait for its end, or cancel it.")
OVER = Problem(code="round_over", message="This round has ended; there is nothing to cancel.")


@record
class Begun:
    """A round that runs here, and the lock that says so."""

    conference: Conference
    round: Round
    lock: "Lock"


class Lock:
    """Held while a round runs; letting go, or dying, says that it no longer does."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def let_go(self) -> None:
        """Let go; again does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class ConferenceFiles:
    """The conferences on disk. Reads and writes files: not for the event loop."""

    def __init__(self, workspace: Path) -> None:
        self._folder = workspace / CONTROL_ROOM / FOLDER

    def ids(self) -> list[str]:
        """Every conference, by id."""
        try:
            names = sorted(entry.name for entry in os.scandir(self._folder) if entry.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return []
        return [name for name in names if valid_session_id(name) and self._file(name).path.exists()]

    def create(self, conference: Conference) -> Conference:
        """Write a new conference down.

        Raises:
            ConfigError: It cannot be written.
        """
        file = self._file(conference.conference_id)
        with file.locked():
            file.write(conference_wire(conference))
        return conference

    def get(self, conference_id: str) -> Conference | Problem:
        """A conference; a round whose process is gone shows as broken off.

        Raises:
            ConfigError: Its file is damaged.
        """
        found = self._read(conference_id)
        if isinstance(found, Problem) or all(each.over for each in found.rounds):
            return found
        with self._file(conference_id).locked():
            found = self._read(conference_id)
            return found if isinstance(found, Problem) or self._held(conference_id) else _broken(found)

    def change(self, conference_id: str, how: Callable[[Conference], Conference | Problem]) -> Conference | Problem:
        """Change a conference as it is now."""
        file = self._file(conference_id) if valid_session_id(conference_id) else None
        if file is None or not file.path.exists():
            return UNKNOWN
        with file.locked():
            found = self._read(conference_id)
            if isinstance(found, Problem):
                return found
            if not self._held(conference_id):
                found = _broken(found)
            after = how(found)
            if isinstance(after, Conference):
                file.write(conference_wire(after))
            return after

    # -- rounds --------------------------------------------------------------------------------------------------------

    def begin(self, conference_id: str, make: Callable[[int], Round]) -> Begun | Problem:
        """Begin the next round, if none runs.

        Args:
            conference_id: Of which conference.
            make: Gives the round of a number.
        """
        taken: list[Lock] = []

        def begun(conference: Conference) -> Conference | Problem:
            lock = self._take(conference_id)
            if lock is None:
                return BUSY
            taken.append(lock)
            return conference.with_round(make(len(conference.rounds) + 1))

        after: Conference | Problem | None = None
        try:
            after = self.change(conference_id, begun)
        finally:
            if not isinstance(after, Conference):
                for lock in taken:
                    lock.let_go()
        return after if isinstance(after, Problem) else Begun(conference=after, round=after.rounds[-1], lock=taken[0])

    def end(self, begun: Begun, ended: Round) -> Conference | Problem:
        """Write down how a round ended, and that it no longer runs."""
        try:
            return self.change(
                begun.conference.conference_id,
                lambda conference: conference.with_round(ended) if _fits(conference, ended) else conference,
            )
        finally:
            begun.lock.let_go()

    def cancel(self, conference_id: str, number: int) -> Conference | Problem:
        """Wish a round cancelled: whoever runs it, in whatever process, looks for this wish."""

        def wished(conference: Conference) -> Conference | Problem:
            found = conference.round(number)
            if found is None:
                return NO_ROUND
            if found.over:
                return OVER
            return conference.with_round(replace(found, state="cancelling"))

        return self.change(conference_id, wished)

    def is_cancelling(self, conference_id: str, number: int) -> bool:
        """Whether somebody wishes a round cancelled."""
        found = self._read(conference_id)
        wanted = None if isinstance(found, Problem) else found.round(number)
        return wanted is not None and wanted.state == "cancelling"

    def transcript(self, conference_id: str) -> JsonLines:
        """What was said in it, for the user's eyes."""
        return JsonLines(self._path(conference_id) / "transcript.jsonl")

    # -- files ---------------------------------------------------------------------------------------------------------

    def _read(self, conference_id: str) -> Conference | Problem:
        if not valid_session_id(conference_id):
            return UNKNOWN
        file = self._file(conference_id)
        value = file.read()
        if value is None:
            return UNKNOWN
        found = conference_from(value)
        if isinstance(found, Problem):
            raise file.damaged(f"{found.message} {found.pointer}".strip())
        if found.conference_id != conference_id:
            raise file.damaged("it is of another conference")
        return found

    def _take(self, conference_id: str) -> Lock | None:
        """The lock of the round that runs; None: another process or task has it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            fd = disk.open_file(self._path(conference_id) / ".round.lock", flags, disk.FILE_MODE)
        except OSError as error:
            message = f"The conference's folder cannot be written: {error.strerror or error}."
            raise ConfigError(message, code="control_room_unwritable") from None
        lock = Lock(fd)
        if disk.try_lock(fd):
            return lock
        lock.let_go()
        return None

    def _held(self, conference_id: str) -> bool:
        lock = self._take(conference_id)
        if lock is None:
            return True
        lock.let_go()
        return False

    def _file(self, conference_id: str) -> JsonFile:
        return JsonFile(self._path(conference_id) / "conference.json", code="conference_damaged")

    def _path(self, conference_id: str) -> Path:
        return self._folder / conference_id


def _broken(conference: Conference) -> Conference:
    """With the rounds that nobody runs any more."""
    rounds = tuple(each if each.over else replace(each, state="broken_off") for each in conference.rounds)
    return replace(conference, rounds=rounds)


def _fits(conference: Conference, ended: Round) -> bool:
    before = conference.round(ended.number)
    return before is not None and may_become(before.state, ended.state)
