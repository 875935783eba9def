"""Reads a recipe from JSON, or reports what is wrong with it and where.

A recipe that cannot run is refused when it is read, not in the middle of a run: a reference may only point back, so
there can be no cycle; every slot is filled once; every template names a value that will exist.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.agents.problem import Problem, misfit, text
from tallystick.errors import RegistrationError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.rooms.studio.runs.recipe import BOOK, INPUTS, ITEM, RESERVED, AgentStep, Check, Draft, Recipe, ToolStep
from tallystick.rooms.studio.runs.references import PLACE, places_in, places_in_text

MAX_STEPS = 40
MAX_BATCH = 50
MAX_PROMPT = 20_000
_NAME: dict[str, Any] = {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$"}
_SLOT: dict[str, Any] = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"}
_TOOL: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 128}
_REFERENCE: dict[str, Any] = {
    "type": "object",
    "properties": {"$ref": {"type": "string"}, "$input": {"type": "string"}, "default": {}},
    "oneOf": [{"required": ["$ref"]}, {"required": ["$input"]}],
    "additionalProperties": False,
}
_CONDITION: dict[str, Any] = {
    "anyOf": [
        _REFERENCE,
        {"type": "object", "properties": {"not": _REFERENCE}, "required": ["not"], "additionalProperties": False},
        {
            "type": "object",
            "properties": {"equals": {"type": "array", "minItems": 2, "maxItems": 2}},
            "required": ["equals"],
            "additionalProperties": False,
        },
    ]
}
_PATH: dict[str, Any] = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 1_000}, _REFERENCE]}

_TOOL_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": _NAME,
        "tool": _TOOL,
        "action": _NAME,
        "args": {"type": "object"},
        "slot": _SLOT,
        "for_each": _REFERENCE,
        "batch": {"type": "integer", "minimum": 1, "maximum": MAX_BATCH},
        "when": _CONDITION,
        "optional": {"type": "boolean"},
    },
    "required": ["id"],
    # One of the two; and a batch of nothing in particular is a mistake.
    "oneOf": [{"required": ["tool"]}, {"required": ["action"]}],
    "dependentRequired": {"batch": ["for_each"]},
    "additionalProperties": False,
}
_AGENT_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": _NAME,
        "agent": _TOOL,
        "prompt": {"type": "string", "minLength": 1, "maxLength": MAX_PROMPT},
        "uses": {"type": "array", "maxItems": MAX_STEPS, "items": _SLOT},
        "tools": {"type": "array", "maxItems": MAX_STEPS, "items": _TOOL},
        "slot": _SLOT,
        "evidence": {"enum": ["required", "none"]},
        "writes": {
            "type": "object",
            "properties": {"path": _PATH},
            "required": ["path"],
            "additionalProperties": False,
        },
        "when": _CONDITION,
        "optional": {"type": "boolean"},
    },
    "required": ["id", "agent", "prompt"],
    "additionalProperties": False,
}


def _check_schema(kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"check": {"const": kind}, **fields},
        "required": ["check", *fields],
        "additionalProperties": False,
    }


RECIPE = compile_schema(
    {
        "type": "object",
        "properties": {
            "id": _NAME,
            "title": text(120, shortest=1),
            "description": text(1_000),
            "inputs": {"type": "object", "propertyNames": _SLOT, "additionalProperties": {"type": "object"}},
            "phase_a": {"type": "array", "minItems": 1, "maxItems": MAX_STEPS, "items": _TOOL_STEP},
            "phase_b": {"type": "array", "maxItems": MAX_STEPS, "items": _AGENT_STEP},
            "done": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_STEPS,
                "items": {
                    "oneOf": [
                        _check_schema("slot_not_null", slot=_SLOT),
                        _check_schema(
                            "slot_field_equals", slot=_SLOT, field={"type": "string", "minLength": 1}, equals={}
                        ),
                        _check_schema("file_exists", path=_PATH),
                        _check_schema("evidence_ok", slot=_SLOT),
                    ]
                },
            },
        },
        "required": ["id", "title", "phase_a", "done"],
    },
    closed=True,
)
"""Compiled once; a recipe without a definition of done is no recipe."""


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
    return {"type": "object", "properties": dict(inputs), "required": required, "additionalProperties": False}


def _faults(recipe: Recipe) -> Iterator[Problem]:
    """Faults that a schema cannot express; the first one is reported."""
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
    """References to values that do not exist yet."""
    for place in places:
        if not PLACE.fullmatch(place):
            message = f"'{place}' is not a reference; write slot.field.0 or slot.list.*.field."
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
        id=given["id"],
        slot=given.get("slot", given["id"]),
        args=given.get("args", {}),
        tool=given.get("tool"),
        action=given.get("action"),
        for_each=given.get("for_each"),
        batch=given.get("batch"),
        when=given.get("when"),
        optional=given.get("optional", False),
    )


def _agent_step(given: Mapping[str, Any]) -> AgentStep:
    tools, writes = given.get("tools"), given.get("writes")
    return AgentStep(
        id=given["id"],
        slot=given.get("slot", given["id"]),
        agent=given["agent"],
        prompt=given["prompt"],
        uses=tuple(given.get("uses", ())),
        tools=None if tools is None else tuple(tools),
        evidence=given.get("evidence", "required"),
        writes=None if writes is None else Draft(path=writes["path"]),
        when=given.get("when"),
        optional=given.get("optional", False),
    )


def _check(given: Mapping[str, Any]) -> Check:
    return Check(
        kind=given["check"],
        slot=given.get("slot"),
        field=given.get("field"),
        equals=given.get("equals"),
        path=given.get("path"),
    )
