"""From a recipe's JSON to a recipe, or what is wrong with it and where.

A recipe that cannot run is refused when it is read, not in the middle of a run: a reference may only look back, so
there can be no circle; every slot is filled once; every template names a place that will be there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.agents.problem import Problem, misfit
from tallystick.errors import RegistrationError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.rooms.studio.runs.form import RECIPE
from tallystick.rooms.studio.runs.recipe import BOOK, INPUTS, ITEM, RESERVED, AgentStep, Check, Draft, Recipe, ToolStep
from tallystick.rooms.studio.runs.references import PLACE, places_in, places_in_text

MAX_BYTES = 256 * 1024
_BOOK_FIELDS = frozenset({"scenes", "cards", "outline"})


def read_recipe(data: bytes) -> Recipe | Problem:
    """Read one recipe; the problem's pointer says where it is wrong."""
    found = parse_json_object(data, MAX_BYTES)
    if isinstance(found, Rejection):
        return Problem(code="recipe_not_json", message=f"{found.reason}.", pointer=found.pointer or "")
    return recipe_from(found)


def recipe_from(document: Mapping[str, Any]) -> Recipe | Problem:
    """The recipe that a JSON object describes."""
    problem = misfit(RECIPE, document, code="recipe_invalid", what="recipe")
    if problem is not None:
        return problem
    try:
        compile_schema(inputs_schema(document.get("inputs", {})), closed=True)
    except RegistrationError as error:
        return Problem(code="recipe_inputs_invalid", message=f"inputs: {error}", pointer="/inputs")
    recipe = Recipe(
        id=document["id"],
        title=document["title"],
        description=document.get("description", ""),
        inputs=inputs_schema(document.get("inputs", {})),
        phase_a=tuple(map(_tool_step, document["phase_a"])),
        phase_b=tuple(map(_agent_step, document.get("phase_b", []))),
        done=tuple(map(_check, document["done"])),
        document=document,
    )
    return next(_faults(recipe), recipe)


def inputs_schema(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of what a run is given. A recipe lists its fields; what has no default is required."""
    required = [name for name, field in inputs.items() if isinstance(field, dict) and "default" not in field]
    return {
        "type": "object", "properties": dict(inputs), "required": required, "additionalProperties": False,
    }  # fmt: skip


def _faults(recipe: Recipe) -> Iterator[Problem]:
    """What no schema can say; the first one found is told."""
    known = {INPUTS: frozenset(recipe.inputs["properties"]), BOOK: _BOOK_FIELDS}
    ids: set[str] = set()
    slots: set[str] = set()
    for pointer, step in recipe.placed():
        if step.id in ids:
            yield Problem(code="step_repeated", message=f"There are two steps '{step.id}'.", pointer=pointer)
        yield from _bad_places(step, known, slots, pointer)
        fills = {step.slot, step.patch_slot} if isinstance(step, AgentStep) and step.writes else {step.slot}
        if fills & (slots | RESERVED):
            message = f"The slot '{min(fills & (slots | RESERVED))}' is taken; give each step its own."
            yield Problem(code="slot_taken", message=message, pointer=f"{pointer}/slot")
        ids.add(step.id)
        slots |= fills
    for at, check in enumerate(recipe.done):
        if check.slot is not None and check.slot not in slots:
            yield _unknown(check.slot, slots, f"/done/{at}/slot")
        yield from _wrong(_text_places(check.path), known, slots, f"/done/{at}/path")


def _bad_places(
    step: ToolStep | AgentStep, known: Mapping[str, frozenset[str]], slots: set[str], pointer: str
) -> Iterator[Problem]:
    yield from _wrong(places_in(step.when), known, slots, f"{pointer}/when")
    if isinstance(step, ToolStep):
        yield from _wrong(places_in(step.for_each), known, slots, f"{pointer}/for_each")
        has_item = step.for_each is not None
        yield from _wrong(places_in(dict(step.args)), known, slots, f"{pointer}/args", item=has_item)
        return
    yield from _wrong(places_in_text(step.prompt), known, slots, f"{pointer}/prompt")
    for at, slot in enumerate(step.uses):
        if slot not in slots:
            yield _unknown(slot, slots, f"{pointer}/uses/{at}")
    if step.writes is not None:
        yield from _wrong(_text_places(step.writes.path), known, slots, f"{pointer}/writes/path")


def _wrong(
    places: Any, known: Mapping[str, frozenset[str]], slots: set[str], pointer: str, *, item: bool = False
) -> Iterator[Problem]:
    """References to what is not there yet: a step further on, itself, or nothing at all."""
    for place in places:
        if not PLACE.fullmatch(place):
            message = f"'{place}' is no reference; write slot.field.0 or slot.list.*.field."
            yield Problem(code="reference_invalid", message=message, pointer=pointer)
            continue
        root, _, rest = place.partition(".")
        field = rest.partition(".")[0]
        if root in known:
            if field and field not in known[root]:
                message = f"'{place}': there is only {', '.join(sorted(known[root])) or 'nothing'} in {root}."
                yield Problem(code="reference_unknown", message=message, pointer=pointer)
        elif root not in slots and not (item and root == ITEM):
            yield _unknown(root, slots, pointer)


def _unknown(slot: str, slots: set[str], pointer: str) -> Problem:
    before = ", ".join(sorted(slots)) or "none"
    message = f"'{slot}' is not filled by an earlier step (filled so far: {before}). A step can only look back."
    return Problem(code="reference_unknown", message=message, pointer=pointer)


def _text_places(value: Any) -> list[str]:
    return places_in_text(value) if isinstance(value, str) else list(places_in(value))


def _tool_step(given: Mapping[str, Any]) -> ToolStep:
    return ToolStep(
        id=given["id"], slot=given.get("slot", given["id"]), args=given.get("args", {}), tool=given.get("tool"),
        action=given.get("action"), for_each=given.get("for_each"), batch=given.get("batch"), when=given.get("when"),
        optional=given.get("optional", False),
    )  # fmt: skip


def _agent_step(given: Mapping[str, Any]) -> AgentStep:
    tools, writes = given.get("tools"), given.get("writes")
    return AgentStep(
        id=given["id"], slot=given.get("slot", given["id"]), agent=given["agent"], prompt=given["prompt"],
        uses=tuple(given.get("uses", ())), tools=None if tools is None else tuple(tools),
        evidence=given.get("evidence", "required"), writes=None if writes is None else Draft(path=writes["path"]),
        when=given.get("when"), optional=given.get("optional", False),
    )  # fmt: skip


def _check(given: Mapping[str, Any]) -> Check:
    return Check(
        kind=given["check"], slot=given.get("slot"), field=given.get("field"), equals=given.get("equals"),
        path=given.get("path"),
    )  # fmt: skip
