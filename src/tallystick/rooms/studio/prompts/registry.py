"""The three layers, merged: the package's own, the user's, the project's.

    global   tools.json beside this file
    user     ~/.tallystick/prompts.json, if there is one
    project  .control-room/prompts/prompts.json

A later layer changes what it names and leaves the rest. To word a core tool differently is allowed and warned of: all
agents of the project will see it. What cannot be read is left out and warned of, so that agents can go on.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError
from tallystick.gate.tool import Card
from tallystick.records import record
from tallystick.rooms.studio.prompts.model import (
    MAX_PROMPTS,
    Layer,
    Prompt,
    PromptWarning,
    example_problem,
    prompt_problem,
    tool_of,
)
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.json_file import JsonFile
from tallystick.turns.tool_prompts import ToolPrompt

CODE = "prompts_damaged"
BUNDLED = Path(__file__).with_name("tools.json")
PromptFields = Mapping[str, Any]
"""The fields that one layer sets."""
TOO_MANY = Problem(code="prompts_too_many", message=f"There may be {MAX_PROMPTS} prompts. Remove one first.")
UNKNOWN = Problem(code="prompt_unknown", message="There is no such prompt in the project. Its id has hyphens.")


@record
class MergedPrompts:
    """The registry as it stands."""

    prompts: Mapping[str, Prompt]
    cautions: tuple[PromptWarning, ...]

    def wordings(self) -> dict[str, ToolPrompt]:
        """By tool, for the catalogue of a turn."""
        return {
            each.tool: ToolPrompt(description=each.description, example=each.example) for each in self.prompts.values()
        }


class PromptRegistry:
    """The prompts of one workspace."""

    def __init__(self, workspace: Path, *, user_file: Path | None, cards: Callable[[], Iterable[Card]]) -> None:
        """Name the layers; their files need not exist.

        Args:
            workspace: The project's folder.
            user_file: The user's own; None: there is none.
            cards: Gives the tools that examples must fit; an example of another tool is taken as it is.
        """
        self._user = None if user_file is None else JsonFile(user_file, code=CODE)
        self._project = JsonFile(workspace / CONTROL_ROOM / "prompts" / "prompts.json", code=CODE)
        self._cards = cards
        self._seen: tuple[Any, MergedPrompts | None] = (None, None)

    def load(self) -> MergedPrompts:
        """All layers, merged; read again only when a file changed."""
        stamp = (_stamp(self._user), _stamp(self._project))
        seen, merged = self._seen
        if merged is None or stamp != seen:
            merged = _merged(self._layers(), self.problem)
            self._seen = (stamp, merged)
        return merged

    def problem(self, said: Any) -> Problem | None:
        """Why the fields of a prompt, with its id, are refused."""
        problem = prompt_problem(said)
        if problem is not None or "example" not in said:
            return problem
        tool = said["example"]["tool"]
        card = next((card for card in self._cards() if card.name == tool), None)
        return None if card is None else example_problem(said["example"], card)

    def set(self, prompt_id: str, said: PromptFields) -> Prompt | Problem:
        """Set the fields of a prompt in the project's layer.

        Raises:
            ConfigError: `prompts_damaged`; the file stays as it is.
        """
        problem = self.problem({"id": prompt_id, **said})
        if problem is not None:
            return problem

        def how(listed: dict[str, PromptFields]) -> Problem | None:
            if prompt_id not in listed and len(listed) >= MAX_PROMPTS:
                return TOO_MANY
            listed[prompt_id] = {"id": prompt_id, **said}
            return None

        return self._change(how) or self.load().prompts[prompt_id]

    def clear(self, prompt_id: str) -> Problem | None:
        """Remove a prompt from the project's layer.

        Raises:
            ConfigError: `prompts_damaged`; the file stays as it is.
        """

        def how(listed: dict[str, PromptFields]) -> Problem | None:
            return None if listed.pop(prompt_id, None) is not None else UNKNOWN

        return self._change(how)

    def _change(self, how: Callable[[dict[str, PromptFields]], Problem | None]) -> Problem | None:
        with self._project.locked():
            listed = {each["id"]: each for each in _listed(self._project) if prompt_problem(each) is None}
            problem = how(listed)
            if problem is None:
                self._project.write({"prompts": list(listed.values())})
        return problem

    def _layers(self) -> list[tuple[Layer, JsonFile]]:
        user: list[tuple[Layer, JsonFile]] = [] if self._user is None else [("user", self._user)]
        return [*user, ("project", self._project)]


def _merged(layers: list[tuple[Layer, JsonFile]], fault_of: Callable[[Any], Problem | None]) -> MergedPrompts:
    core = _bundled()
    prompts = dict(core)
    cautions: list[PromptWarning] = []
    for layer, file in layers:
        try:
            listed = _listed(file)
        except ConfigError as damaged:
            cautions.append(PromptWarning(code="registry_damaged", layer=layer, id="", message=str(damaged)))
            continue
        for place, said in enumerate(listed[:MAX_PROMPTS]):
            problem = fault_of(said)
            if problem is not None:
                message = f"/prompts/{place}: {problem.message} It is left out."
                cautions.append(PromptWarning(code="prompt_invalid", layer=layer, id=_id_of(said), message=message))
                continue
            if said["id"] in core:
                message = "A core tool is worded differently here than in the package; every agent will see it so."
                cautions.append(PromptWarning(code="core_override", layer=layer, id=said["id"], message=message))
            prompts[said["id"]] = _over(prompts.get(said["id"]), said, layer)
    return MergedPrompts(prompts=prompts, cautions=tuple(cautions))


def _over(below: Prompt | None, said: PromptFields, layer: Layer) -> Prompt:
    """A prompt with a layer's fields over those of the layers below."""
    tool = said.get("tool") or (tool_of(said["id"]) if below is None else below.tool)
    return Prompt(
        id=said["id"],
        tool=tool,
        layer=layer,
        title=said.get("title") or (tool if below is None else below.title),
        description=said.get("description") or (None if below is None else below.description),
        example=said.get("example") or (None if below is None else below.example),
    )


def _listed(file: JsonFile) -> list[Any]:
    found = file.read()
    listed = [] if found is None else found.get("prompts")
    if not isinstance(listed, list):
        raise file.damaged("it holds 'version' and the list 'prompts'")
    return listed


def _id_of(said: Any) -> str:
    given = said.get("id") if isinstance(said, dict) else None
    return given[:64] if isinstance(given, str) else ""


@cache
def _bundled() -> dict[str, Prompt]:
    listed = orjson.loads(BUNDLED.read_bytes())["prompts"]
    return {said["id"]: _over(None, said, "global") for said in listed}


def _stamp(file: JsonFile | None) -> tuple[int, int, int] | None:
    try:
        found = None if file is None else file.path.stat(follow_symlinks=False)
    except OSError:
        return None
    return None if found is None else (found.st_ino, found.st_mtime_ns, found.st_size)
