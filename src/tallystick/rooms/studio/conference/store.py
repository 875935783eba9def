"""The conferences of a workspace: `.control-room/conferences/<id>/conference.json` and `transcript.jsonl`.

The file holds ids and digests; content that does not fit the schema is damage and is never overwritten. Whether a round
recorded as running is in fact running is decided by a lock that its process holds and that the system releases when the
process dies: a round whose process was killed shows as broken off in every process, without any clean-up. The lock is
checked and taken only while the file itself is locked, so a reader never blocks a new round.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

from tallystick.agents.problem import Problem, misfit
from tallystick.agents.wire import AGENT_ID
from tallystick.errors import ConfigError
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.gate.session import valid_session_id
from tallystick.records import record
from tallystick.rooms.studio.conference.attendees import attendees_problem
from tallystick.rooms.studio.conference.model import Attendee, Conference, ReplyRecord, Round, Status
from tallystick.rooms.studio.conference.states import RoundState, may_become
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.journal import disk
from tallystick.storage.json_file import JsonFile
from tallystick.storage.json_lines import JsonLines

_TEXT: Mapping[str, Any] = {"type": "string"}
_MAYBE: Mapping[str, Any] = {"type": ["string", "null"]}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": _TEXT}


def conference_wire(conference: Conference) -> dict[str, Any]:
    """The form on disk."""
    return {
        "conference_id": conference.conference_id,
        "name": conference.name,
        "created_at": conference.created_at,
        "created_by": conference.created_by,
        "attendees": [asdict(each) for each in conference.attendees],
        "rounds": [each.as_dict() for each in conference.rounds],
    }


def conference_from(value: Any) -> Conference | Problem:
    """A conference from that form."""
    problem = misfit(_schema(), value, code="conference_damaged", what="The conference cannot be read")
    if problem is not None:
        return problem
    numbers = [each["number"] for each in value["rounds"]]
    if numbers != list(range(1, len(numbers) + 1)):
        return Problem(code="conference_damaged", message="Rounds are numbered from 1.", pointer="/rounds")
    attendees = tuple(Attendee(**each) for each in value["attendees"])
    problem = attendees_problem(attendees)
    if problem is not None:
        return problem
    return Conference(
        conference_id=value["conference_id"],
        name=value["name"],
        created_at=value["created_at"],
        created_by=value["created_by"],
        attendees=attendees,
        rounds=tuple(map(_round, value["rounds"])),
    )


def _round(value: Mapping[str, Any]) -> Round:
    replies = tuple(ReplyRecord(**each) for each in value["replies"])
    return Round(**{**value, "replies": replies, "receipts": tuple(value["receipts"]), "muted": tuple(value["muted"])})


_REPLY: Mapping[str, Any] = {
    "agent_id": AGENT_ID,
    "status": {"enum": list(get_args(Status))},
    "turn_id": _TEXT,
    "prompt_sha256": _TEXT,
    "reply_sha256": _MAYBE,
    "code": _MAYBE,
    "check_receipt": _MAYBE,
}
_ROUND: dict[str, Any] = {
    "number": {"type": "integer", "minimum": 1},
    "round_id": _TEXT,
    "state": {"enum": list(get_args(RoundState))},
    "begun_at": _TEXT,
    "prompt_sha256": _TEXT,
    "ended_at": _MAYBE,
    "tool_turn_id": _MAYBE,
    "tool_prompt_sha256": _MAYBE,
    "receipts": _TEXTS,
    "stop_hook": _MAYBE,
    "muted": _TEXTS,
    "issue_id": _MAYBE,
}


@cache
def _schema() -> CompiledSchema:
    attendee = _object({"agent_id": AGENT_ID, "muted": {"type": "boolean"}})
    round_ = _object(_ROUND | {"replies": {"type": "array", "items": _object(_REPLY)}})
    whole = _object(
        {
            "conference_id": _TEXT,
            "name": _TEXT,
            "created_at": _TEXT,
            "created_by": _TEXT,
            "attendees": {"type": "array", "items": attendee, "minItems": 1},
            "rounds": {"type": "array", "items": round_},
            "version": {"const": 1},
        }
    )
    return compile_schema(whole, closed=True)


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


FOLDER = "conferences"
UNKNOWN = Problem(code="conference_unknown", message="There is no conference of this id.")
NO_ROUND = Problem(code="round_unknown", message="There is no round of this number. Rounds are numbered from 1.")
BUSY = Problem(code="round_running", message="A round of this conference runs. Wait for its end, or cancel it.")
OVER = Problem(code="round_over", message="This round has ended; there is nothing to cancel.")


@record
class StartedRound:
    """A round that runs in this process, with its lock."""

    conference: Conference
    round: Round
    lock: "RoundLock"


class RoundLock:
    """Held while a round runs; released at its end, or by the system when the process dies."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def let_go(self) -> None:
        """Release the lock; idempotent."""
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

    def begin(self, conference_id: str, make: Callable[[int], Round]) -> StartedRound | Problem:
        """Start the next round, unless one is running.

        Args:
            conference_id: Of which conference.
            make: Gives the round of a number.
        """
        taken: list[RoundLock] = []

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
        return (
            after
            if isinstance(after, Problem)
            else StartedRound(conference=after, round=after.rounds[-1], lock=taken[0])
        )

    def end(self, begun: StartedRound, ended: Round) -> Conference | Problem:
        """Write down how a round ended, and that it no longer runs."""
        try:
            return self.change(
                begun.conference.conference_id,
                lambda conference: conference.with_round(ended) if _fits(conference, ended) else conference,
            )
        finally:
            begun.lock.let_go()

    def cancel(self, conference_id: str, number: int) -> Conference | Problem:
        """Request cancellation; the process that runs the round polls for this."""

        def wished(conference: Conference) -> Conference | Problem:
            found = conference.round(number)
            if found is None:
                return NO_ROUND
            if found.over:
                return OVER
            return conference.with_round(replace(found, state="cancelling"))

        return self.change(conference_id, wished)

    def is_cancelling(self, conference_id: str, number: int) -> bool:
        """Whether cancellation was requested."""
        found = self._read(conference_id)
        wanted = None if isinstance(found, Problem) else found.round(number)
        return wanted is not None and wanted.state == "cancelling"

    def transcript(self, conference_id: str) -> JsonLines:
        """The transcript for the user."""
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

    def _take(self, conference_id: str) -> RoundLock | None:
        """The round's lock; None if another process or task holds it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            fd = disk.open_file(self._path(conference_id) / ".round.lock", flags, disk.FILE_MODE)
        except OSError as error:
            message = f"The conference's folder cannot be written: {error.strerror or error}."
            raise ConfigError(message, code="control_room_unwritable") from None
        lock = RoundLock(fd)
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
    """The conference with abandoned rounds marked as broken off."""
    rounds = tuple(each if each.over else replace(each, state="broken_off") for each in conference.rounds)
    return replace(conference, rounds=rounds)


def _fits(conference: Conference, ended: Round) -> bool:
    before = conference.round(ended.number)
    return before is not None and may_become(before.state, ended.state)
