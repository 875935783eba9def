"""One agent's mind on disk: how often it was at work, and what it remembers of which issue."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.rooms.studio.issues.recollection import Recollection
from tallystick.storage.journal.disk import make_folder
from tallystick.storage.json_file import JsonFile

CODE = "memory_damaged"


@record
class Mind:
    """What an agent has in mind."""

    activations: int = 0
    issues: Mapping[str, Recollection]

    def having(self, *kept: Recollection) -> "Mind":
        """With these as they are now."""
        return Mind(activations=self.activations, issues={**self.issues, **{each.issue_id: each for each in kept}})


class MindFile:
    """The files of one agent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = JsonFile(folder / "interests.json", code=CODE)

    def locked(self) -> AbstractContextManager[None]:
        """Around reading and writing."""
        return self._file.locked()

    def load(self) -> Mind:
        """All of it.

        Raises:
            ConfigError: `memory_damaged`; the file stays as it is.
        """
        found = self._file.read()
        if found is None:
            return Mind(issues={})
        activations, listed = found.get("activations"), found.get("issues")
        if type(activations) is not int or activations < 0 or not isinstance(listed, list):
            raise self._file.damaged("it holds 'activations' (a number) and the list 'issues'")
        issues: dict[str, Recollection] = {}
        for place, value in enumerate(listed):
            recollection = Recollection.from_dict(value)
            if isinstance(recollection, Problem):
                raise self._file.damaged(f"/issues/{place}{recollection.pointer}: {recollection.message}")
            issues[recollection.issue_id] = recollection
        return Mind(activations=activations, issues=issues)

    def save(self, mind: Mind) -> None:
        """Put another in its place; only while locked."""
        listed = [each.as_dict() for each in mind.issues.values()]
        self._file.write({"activations": mind.activations, "issues": listed})

    def words(self, issue_id: str) -> dict[str, Any] | None:
        """The form that is kept of an issue; None: there is none."""
        return self._form(issue_id).read()

    def keep_words(self, issue_id: str, words: Mapping[str, Any]) -> None:
        """Keep another form of an issue; only while locked."""
        make_folder(self._folder)
        self._form(issue_id).write({"issue_id": issue_id, **words})

    def _form(self, issue_id: str) -> JsonFile:
        return JsonFile(self._folder / f"{issue_id}.json", code=CODE)
