"""The catalogue: the registered tools, their names and aliases.

Tool names are compared exactly; lookalike letters, capitals and extra spaces never match. Names that models are known
to confuse are in a short, curated map of aliases; a card can declare further aliases of its own tool.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from tallystick.errors import RegistrationError
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.gate.admit.subschemas import Node, at_pointer, subschemas
from tallystick.gate.tool import Card, Clean

TOOL_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""Allows both styles, `file_locator` and `tool.search.nn`; ASCII only, so no lookalike characters."""

LONGEST_NAME = 64
"""Longest key, in characters, that is cached when normalised; longer keys are not real argument names."""
_SEPARATORS = re.compile(r"[ \t\n\r_.-]+")

TOOL_ALIASES: Mapping[str, str] = {
    "read_file": "file_reader",
    "open_file": "file_reader",
    "file_viewer": "file_locator",
    "list_files": "file_locator",
    "find_file": "file_locator",
}
"""Names that models use for a tool although the prompt gave another name."""

KEY_ALIASES: Mapping[str, str] = {
    "path": "file_path",
    "file": "file_path",
    "query": "search_criteria",
}
"""The same for argument keys; an alias applies only if the tool has the real key and no key named like the alias."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A registered tool: its card, and data precomputed for every call."""

    card: Card
    input: CompiledSchema
    output: CompiledSchema | None
    """None: results are not validated."""
    properties: frozenset[str]
    """The argument keys that the schema names at the top level."""
    keys: Mapping[str, str]
    """Normalised key or alias → real key, without ambiguous ones; empty for upstream and client tools."""
    guarded: bool
    """Whether no call may set some of the arguments (`card.owned_keys`), or one of them must name the source of the
    data (`card.provenance_key`)."""
    clean: Clean | None = None
    """Cleans the arguments before any other step (see `Tool.clean`)."""

    @property
    def flags(self) -> tuple[str, ...]:
        """The parts that were left out of the schemas."""
        return self.input.flags + (self.output.flags if self.output else ())


class Catalogue:
    """All tools that can be called; it holds no handlers, so it can be shown to anyone."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._claimed: dict[str, str] = {}
        """Aliases declared by cards."""
        self._aliases: dict[str, str] = {}
        """Aliases currently in effect."""
        self._watchers: dict[object, Callable[[], None]] = {}

    def add(self, card: Card, clean: Clean | None = None) -> Entry:
        """Register a tool: check its name and compile its schemas.

        Args:
            card: The tool's card.
            clean: Cleans the arguments before any other step.

        Raises:
            RegistrationError: The code names the violated rule; the catalogue is unchanged.
        """
        if TOOL_ID.fullmatch(card.name) is None:
            raise RegistrationError(
                "a tool id must be 1 to 128 characters from A-Z, a-z, 0-9, '_', '.' and '-'", code="tool_name_invalid"
            )
        if card.name in self._entries:
            raise RegistrationError(f"a tool named '{card.name}' is already registered", code="tool_duplicate")
        # Everything that can fail comes before the first change, so that an error leaves the catalogue unchanged.
        entry = _entry_of(card, clean)
        self._check_aliases(card)
        self._entries[card.name] = entry
        # Only local tools have aliases; names and keys of other tools are exact.
        if card.origin == "local":
            self._claimed |= dict.fromkeys(card.aliases, card.name)
        self._settle_aliases()
        self._tell()
        return entry

    def remove(self, name: str) -> None:
        """Unregister a tool and its aliases; an unknown name is ignored."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            self._claimed = {alias: target for alias, target in self._claimed.items() if target != name}
            self._settle_aliases()
            self._tell()

    def watch(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Register a callback for added and removed tools; return a function that unregisters it.

        The callback runs in the thread that changes the catalogue.
        """
        token = object()
        self._watchers[token] = callback

        def end() -> None:
            self._watchers.pop(token, None)

        return end

    def get(self, name: str) -> Entry | None:
        """Return the tool with exactly this id, or None."""
        return self._entries.get(name)

    def resolve(self, name: str) -> tuple[Entry, bool] | None:
        """Return the tool for an id or alias, and whether it is an alias; None if there is no such tool."""
        entry = self._entries.get(name)
        if entry is not None:
            return entry, False
        # Use `get` for both lookups, since another thread may remove the tool in between. No tool has an empty name.
        entry = self._entries.get(self._aliases.get(name, ""))
        return None if entry is None else (entry, True)

    def meant(self, name: object) -> Entry | None:
        """Return the tool for an id or alias; None if there is no such tool or the name is not a string."""
        found = self.resolve(name) if isinstance(name, str) else None
        return None if found is None else found[0]

    def entries(self) -> tuple[Entry, ...]:
        """Return all tools in registration order."""
        return tuple(self._entries.values())

    def names(self) -> tuple[str, ...]:
        """Return every id and alias."""
        return (*self._entries, *self._aliases)

    def __len__(self) -> int:
        """Return the number of tools."""
        return len(self._entries)

    def _check_aliases(self, card: Card) -> None:
        """Reject invalid aliases and aliases that conflict with another tool."""
        if not all(TOOL_ID.fullmatch(alias) for alias in card.aliases):
            raise RegistrationError(f"an alias of '{card.name}' is not a valid tool id", code="tool_name_invalid")
        # In both directions: a new alias must not hide a tool, and a new tool must not have the name of an old alias.
        taken = self._entries.keys() | self._claimed.keys() if card.aliases else set[str]()
        if card.name in self._claimed or not taken.isdisjoint(card.aliases):
            raise RegistrationError(
                f"'{card.name}' or one of its aliases is a name of another tool; remove the alias from one of them",
                code="alias_ambiguous",
            )

    def _tell(self) -> None:
        for callback in tuple(self._watchers.values()):
            callback()

    def _settle_aliases(self) -> None:
        """Recompute the aliases: ids take precedence; an alias with two targets (card, `TOOL_ALIASES`) is dropped."""
        aliases = dict(self._claimed)
        for alias, target in TOOL_ALIASES.items():
            entry = self._entries.get(target)
            # Upstream and client tools are called only by their published names.
            if entry is None or entry.card.origin != "local":
                continue
            if aliases.setdefault(alias, target) != target:
                del aliases[alias]
        # Replace the map atomically, so that a call in another thread sees either the old or the new one.
        self._aliases = {alias: target for alias, target in aliases.items() if alias not in self._entries}


def normalised(key: str) -> str:
    """Normalise a key: trimmed, lower case, one kind of separator (`File-Path` → `file_path`)."""
    # Cached, since the same few names recur.
    return _remembered(key) if len(key) <= LONGEST_NAME else _plain_form(key)


def _plain_form(key: str) -> str:
    # `lower` maps some non-ASCII letters to ASCII (the Kelvin sign to k), so non-ASCII keys stay unchanged.
    return _SEPARATORS.sub("_", key.strip().lower()) if key.isascii() else key


_remembered = lru_cache(maxsize=4096)(_plain_form)


def _entry_of(card: Card, clean: Clean | None) -> Entry:
    """Compile both schemas and precompute the data that calls need."""
    ours = card.origin == "local"
    # The author of a local schema can correct it, so an unsupported pattern is an error there and is not dropped.
    strict = ours or card.strict
    compiled = _compiled(card, "arguments", card.input_schema, closed=ours, strict=strict)
    # Arguments are always an object; no call could satisfy a schema for another type.
    kinds = compiled.schema.get("type", "object")
    if kinds != "object" and "object" not in kinds:
        raise RegistrationError(f"the schema of '{card.name}' must have type object", code="schema_not_object")
    output = card.output_schema
    properties = frozenset(_top_level_properties(compiled.schema, compiled.schema, set()))
    return Entry(
        card=card,
        input=compiled,
        # An object without named properties stays open: closed, it could contain nothing.
        output=None
        if output is None
        else _compiled(card, "result", output, closed=ours and _names_all(output), strict=strict),
        properties=properties,
        keys=_key_map(card, properties) if ours else {},
        guarded=bool(card.owned_keys or card.provenance_key),
        clean=clean,
    )


def _compiled(card: Card, what: str, schema: Mapping[str, Any], *, closed: bool, strict: bool) -> CompiledSchema:
    """Compile one schema of a card; errors name the tool, since many are registered at once."""
    try:
        return compile_schema(schema, closed=closed, strict=strict)
    except RegistrationError as error:
        raise RegistrationError(f"{card.name}, schema of its {what}: {error}", code=error.code) from error


def _names_all(schema: Mapping[str, Any]) -> bool:
    """Whether the schema lists its properties and does not set `additionalProperties`."""
    return isinstance(schema, Mapping) and "properties" in schema and "additionalProperties" not in schema


def _top_level_properties(node: Any, root: Node, seen: set[str]) -> Iterator[str]:
    """Yield the keys named at the top level, directly or through references and combinations there.

    Only these keys have normalised spellings and aliases. Other keys are not rejected for that; the schema decides.
    """
    if not isinstance(node, dict):
        return
    for keyword, _, child in subschemas(node):
        if keyword in {"allOf", "anyOf", "oneOf"}:
            yield from _top_level_properties(child, root, seen)
    properties = node.get("properties")
    if isinstance(properties, dict):
        yield from properties
    reference = node.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/") and reference not in seen:
        seen.add(reference)
        yield from _top_level_properties(at_pointer(root, unquote(reference[1:])), root, seen)


def _key_map(card: Card, properties: frozenset[str]) -> dict[str, str]:
    """Map normalised spellings and aliases to the real keys; ambiguous ones are left out."""
    if not properties.issuperset(card.key_aliases.values()):
        raise RegistrationError(
            f"a key alias of '{card.name}' leads to a key that its schema does not name", code="alias_unknown_key"
        )
    # Real keys take precedence: if `path` is a key, it is not an alias of `file_path`.
    found: dict[str, set[str]] = {}
    for name in properties:
        found.setdefault(normalised(name), set()).add(name)
    # Built-in aliases and the card's own have equal rank; an alias on which they disagree is dropped.
    aliases: dict[str, set[str]] = {}
    for alias, target in [*KEY_ALIASES.items(), *card.key_aliases.items()]:
        if target in properties and normalised(alias) not in found:
            aliases.setdefault(normalised(alias), set()).add(target)
    return {key: next(iter(names)) for key, names in (found | aliases).items() if len(names) == 1}
