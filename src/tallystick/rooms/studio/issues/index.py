"""`issues.json`: the headings of all issues. Read once, and again only when somebody changed it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.rooms.studio.issues.nouns import Heading
from tallystick.rooms.studio.issues.wire import heading_from, heading_wire
from tallystick.storage.json_file import JsonFile

CODE = "issues_damaged"
Stamp = tuple[int, int, int]


@record
class Headings:
    """All headings, the oldest first, with the form in which they are written."""

    by_id: dict[str, Heading]
    wires: Mapping[str, dict[str, Any]]

    @property
    def next_number(self) -> int:
        """The number of the next issue."""
        return 1 + max((heading.number for heading in self.by_id.values()), default=0)

    def having(self, heading: Heading) -> "Headings":
        """With one heading as it is now."""
        key = heading.issue_id
        return Headings(by_id={**self.by_id, key: heading}, wires={**self.wires, key: heading_wire(heading)})


class Index:
    """The file of headings."""

    def __init__(self, folder: Path) -> None:
        self.file = JsonFile(folder / "issues.json", code=CODE)
        self._seen: tuple[Stamp | None, Headings] = (None, Headings(by_id={}, wires={}))

    def load(self) -> Headings:
        """As it is on disk now.

        Raises:
            ConfigError: `issues_damaged`; the file stays as it is.
        """
        stamp = self._stamp()
        seen, headings = self._seen
        if stamp is None or stamp != seen:
            headings = self._read()
            self._seen = (stamp, headings)
        return headings

    def save(self, headings: Headings) -> None:
        """Put others in their place; only while the file is locked."""
        self.file.write({"issues": list(headings.wires.values())})
        self._seen = (self._stamp(), headings)

    def _read(self) -> Headings:
        found = self.file.read()
        listed = [] if found is None else found.get("issues")
        if not isinstance(listed, list):
            raise self.file.damaged("it holds 'version' and the list 'issues'")
        by_id: dict[str, Heading] = {}
        for place, value in enumerate(listed):
            heading = heading_from(value)
            if isinstance(heading, Problem):
                raise self.file.damaged(f"/issues/{place}{heading.pointer}: {heading.message}")
            by_id[heading.issue_id] = heading
        return Headings(by_id=by_id, wires=dict(zip(by_id, listed, strict=True)))

    def _stamp(self) -> Stamp | None:
        """What is another after every change: the file is replaced with each."""
        try:
            found = self.file.path.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
