"""The catalogue: which tools there are, and which names mean them.

A name is compared as it stands, byte for byte. Lookalike letters, capitals and stray spaces are never folded into a
match; what models are known to confuse stands in a short, curated map of aliases, and nothing else does.
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
"""Both styles, `file_locator` and `tool.search.nn`; nothing that looks like something else."""

LONGEST_NAME = 64
"""A longer key is no name of ours; it is not worth remembering what it means."""
_SEPARATORS = re.compile(r"[ \t\n\r_.-]+")

TOOL_ALIASES: Mapping[str, str] = {
    "read_file": "file_reader",
    "open_file": "file_reader",
    "file_viewer": "file_locator",
    "list_files": "file_locator",
    "find_file": "file_locator",
}
"""Names models use for tools they were not told by that name."""

KEY_ALIASES: Mapping[str, str] = {
    "path": "file_path",
    "file": "file_path",
    "query": "search_criteria",
}
"""The same for argument keys; one counts only where the real key exists and the alias is no key itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A tool as admit needs it: the card, and what can be worked out once instead of at every call."""

    card: Card
    input: CompiledSchema
    output: CompiledSchema | None
    """None: results are not checked."""
    properties: frozenset[str]
    """The argument keys the schema names at the top."""
    keys: Mapping[str, str]
    """Normalised key or alias → real key; ambiguous ones are not in it. Empty for tools that are not ours."""
    guarded: bool
    """Some key is owned by policy, or the tool must be told where its data comes from."""
    clean: Clean | None = None
    """What arguments go through first (see `Tool.clean`)."""

    @property
    def flags(self) -> tuple[str, ...]:
        """What was left out of the schemas."""
        return self.input.flags + (self.output.flags if self.output else ())


class Catalogue:
    """All tools that can be called. Handlers are not here: the catalogue may be shown to anyone."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._claimed: dict[str, str] = {}
        """Aliases that cards brought."""
        self._aliases: dict[str, str] = {}
        """Aliases that count now."""
        self._watchers: dict[object, Callable[[], None]] = {}

    def add(self, card: Card, clean: Clean | None = None) -> Entry:
        """Take a tool: check its name and compile its schemas.

        Args:
            card: Its card.
            clean: What its arguments go through before anything else.

        Raises:
            RegistrationError: The code says which rule is broken; the catalogue is as before.
        """
        if TOOL_ID.fullmatch(card.name) is None:
            raise RegistrationError(
                "a tool id has 1 to 128 of A-Z a-z 0-9 _ . - and nothing else", code="tool_name_invalid"
            )
        if card.name in self._entries:
            raise RegistrationError(f"a tool '{card.name}' is registered already", code="tool_duplicate")
        # Everything that can fail comes first; from here on nothing does.
        entry = _entry_of(card, clean)
        self._check_aliases(card)
        self._entries[card.name] = entry
        # Aliases are for our own tools; others' names and keys are exact.
        if card.origin == "local":
            self._claimed |= dict.fromkeys(card.aliases, card.name)
        self._settle_aliases()
        self._tell()
        return entry

    def remove(self, name: str) -> None:
        """Take a tool out, with its aliases; a name that is not there is no error."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            self._claimed = {alias: target for alias, target in self._claimed.items() if target != name}
            self._settle_aliases()
            self._tell()

    def watch(self, told: Callable[[], None]) -> Callable[[], None]:
        """Be told, in whatever thread changes it, that a tool came or went; gives what ends this."""
        token = object()
        self._watchers[token] = told

        def end() -> None:
            self._watchers.pop(token, None)

        return end

    def get(self, name: str) -> Entry | None:
        """The tool with exactly this id."""
        return self._entries.get(name)

    def resolve(self, name: str) -> tuple[Entry, bool] | None:
        """The tool that a name means, and whether the name is an alias."""
        entry = self._entries.get(name)
        if entry is not None:
            return entry, False
        # Two steps, since another thread may take the tool out between them. No tool has an empty name.
        entry = self._entries.get(self._aliases.get(name, ""))
        return None if entry is None else (entry, True)

    def meant(self, name: object) -> Entry | None:
        """The tool that is meant, if the name is one."""
        found = self.resolve(name) if isinstance(name, str) else None
        return None if found is None else found[0]

    def entries(self) -> tuple[Entry, ...]:
        """All tools, in the order they were added."""
        return tuple(self._entries.values())

    def names(self) -> tuple[str, ...]:
        """Every id and alias."""
        return (*self._entries, *self._aliases)

    def __len__(self) -> int:
        """How many tools there are."""
        return len(self._entries)

    def _check_aliases(self, card: Card) -> None:
        """An alias that a card brings must mean that tool and no other."""
        if not all(TOOL_ID.fullmatch(alias) for alias in card.aliases):
            raise RegistrationError(f"an alias of '{card.name}' is no valid tool id", code="tool_name_invalid")
        # Both ways round: a new alias may not hide a tool, a new tool may not fall under an old alias.
        taken = self._entries.keys() | self._claimed.keys() if card.aliases else set[str]()
        if card.name in self._claimed or not taken.isdisjoint(card.aliases):
            raise RegistrationError(
                f"'{card.name}' or an alias of it already means another tool; drop that alias from one of them",
                code="alias_ambiguous",
            )

    def _tell(self) -> None:
        for told in tuple(self._watchers.values()):
            told()

    def _settle_aliases(self) -> None:
        """Registered ids win over aliases; an alias that a card and the shipped map read differently means nothing."""
        aliases = dict(self._claimed)
        for alias, target in TOOL_ALIASES.items():
            entry = self._entries.get(target)
            # Tools of others are called by the name they published.
            if entry is None or entry.card.origin != "local":
                continue
            if aliases.setdefault(alias, target) != target:
                del aliases[alias]
        # Replaced in one step, so that a call in another thread sees the old map or the new one.
        self._aliases = {alias: target for alias, target in aliases.items() if alias not in self._entries}


def normalised(key: str) -> str:
    """A key as models mean it: trimmed, lower case, one kind of separator (`File-Path` → `file_path`)."""
    # The same few names come again and again.
    return _remembered(key) if len(key) <= LONGEST_NAME else _plain_form(key)


def _plain_form(key: str) -> str:
    # Lower case turns some foreign letters into ours (the Kelvin sign into k); those keys stay what they are.
    return _SEPARATORS.sub("_", key.strip().lower()) if key.isascii() else key


_remembered = lru_cache(maxsize=4096)(_plain_form)


def _entry_of(card: Card, clean: Clean | None) -> Entry:
    """Compile both schemas and work out what calls will need."""
    ours = card.origin == "local"
    # A schema of our own can be rewritten, so nothing of it is ever left out.
    strict = ours or card.strict
    compiled = _compiled(card, "arguments", card.input_schema, closed=ours, strict=strict)
    # Arguments are always an object; a schema for anything else could never be satisfied.
    kinds = compiled.schema.get("type", "object")
    if kinds != "object" and "object" not in kinds:
        raise RegistrationError(f"the arguments of '{card.name}' are an object; say so", code="schema_not_object")
    output = card.output_schema
    properties = frozenset(_top_level_properties(compiled.schema, compiled.schema, set()))
    return Entry(
        card=card,
        input=compiled,
        # An object without named properties is open on purpose: closed, it could hold nothing.
        output=None
        if output is None
        else _compiled(card, "result", output, closed=ours and _names_all(output), strict=strict),
        properties=properties,
        keys=_key_map(card, properties) if ours else {},
        guarded=bool(card.owned_keys or card.provenance_key),
        clean=clean,
    )


def _compiled(card: Card, what: str, schema: Mapping[str, Any], *, closed: bool, strict: bool) -> CompiledSchema:
    """Compile one schema of a card; an error says of which tool, since many are registered at once."""
    try:
        return compile_schema(schema, closed=closed, strict=strict)
    except RegistrationError as error:
        raise RegistrationError(f"{card.name}, schema of its {what}: {error}", code=error.code) from error


def _names_all(schema: Mapping[str, Any]) -> bool:
    """Whether the author listed the properties and left open by silence, not by saying so."""
    return isinstance(schema, Mapping) and "properties" in schema and "additionalProperties" not in schema


def _top_level_properties(node: Any, root: Node, seen: set[str]) -> Iterator[str]:
    """Keys named at the top, directly or through references and combinations there.

    Only these are read in other spellings. A key that is missing here is not refused for it: the schema decides.
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
    """Normalised spellings of the real keys, then aliases; what could mean two keys means none."""
    if not properties.issuperset(card.key_aliases.values()):
        raise RegistrationError(
            f"a key alias of '{card.name}' leads to a key that its schema does not name", code="alias_unknown_key"
        )
    # Real keys first: where `path` is a key, it is not an alias of `file_path`.
    found: dict[str, set[str]] = {}
    for name in properties:
        found.setdefault(normalised(name), set()).add(name)
    # Shipped and own aliases count alike; where they disagree, the key means none.
    aliases: dict[str, set[str]] = {}
    for alias, target in [*KEY_ALIASES.items(), *card.key_aliases.items()]:
        if target in properties and normalised(alias) not in found:
            aliases.setdefault(normalised(alias), set()).add(target)
    return {key: next(iter(names)) for key, names in (found | aliases).items() if len(names) == 1}
