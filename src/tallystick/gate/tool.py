"""A tool: its card (what everyone may know) and its handler (what only the runner holds).

    @tool(effect="read")
    def word_count(path: str) -> int:
        "Count the words of a file."

The decorator reads the annotations once and builds both schemas. A card can also be written by hand, for tools whose
schemas come from elsewhere (an OpenAPI operation, an MCP server).
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, get_type_hints, overload

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from tallystick.errors import RegistrationError

Effect = Literal["read", "write", "external"]
How = Literal["async", "thread", "inline", "process"]
Origin = Literal["local", "upstream", "client"]
Clean = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Arguments as they came → arguments as they may be kept."""

EFFECTS: frozenset[str] = frozenset({"read", "write", "external"})
DEFAULT_TIMEOUT_S = 60.0
"""Long enough for a slow search, short enough that a hung tool is noticed within a minute."""
MAX_OUTPUT_BYTES = 16 * 1024 * 1024
"""A tool that returns more is broken or hostile; the result is refused, the gate goes on."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """Everything about a tool but its code."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    """None: results are not checked (upstream tools that publish no schema)."""
    effect: Effect = "write"
    """`read` changes nothing; `write` changes this workspace; `external` reaches the world outside."""
    roles: frozenset[str] = frozenset()
    """Any one of these is enough; empty: those that policy names for the tool, and else `admin`."""
    audited: bool = False
    """Successful calls also stand in the audit records (`/api/audit/records`)."""
    action: str | None = None
    """Name of the action in the audit record; the tool's name without `tool.` if not given."""
    resource: str | None = None
    """Resource of the audit record, e.g. `dataset:{dataset_id}`; filled from arguments, then from the result."""
    audit_keys: tuple[str, ...] = ()
    """Names copied from arguments and result into the audit record's metadata: ids and parameters, never text."""
    idempotent: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S
    aliases: tuple[str, ...] = ()
    key_aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Normalised key → real key."""
    dry_run: bool = False
    """The tool takes `dry_run` and changes nothing when it is true."""
    origin: Origin = "local"
    """`upstream` keeps its schemas as published; `client` is run by the caller, not by us."""
    how: How = "thread"
    secrets: tuple[str, ...] = ()
    """Argument names whose values are stored only as a keyed digest (`writeOnly` ones are found by themselves)."""
    owned_keys: frozenset[str] = frozenset()
    """Keys that policy owns: one at any depth of the arguments is a direct canonical write."""
    provenance_key: str | None = None
    """The argument that must name where a durable write comes from."""
    spends: str | None = None
    """A named budget each call draws one from, e.g. `search`."""
    max_output_bytes: int = MAX_OUTPUT_BYTES
    strict: bool = True
    """Upstream only: refuse a schema we cannot run instead of leaving the pattern out."""

    def definition(self) -> dict[str, Any]:
        """The card as plain JSON: what the version is the digest of, and what replay reads back."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": dict(self.input_schema),
            "output_schema": None if self.output_schema is None else dict(self.output_schema),
            "effect": self.effect,
            "roles": sorted(self.roles),
            "audited": self.audited,
            "action": self.action,
            "resource": self.resource,
            "audit_keys": list(self.audit_keys),
            "idempotent": self.idempotent,
            "timeout_ms": round(self.timeout_s * 1000),
            "aliases": sorted(self.aliases),
            "key_aliases": dict(self.key_aliases),
            "dry_run": self.dry_run,
            "origin": self.origin,
            "secrets": sorted(self.secrets),
            "owned_keys": sorted(self.owned_keys),
            "provenance_key": self.provenance_key,
            "spends": self.spends,
            "max_output_bytes": self.max_output_bytes,
            "strict": self.strict,
        }

    @classmethod
    def from_definition(cls, definition: Mapping[str, Any]) -> "Card":
        """The card that `definition` was taken from (`how` is not part of it: it does not bear on a decision)."""
        fields = dict(definition)
        fields["timeout_s"] = fields.pop("timeout_ms") / 1000
        for name in ("roles", "owned_keys"):
            fields[name] = frozenset(fields[name])
        for name in ("aliases", "audit_keys", "secrets"):
            fields[name] = tuple(fields[name])
        return cls(**fields)

    @cached_property
    def version(self) -> str:
        """SHA-256 of the definition; stands in every receipt as `tool_version`."""
        return sha256(orjson.dumps(self.definition(), option=orjson.OPT_SORT_KEYS)).hexdigest()

    @cached_property
    def audit_action(self) -> str:
        """`analysis.run` for `tool.analysis.run`."""
        return self.action or self.name.removeprefix("tool.")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A card with its handler; only registration sees both together."""

    card: Card
    handler: Callable[..., Any]
    rule: Callable[..., Any] | None = None
    """A room's own rule, `rule(proposal, snapshot) → Decision`; decide runs it last."""
    snapshot: Callable[[], Any] | None = None
    """What the rule reads; its digest stands in the receipt."""
    clean: Clean | None = None
    """Replaces what must not be kept, such as personal data, before a call is looked at: neither the decision, nor the
    receipt, nor the handler sees more."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, outside the gate (for its own unit tests)."""
        return self.handler(*args, **kwargs)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    inline: bool = False,
    isolate: bool = False,
    rule: Callable[..., Any] | None = None,
    snapshot: Callable[[], Any] | None = None,
    **card: Any,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    inline: bool = False,
    isolate: bool = False,
    rule: Callable[..., Any] | None = None,
    snapshot: Callable[[], Any] | None = None,
    **card: Any,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a typed function.

    Args:
        function: The function; its docstring is the description, its annotations are the schemas.
        name: The tool's id, if not the function's name.
        inline: Run a plain `def` on the event loop (only for code that cannot block).
        isolate: Run in a process of its own that can be killed (for code that is not trusted to return).
        rule: A room's own rule.
        snapshot: What the rule reads.
        card: Other fields of `Card`.
    """

    def build(function: Callable[..., Any]) -> Tool:
        # Into a copy: one decorator may be put on several functions.
        fields = {"how": _how(function, inline=inline, isolate=isolate), **card}
        if not fields.get("description"):
            fields["description"] = inspect.getdoc(function) or ""
        for names in {"roles", "owned_keys"} & fields.keys():
            if isinstance(fields[names], set | list | tuple):
                fields[names] = frozenset(fields[names])
        if "input_schema" not in fields:
            fields["input_schema"] = input_schema_of(function)
            fields.setdefault("output_schema", output_schema_of(function))
        fields.setdefault("dry_run", "dry_run" in fields["input_schema"].get("properties", {}))
        made = Card(name=name or function.__name__, **fields)
        check_card(made)
        return Tool(card=made, handler=function, rule=rule, snapshot=snapshot)

    return build if function is None else build(function)


def check_card(card: Card) -> None:
    """Refuse a card that cannot be meant; names and schemas are checked when it is registered.

    Raises:
        RegistrationError: The message names the field.
    """
    for field_name, holds, wanted in (
        ("effect", card.effect in EFFECTS, "read, write or external"),
        ("roles", isinstance(card.roles, frozenset), "a set of names"),
        ("owned_keys", isinstance(card.owned_keys, frozenset), "a set of names"),
        ("secrets", not isinstance(card.secrets, str), "a list of names"),
        ("aliases", not isinstance(card.aliases, str), "a list of names"),
        ("timeout_s", isinstance(card.timeout_s, int | float) and card.timeout_s > 0, "a number above 0"),
        ("max_output_bytes", isinstance(card.max_output_bytes, int) and card.max_output_bytes > 0, "above 0"),
    ):
        if not holds:
            raise RegistrationError(f"{card.name}: {field_name} must be {wanted}", code="card_invalid")


def input_schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of a function's arguments."""
    hints = _hints(function)
    fields: dict[str, Any] = {}
    for place, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            message = f"{function.__name__}: give each argument its own name; *args, **kwargs and / have no schema"
            raise RegistrationError(message)
        if parameter.name not in hints:
            message = f"{function.__name__}: annotate '{parameter.name}', so that the gate can check it"
            raise RegistrationError(message)
        default = ... if parameter.default is parameter.empty else parameter.default
        # Under a name of our own: pydantic keeps some for itself, and drops those that begin with an underscore.
        fields[f"argument_{place}"] = (hints[parameter.name], Field(default, alias=parameter.name))
    try:
        model: Any = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
        schema: dict[str, Any] = model.model_json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise RegistrationError(f"{function.__name__}: no JSON Schema for its arguments ({error.code})") from error
    return _plain(schema)


def output_schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of what a function returns."""
    hints = _hints(function)
    if "return" not in hints:
        raise RegistrationError(f"{function.__name__}: annotate what it returns, so that the gate can check it")
    try:
        return _plain(TypeAdapter[Any](hints["return"]).json_schema(mode="serialization"))
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise RegistrationError(f"{function.__name__}: no JSON Schema for its result ({error.code})") from error


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise RegistrationError(f"{function.__name__}: {error}") from error


def _how(function: Callable[..., Any], *, inline: bool, isolate: bool) -> How:
    if isolate:
        return "process"
    if inspect.iscoroutinefunction(function):
        return "async"
    return "inline" if inline else "thread"


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the titles pydantic adds: they say nothing that the names do not."""
    if isinstance(schema.get("title"), str):
        schema = {key: value for key, value in schema.items() if key != "title"}
    properties = schema.get("properties")
    if isinstance(properties, dict):
        schema["properties"] = {
            name: {k: v for k, v in sub.items() if k != "title"} if isinstance(sub, dict) else sub
            for name, sub in properties.items()
        }
    return schema
