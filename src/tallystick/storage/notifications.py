"""Notifications for people: `data/notifications.json` in the workspace.

They are created when something waits for a person or has ended: held calls, rejected replies, finished runs, deferred
issues. The list is bounded, and equal unread notifications are stored once: a server that fails all night leaves one
entry, not a thousand.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal, get_args
from urllib.parse import quote

from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.gate.record.secrets import mask
from tallystick.records import record
from tallystick.storage.json_file import JsonFile

FILE = Path("data") / "notifications.json"
CODE = "notifications_damaged"
MOST = 500
"""Maximum number kept; read ones are dropped first, oldest first."""
MAX_TEXT = 1_000
MAX_NAME = 300
PLACES = {
    "approval": "/approvals/",
    "conference": "/conference/",
    "issue": "/issues/",
    "receipt": "/receipts/",
    "proposal": "/settings/prompts?proposal=",
    "run": "/runs/",
    "session": "/receipts?words=",
}
"""Kind of object → path of its web page; the API's routes are under `/api`."""

Level = Literal["info", "warn", "error"]
LEVELS: tuple[str, ...] = get_args(Level)


@record
class Notification:
    """One notification."""

    id: str
    level: Level
    source: str
    """The part that created it: `approvals`, `chat`, `conference`, `runs`, `issues`, …"""
    text: str
    link: str | None
    """Path of the web page to open."""
    read: bool
    created: str

    def as_dict(self) -> dict[str, Any]:
        """Return the wire format."""
        return asdict(self)


Listed = list[Notification]
"""Oldest first."""


class Notifications:
    """The notifications of one workspace. Several processes may add notifications concurrently."""

    def __init__(
        self,
        workspace: Path,
        *,
        now: Callable[[], str] | None = None,
        new_id: Callable[[str], str] | None = None,
    ) -> None:
        self.path = workspace / FILE
        self._file = JsonFile(self.path, code=CODE)
        self._now = now or _now
        self._new_id = new_id or _new_id

    def add(self, *, level: Level, source: str, text: str, link: str | None = None) -> Notification:
        """Add a notification; if an equal unread one exists, only its time is updated, making it the newest.

        Args:
            level: `info`, `warn` or `error`.
            source: The part that creates it.
            text: One or two sentences; secrets are masked.
            link: Path of the web page to open, see `place_of`.

        Raises:
            ConfigError: The file is damaged or cannot be written.
        """
        made = Notification(
            id=self._new_id("ntf"),
            level=level,
            source=_line(source, MAX_NAME),
            text=_line(mask(text), MAX_TEXT),
            link=None if link is None else _line(link, MAX_NAME),
            read=False,
            created=self._now(),
        )
        with self._file.locked():
            listed = self._load()
            same = next((each for each in listed if not each.read and _news(each) == _news(made)), None)
            if same is not None:
                made = replace(same, created=made.created)
                listed.remove(same)
            self._write(_bounded([*listed, made]))
        return made

    def list(self, *, unread: bool = False, limit: int = 50, offset: int = 0) -> tuple[Notification, ...]:
        """Return notifications, newest first."""
        return self._chosen(unread=unread)[offset : offset + limit]

    def count(self, *, unread: bool = False) -> int:
        """Return the number of notifications."""
        return len(self._chosen(unread=unread))

    def read(self, notification_id: str) -> Notification | None:
        """Mark one as read; None: there is no such notification."""
        if self.stamp() is None:
            return None
        with self._file.locked():
            listed = self._load()
            place = next((at for at, each in enumerate(listed) if each.id == notification_id), None)
            if place is None:
                return None
            if not listed[place].read:
                listed[place] = replace(listed[place], read=True)
                self._write(listed)
            return listed[place]

    def read_all(self) -> int:
        """Mark all as read; return how many were unread."""
        if self.stamp() is None:
            return 0
        with self._file.locked():
            listed = self._load()
            unread = sum(not each.read for each in listed)
            if unread:
                self._write([replace(each, read=True) for each in listed])
            return unread

    def settle(self, link: str) -> int:
        """Mark all with this link as read, because their subject is done; return how many were unread."""
        if self.stamp() is None:
            return 0
        with self._file.locked():
            listed = self._load()
            unread = sum(not each.read and each.link == link for each in listed)
            if unread:
                self._write([replace(each, read=each.read or each.link == link) for each in listed])
            return unread

    def stamp(self) -> tuple[int, int, int] | None:
        """Return a value that changes with every change of the file, for polling; costs one `stat`."""
        try:
            found = self.path.stat(follow_symlinks=False)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _chosen(self, *, unread: bool) -> tuple[Notification, ...]:
        return tuple(each for each in reversed(self._load()) if not (unread and each.read))

    def _load(self) -> "Listed":
        found = self._file.read()
        listed = [] if found is None else found.get("notifications")
        if not isinstance(listed, list):
            raise self._file.damaged("it holds 'version' and the list 'notifications'")
        for place, value in enumerate(listed):
            if not _schema().accepts(value):
                pointer, rule = _schema().explain(value)
                raise self._file.damaged(f"/notifications/{place}{pointer} breaks the rule '{rule}'")
        return [Notification(**value) for value in listed]

    def _write(self, listed: "Listed") -> None:
        self._file.write({"notifications": [each.as_dict() for each in listed]})


def grouped(listed: Iterable[Notification]) -> list[Listed]:
    """Notifications of the same thing together: same source, page and state, in the order of the first of each.

    Args:
        listed: Newest first.
    """
    groups: dict[tuple[object, ...], Listed] = {}
    for each in listed:
        groups.setdefault((each.source, each.link or each.id, each.read), []).append(each)
    return list(groups.values())


def place_of(kind: str, name: str) -> str:
    """Return the path of the web page that shows an object.

    Args:
        kind: One of `PLACES`.
        name: Its id.
    """
    return PLACES[kind] + quote(name, safe="")


def _bounded(listed: Listed) -> Listed:
    """Drop the oldest read notifications above the limit and, if that is not enough, the oldest unread ones."""
    surplus = len(listed) - MOST
    if surplus <= 0:
        return listed
    dropped = {each.id for each in [each for each in listed if each.read][:surplus]}
    return [each for each in listed if each.id not in dropped][-MOST:]


def _news(one: Notification) -> tuple[str, str, str, str | None]:
    return one.level, one.source, one.text, one.link


def _line(text: str, most: int) -> str:
    """Convert text to one printable line of limited length."""
    plain = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _new_id(kind: str) -> str:
    return f"{kind}_{token_hex(12)}"


@cache
def _schema() -> CompiledSchema:
    text = {"type": "string"}
    properties: dict[str, Any] = {
        "id": text,
        "level": {"enum": list(LEVELS)},
        "source": text,
        "text": text,
        "link": {"anyOf": [{"type": "null"}, text]},
        "read": {"type": "boolean"},
        "created": text,
    }
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return compile_schema(schema, closed=True)
