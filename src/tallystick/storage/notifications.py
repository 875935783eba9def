"""What a person should know of: `data/notifications.json` in the workspace.

Made where something waits for a person or has ended: held calls, refused replies, finished runs, deferred issues. The
list is bounded, and the same unread news stands in it once: a server that fails all night leaves one line, not a
thousand.
"""

from collections.abc import Callable
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
"""What is kept: what was read goes first, the oldest before the newer."""
MAX_TEXT = 1_000
MAX_NAME = 300
PLACES = {
    "approval": "/approvals/", "conference": "/conference/", "issue": "/issues/", "receipt": "/receipts/",
    "proposal": "/settings/prompts?proposal=", "run": "/runs/", "session": "/receipts?words=",
}  # fmt: skip
"""Kind of thing → where the page shows one; the API's own routes stand under `/api`."""

Level = Literal["info", "warn", "error"]
LEVELS: tuple[str, ...] = get_args(Level)


@record
class Notification:
    """One thing to know of."""

    id: str
    level: Level
    source: str
    """Which part tells: `approvals`, `chat`, `conference`, `runs`, `issues`, …"""
    text: str
    link: str | None
    """Where on the page to look."""
    read: bool
    created: str

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return asdict(self)


Listed = list[Notification]
"""The oldest first."""


class Notifications:
    """The notifications of one workspace. Several processes may add at once."""

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
        """Tell something; if it stands there unread, it is only made the newest again.

        Args:
            level: `info`, `warn` or `error`.
            source: Which part tells.
            text: One or two sentences; secrets are masked.
            link: Where on the page to look, see `place_of`.

        Raises:
            ConfigError: The file is damaged or cannot be written.
        """
        made = Notification(
            id=self._new_id("ntf"), level=level, source=_line(source, MAX_NAME), text=_line(mask(text), MAX_TEXT),
            link=None if link is None else _line(link, MAX_NAME), read=False, created=self._now(),
        )  # fmt: skip
        with self._file.locked():
            listed = self._load()
            same = next((each for each in listed if not each.read and _news(each) == _news(made)), None)
            if same is not None:
                made = replace(same, created=made.created)
                listed.remove(same)
            self._write(_bounded([*listed, made]))
        return made

    def list(self, *, unread: bool = False, limit: int = 50, offset: int = 0) -> tuple[Notification, ...]:
        """The newest first."""
        return self._chosen(unread=unread)[offset : offset + limit]

    def count(self, *, unread: bool = False) -> int:
        """How many there are."""
        return len(self._chosen(unread=unread))

    def read(self, notification_id: str) -> Notification | None:
        """Say that one was read; None: there is no such one."""
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
        """Say that all were read; gives how many were not."""
        with self._file.locked():
            listed = self._load()
            unread = sum(not each.read for each in listed)
            if unread:
                self._write([replace(each, read=True) for each in listed])
            return unread

    def settle(self, link: str) -> int:
        """Say that all with this link were read: what they told of is done; gives how many were not."""
        if self.stamp() is None:
            return 0
        with self._file.locked():
            listed = self._load()
            unread = sum(not each.read and each.link == link for each in listed)
            if unread:
                self._write([replace(each, read=each.read or each.link == link) for each in listed])
            return unread

    def stamp(self) -> tuple[int, int, int] | None:
        """Is another after every change; for those who wait for news. Costs one look at the file."""
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


def place_of(kind: str, name: str) -> str:
    """Where the page shows something.

    Args:
        kind: One of `PLACES`.
        name: Its id.
    """
    return PLACES[kind] + quote(name, safe="")


def _bounded(listed: Listed) -> Listed:
    """The newest, without the oldest read ones, and if that is not enough without the oldest."""
    surplus = len(listed) - MOST
    if surplus <= 0:
        return listed
    dropped = {each.id for each in [each for each in listed if each.read][:surplus]}
    return [each for each in listed if each.id not in dropped][-MOST:]


def _news(one: Notification) -> tuple[str, str, str, str | None]:
    return one.level, one.source, one.text, one.link


def _line(text: str, most: int) -> str:
    """One line that can be shown anywhere."""
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
        "id": text, "level": {"enum": list(LEVELS)}, "source": text, "text": text,
        "link": {"anyOf": [{"type": "null"}, text]}, "read": {"type": "boolean"}, "created": text,
    }  # fmt: skip
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return compile_schema(schema, closed=True)
