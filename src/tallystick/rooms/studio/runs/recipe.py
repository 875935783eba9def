"""The records of a recipe: tool steps (phase A), agent steps (phase B), and the definition of done."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from tallystick.records import record

Source = Literal["bundled", "project"]
CheckKind = Literal["slot_not_null", "slot_field_equals", "file_exists", "evidence_ok"]
Evidence = Literal["required", "none"]
"""`required`: the reply must pass its check. `none`: raw text, which claims nothing and is not checked."""

INPUTS, BOOK, ITEM = "inputs", "book", "item"
RESERVED = frozenset({INPUTS, BOOK, ITEM})
"""Slots that are there without a step: what was given, the book's files as they were found, the item of `for_each`."""


@record
class ToolStep:
    """One call through the gate, or one for each item; or an action of the room that is no tool."""

    id: str
    slot: str
    args: Mapping[str, Any]
    """With `{"$ref": …}` and `{"$input": …}` where values come from elsewhere."""
    tool: str | None = None
    action: str | None = None
    """Instead of a tool: something the room does itself, e.g. `canon_index`."""
    for_each: Any = None
    """A reference to a list: the step is done for each of its items, as `item`."""
    batch: int | None = None
    """With `for_each`: `item` is a list of up to this many."""
    when: Any = None
    """Only if this holds; else the step is skipped and its slot is null."""
    optional: bool = False
    """Its failure does not end the run."""


@record
class Draft:
    """A file that an agent's reply is proposed for, as a patch a person applies or rejects."""

    path: Any
    """A text with `{{…}}`, or a reference."""


@record
class AgentStep:
    """One agent turn."""

    id: str
    slot: str
    agent: str
    prompt: str
    """With `{{slot.path}}` and `{{inputs.name}}`."""
    uses: tuple[str, ...] = ()
    """Slots whose tool results the agent is shown, with the receipts it may cite."""
    tools: tuple[str, ...] | None = None
    """What it may call besides; None: every tool that only reads."""
    evidence: Evidence = "required"
    writes: Draft | None = None
    when: Any = None
    optional: bool = False

    @property
    def patch_slot(self) -> str:
        """What the proposal fills, where the step writes."""
        return f"{self.slot}_patch"


Step = ToolStep | AgentStep


@record
class Check:
    """One condition of the definition of done."""

    kind: CheckKind
    slot: str | None = None
    field: str | None = None
    equals: Any = None
    path: Any = None

    def as_dict(self) -> dict[str, Any]:
        """The wire form, without what does not belong to its kind."""
        given: dict[str, Any] = {"check": self.kind, "slot": self.slot, "field": self.field, "path": self.path}
        if self.kind == "slot_field_equals":
            given["equals"] = self.equals
        return {name: value for name, value in given.items() if value is not None or name == "equals"}


@record
class Recipe:
    """A pipeline that can be run."""

    id: str
    title: str
    description: str
    inputs: Mapping[str, Any]
    """JSON Schema of what a run is given: an object, closed."""
    phase_a: tuple[ToolStep, ...]
    phase_b: tuple[AgentStep, ...]
    done: tuple[Check, ...]
    document: Mapping[str, Any]
    """The source document; a run stores it, so that edits do not affect running runs."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them, in order."""
        return (*self.phase_a, *self.phase_b)

    def placed(self) -> Iterator[tuple[str, Step]]:
        """All of them, each with its place in the document."""
        yield from ((f"/phase_a/{at}", step) for at, step in enumerate(self.phase_a))
        yield from ((f"/phase_b/{at}", step) for at, step in enumerate(self.phase_b))
