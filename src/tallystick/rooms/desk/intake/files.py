"""Import of message files, one event at a time: CSV, mbox and Zendesk JSON.

What cannot be read is left out, and named with its place; one bad row keeps no other out.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tallystick.agents.problem import Problem
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.records import record
from tallystick.rooms.desk.intake.csv_file import csv_events
from tallystick.rooms.desk.intake.file_event import FileEvent, SkippedItem
from tallystick.rooms.desk.intake.mbox_file import mbox_events
from tallystick.rooms.desk.intake.service import Intake, IntakeResult
from tallystick.rooms.desk.intake.zendesk_file import zendesk_events

Found = FileEvent | SkippedItem
FORMS: Mapping[str, Callable[[Path, ImportLimits], Iterator[Found] | Problem]] = {
    "csv": csv_events,
    "mbox": mbox_events,
    "zendesk": zendesk_events,
}
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".mbox": "mbox",
    ".mbx": "mbox",
    ".json": "zendesk",
    ".jsonl": "zendesk",
    ".ndjson": "zendesk",
}
TOGETHER = 100
"""Events that are stored at once."""


@record
class ImportedEvent:
    """The result for one event of a file."""

    place: str
    received: IntakeResult


@record
class ImportResult:
    """The result of importing a file."""

    taken: tuple[ImportedEvent, ...]
    """In the order of the file."""
    left: tuple[SkippedItem, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many of each."""
        states = ("queued", "skipped", "rejected")
        found = {name: sum(one.received.status == name for one in self.taken) for name in states}
        return found | {"left": len(self.left)}

    def rejected(self) -> tuple[ImportedEvent, ...]:
        """Those that were not taken, each with its place, code and message."""
        return tuple(one for one in self.taken if one.received.status == "rejected")


def events_in(path: Path, form: str | None = None, *, limits: ImportLimits = DEFAULT) -> Iterator[Found] | Problem:
    """The events of a file.

    Args:
        path: Where it is.
        form: One of `FORMS`; by the file's ending if not given.
        limits: How much may be read.
    """
    chosen = form or _SUFFIXES.get(path.suffix.lower(), "")
    if chosen not in FORMS:
        message = f"Say what it is: {', '.join(FORMS)}. Known endings are {', '.join(_SUFFIXES)}."
        return Problem(code="form_unknown", message=message)
    if not path.is_file():
        return Problem(code="file_missing", message=f"There is no file {path.name}. Give the path of one.")
    try:
        if path.stat().st_size > limits.file_bytes:
            message = f"{path.name} is too large. Split it, or raise {limits.named('file_bytes')}."
            return Problem(code="file_too_large", message=message)
        return FORMS[chosen](path, limits)
    except OSError as error:
        return Problem(code="file_unreadable", message=f"{path.name} cannot be read: {error.strerror}.")


def import_file(
    intake: Intake,
    path: Path,
    form: str | None = None,
    *,
    told: Callable[[int], None] = lambda _: None,
    limits: ImportLimits = DEFAULT,
) -> ImportResult | Problem:
    """Take all events of a file.

    Args:
        intake: Where they go.
        path: The file.
        form: As `events_in` takes it.
        told: Told how many events were taken so far.
        limits: As `events_in` takes them.
    """
    events = events_in(path, form, limits=limits)
    if isinstance(events, Problem):
        return events
    taken: list[ImportedEvent] = []
    left: list[SkippedItem] = []
    waiting: list[FileEvent] = []
    for found in events:
        if isinstance(found, SkippedItem):
            left.append(found)
            continue
        waiting.append(found)
        if len(waiting) >= TOGETHER:
            taken += _take(intake, waiting, path.name)
            waiting = []
            told(len(taken))
    taken += _take(intake, waiting, path.name)
    told(len(taken))
    return ImportResult(taken=tuple(taken), left=tuple(left))


def _take(intake: Intake, found: list[FileEvent], source: str) -> list[ImportedEvent]:
    received = intake.take_all([{**one.event, "source": source} for one in found])
    return [ImportedEvent(place=one.place, received=what) for one, what in zip(found, received, strict=True)]
