"""Tools: a tool is a card (public metadata) and a handler (held only by the runner).

    @tool(effect="read")
    def word_count(path: str) -> int:
        "Count the words of a file."

The decorator reads the annotations once and builds both schemas. A card can also be built directly, for tools whose
schemas come from another source (an OpenAPI operation, an MCP server).
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Generic, Literal, Protocol, TypedDict, overload

import orjson
from typing_extensions import ParamSpec, TypeVar, Unpack

from tallystick.errors import RegistrationError
from tallystick.gate.annotations import Codec, codec_of, input_schema_of, output_schema_of

Effect = Literal["read", "write", "external"]
How = Literal["async", "thread", "inline", "process"]
Origin = Literal["local", "upstream", "client"]
Clean = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Received arguments → arguments that may be stored."""

P = ParamSpec("P", default=...)
R = TypeVar("R", default=Any)

EFFECTS: frozenset[str] = frozenset({"read", "write", "external"})
DEFAULT_TIMEOUT_S = 60.0
"""Long enough for a slow search, short enough to detect a hung tool within a minute."""
MAX_OUTPUT_BYTES = 16 * 1024 * 1024
"""A tool that returns more is broken or hostile; the gate rejects the result and continues to serve calls."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """The metadata of a tool: everything except its code."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    """None: results are not validated (upstream tools that publish no schema)."""
    effect: Effect = "write"
    """`read` changes nothing; `write` changes this workspace; `external` affects systems outside it."""
    roles: frozenset[str] = frozenset()
    """The caller needs one of these; empty: one of the roles that policy names for the tool, or else `admin`."""
    audited: bool = False
    """Whether successful calls also appear in the audit records (`/api/audit/records`)."""
    action: str | None = None
    """Action name in the audit record; None: the tool's name without the prefix `tool.`."""
    resource: str | None = None
    """Resource template of the audit record, e.g. `dataset:{dataset_id}`; filled from arguments, then the result."""
    audit_keys: tuple[str, ...] = ()
    """Keys copied from arguments and result into the audit record's metadata: ids and parameters, never text."""
    idempotent: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S
    aliases: tuple[str, ...] = ()
    key_aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Normalised alias → real argument key."""
    dry_run: bool = False
    """Whether the tool accepts `dry_run` and changes nothing when it is true."""
    origin: Origin = "local"
    """`upstream` tools keep their schemas as published; `client` tools are run by the caller, not by the gate."""
    how: How = "thread"
    secrets: tuple[str, ...] = ()
    """Argument names whose values are stored only as a keyed digest (`writeOnly` arguments are added automatically)."""
    owned_keys: frozenset[str] = frozenset()
    """Keys that only the system sets; at any depth of the arguments, they are rejected (`CANONICAL_WRITE`)."""
    provenance_key: str | None = None
    """The argument that must state the source of a durable write."""
    spends: str | None = None
    """The budget from which each call takes one unit, e.g. `search`."""
    max_output_bytes: int = MAX_OUTPUT_BYTES
    strict: bool = True
    """Upstream only: reject a schema with an unsupported pattern instead of dropping the pattern."""

    def definition(self) -> dict[str, Any]:
        """Return the card as plain JSON; `version` is the digest of this JSON, from which replay rebuilds the card."""
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
        """Restore a card from its definition, except `how`, which is not in it because no decision depends on it."""
        fields = dict(definition)
        fields["timeout_s"] = fields.pop("timeout_ms") / 1000
        for name in ("roles", "owned_keys"):
            fields[name] = frozenset(fields[name])
        for name in ("aliases", "audit_keys", "secrets"):
            fields[name] = tuple(fields[name])
        return cls(**fields)

    @cached_property
    def version(self) -> str:
        """SHA-256 of the definition; every receipt contains it as `tool_version`."""
        return sha256(orjson.dumps(self.definition(), option=orjson.OPT_SORT_KEYS)).hexdigest()

    @cached_property
    def audit_action(self) -> str:
        """The action name for audit records, e.g. `analysis.run` for `tool.analysis.run`."""
        return self.action or self.name.removeprefix("tool.")


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[P, R]):
    """A card with its handler; only registration handles both together."""

    card: Card
    handler: Callable[P, R]
    rule: Callable[..., Any] | None = None
    """The rule of the tool's plugin (room), `rule(proposal, snapshot) → Decision`; the decide step runs it last."""
    snapshot: Callable[[], Any] | Any = None
    """The data that the rule reads, or a function that reads it if it changes; the receipt contains its digest. Calls
    of a room's write tools whose snapshot is a function are decided and run one after another."""
    clean: Clean | None = None
    """Replaces data that must not be stored, such as personal data, before any other step: decision, receipt and
    handler see only the cleaned arguments."""
    room: str | None = None
    """The plugin (room) that provides the tool; set by the gate, not by the author. By default, a model's call of any
    other write tool needs approval."""
    codec: Codec | None = None
    """Converts between JSON and the handler's annotated types; None: the handler takes and returns plain JSON."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, outside the gate (for its own unit tests)."""
        return self.handler(*args, **kwargs)


class CardFields(TypedDict, total=False):
    """The fields of `Card` that `tool` accepts as keyword arguments; see `Card` for their meaning."""

    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    effect: Effect
    roles: Iterable[str]
    audited: bool
    action: str | None
    resource: str | None
    audit_keys: tuple[str, ...]
    idempotent: bool
    timeout_s: float
    aliases: tuple[str, ...]
    key_aliases: Mapping[str, str]
    dry_run: bool
    origin: Origin
    how: How
    secrets: tuple[str, ...]
    owned_keys: Iterable[str]
    provenance_key: str | None
    spends: str | None
    max_output_bytes: int
    strict: bool


class ToolDecorator(Protocol):
    """Turns a function into a tool and keeps its signature."""

    def __call__(self, function: Callable[P, R], /) -> Tool[P, R]:
        """Build the tool."""
        ...


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    inline: bool = False,
    isolate: bool = False,
    rule: Callable[..., Any] | None = None,
    snapshot: Callable[[], Any] | Any = None,
    **card: Unpack[CardFields],
) -> ToolDecorator: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    inline: bool = False,
    isolate: bool = False,
    rule: Callable[..., Any] | None = None,
    snapshot: Callable[[], Any] | Any = None,
    **card: Unpack[CardFields],
) -> Tool[..., Any] | Callable[[Callable[..., Any]], Tool[..., Any]]:
    """Build a tool from a typed function.

    Args:
        function: The function; its docstring becomes the description, its annotations become the schemas.
        name: The tool's id; the default is the function's name.
        inline: Run a plain `def` on the event loop (only for code that cannot block).
        isolate: Run in a separate process that can be killed (for code that may never return).
        rule: The tool's own rule, `rule(proposal, snapshot) → Decision`.
        snapshot: The data that the rule reads, or a function that reads it if it changes.
        card: Other fields of `Card`.
    """

    def build(function: Callable[..., Any], /) -> Tool[..., Any]:
        made = _card_of(function, name, {"how": _how(function, inline=inline, isolate=isolate), **card})
        # Handwritten schemas do not describe Python types, so the handler takes and returns JSON.
        codec = None if "input_schema" in card else codec_of(function)
        return Tool(card=made, handler=function, rule=rule, snapshot=snapshot, codec=codec)

    return build if function is None else build(function)


def _card_of(function: Callable[..., Any], name: str | None, fields: dict[str, Any]) -> Card:
    """Build the card of a function; missing fields are derived from its docstring and annotations."""
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
    return made


def check_card(card: Card) -> None:
    """Reject a card with invalid field values; names and schemas are checked at registration.

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


def _how(function: Callable[..., Any], *, inline: bool, isolate: bool) -> How:
    if isolate:
        return "process"
    if inspect.iscoroutinefunction(function):
        return "async"
    return "inline" if inline else "thread"
