"""The recipes of a workspace: the bundled ones, overridden by the project's own with the same id.

A recipe that cannot be read or run is listed with what is wrong with it; the others work on.
"""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.tool import Card
from tallystick.records import record
from tallystick.rooms.studio.runs.recipe import AgentStep, Recipe, Source, ToolStep
from tallystick.rooms.studio.runs.recipe_reader import MAX_BYTES, read_recipe
from tallystick.storage.journal import disk

FOLDER = "recipes"
MAX_FILES = 500


@record
class Listed:
    """One recipe file."""

    file: str
    """`draft-scene.json`; with `source` it says where."""
    source: Source
    recipe: Recipe | None
    problem: Problem | None = None
    """Why it cannot be run."""

    @property
    def id(self) -> str:
        """The recipe's id; of one that cannot be read, the file's name."""
        return self.file.removesuffix(".json") if self.recipe is None else self.recipe.id

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        wire: dict[str, Any] = {"id": self.id, "file": self.file, "source": self.source}
        if self.recipe is not None:
            wire |= {
                "title": self.recipe.title,
                "description": self.recipe.description,
                "inputs": dict(self.recipe.inputs),
                "phase_a": [step.id for step in self.recipe.phase_a],
                "phase_b": [step.id for step in self.recipe.phase_b],
                "done": [check.as_dict() for check in self.recipe.done],
            }
        if self.problem is not None:
            wire["problem"] = self.problem.as_dict()
        return wire


class Catalogue:
    """The recipes of one workspace, read anew each time: an author edits them while a server runs."""

    def __init__(
        self,
        control_room: Path,
        *,
        cards: Callable[[], Mapping[str, Card]],
        agents: Callable[[], frozenset[str]],
        actions: frozenset[str],
    ) -> None:
        """Open the catalogue.

        Args:
            control_room: Of the workspace.
            cards: Gives the tools there are now.
            agents: Gives the agents there are now.
            actions: What the room does itself.
        """
        self._folder = control_room / FOLDER
        self._cards = cards
        self._agents = agents
        self._actions = actions

    def list(self) -> list[Listed]:
        """All recipes, by id; a project's own replaces the bundled one."""
        return [self._judged(listed) for listed in _every(self._folder)]

    def get(self, recipe_id: str) -> Listed | None:
        """One recipe."""
        return next((listed for listed in self.list() if listed.id == recipe_id), None)

    def _judged(self, listed: Listed) -> Listed:
        """The recipe, with a problem if this workspace lacks its tools or agents."""
        if listed.recipe is None:
            return listed
        problem = next(self._lacks(listed.recipe), None)
        if problem is None:
            return listed
        where = _where(listed.file, listed.source, problem)
        return Listed(file=listed.file, source=listed.source, recipe=listed.recipe, problem=where)

    def _lacks(self, recipe: Recipe) -> Iterator[Problem]:
        cards, agents = self._cards(), self._agents()
        for pointer, step in recipe.placed():
            yield from _lacking(step, pointer, cards, agents, self._actions)


def readable_recipes(control_room: Path) -> list[Recipe]:
    """The recipes of a workspace, whether or not its tools and agents suffice for them."""
    return [listed.recipe for listed in _every(control_room / FOLDER) if listed.recipe is not None]


def _every(folder: Path) -> list[Listed]:
    """All files, by id; a project's own replaces the bundled one."""
    found = {listed.id: listed for listed in (*_bundled(), *_own(folder))}
    return [found[key] for key in sorted(found)]


def _own(folder: Path) -> Iterator[Listed]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")[:MAX_FILES]
    except OSError:
        return
    for path in paths:
        yield _listed(path.name, "project", _content(path))


def _lacking(
    step: ToolStep | AgentStep, pointer: str, cards: Mapping[str, Card], agents: frozenset[str], actions: frozenset[str]
) -> Iterator[Problem]:
    if isinstance(step, ToolStep):
        if step.tool is not None and step.tool not in cards:
            near = get_close_matches(step.tool, cards, n=1)
            advice = f"Did you mean {near[0]}?" if near else "`tally tools` lists those there are."
            message = f"There is no tool '{step.tool}'. {advice}"
            yield Problem(code="tool_unknown", message=message, pointer=f"{pointer}/tool")
        if step.action is not None and step.action not in actions:
            message = f"There is no action '{step.action}'. There are: {', '.join(sorted(actions)) or 'none'}."
            yield Problem(code="action_unknown", message=message, pointer=f"{pointer}/action")
        return
    if step.agent not in agents:
        message = f"There is no agent '{step.agent}' that is switched on. There are: {', '.join(sorted(agents))}."
        yield Problem(code="agent_unknown", message=message, pointer=f"{pointer}/agent")
    for at, tool in enumerate(step.tools or ()):
        if tool not in cards or cards[tool].effect != "read":
            message = f"'{tool}' is not a read-only tool; agents in a run change nothing."
            yield Problem(code="tool_unknown", message=message, pointer=f"{pointer}/tools/{at}")


def _bundled() -> Iterator[Listed]:
    folder = files("tallystick.rooms.studio").joinpath(FOLDER)
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".json"):
            yield _listed(entry.name, "bundled", entry.read_bytes())


def _listed(name: str, source: Source, data: bytes | Problem) -> Listed:
    read = data if isinstance(data, Problem) else read_recipe(data)
    if isinstance(read, Problem):
        return Listed(file=name, source=source, recipe=None, problem=_where(name, source, read))
    return Listed(file=name, source=source, recipe=read)


def _content(path: Path) -> bytes | Problem:
    try:
        if path.stat().st_size > MAX_BYTES:
            return Problem(code="recipe_too_large", message=f"A recipe has at most {MAX_BYTES // 1024} KiB.")
        data = disk.read_whole(path)
    except OSError as error:
        return Problem(code="recipe_unreadable", message=f"{error.strerror or error}. Make it a plain, readable file.")
    return data or b""


def _where(name: str, source: Source, problem: Problem) -> Problem:
    place = f"{name} ({source})"
    return Problem(code=problem.code, message=f"{place}: {problem.message}", pointer=problem.pointer)
