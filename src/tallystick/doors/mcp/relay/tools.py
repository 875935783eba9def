"""Pin a server's tools, convert them to cards and register them with the gate."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from tallystick.app.audit_notes import demand_ledger, note_change
from tallystick.app.gate import Gate
from tallystick.doors.mcp.jsonrpc import LIST, Message
from tallystick.doors.mcp.relay.answers import CHANGED, DOUBTFUL, NOT_OFFERED, UNUSABLE
from tallystick.doors.mcp.relay.default_policy import tool_sections
from tallystick.doors.mcp.relay.effects import effect_of
from tallystick.doors.mcp.relay.messages import Wires
from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.doors.mcp.relay.pins import PinBook, digest_of
from tallystick.errors import ConfigError, RegistrationError
from tallystick.gate.session import LOCAL_OWNER, Caller
from tallystick.gate.tool import Card, Tool
from tallystick.providers.upstream import card_from_mcp
from tallystick.settings import CONFIG_NAME

OFFERED = 8
"""Maximum tools named in the error about an unknown tool in the policy."""
PAGES = 200
"""Maximum pages of a tool list, so that an endless list is not followed forever."""
LIST_BYTES = 64 << 20
"""Maximum bytes of a whole tool list, which is held in memory."""
NO_METHOD = -32601
CALLER = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel="mcp")
"""The user who started the client."""
SESSION = "relay"
"""The session of records about pins."""
Handler = Callable[..., Awaitable[Any]]
Definition = Mapping[str, Any]


class ServerTools:
    """The usable tools of a server."""

    def __init__(self, gate: Gate, wrapping: Wrapping, handler: Handler) -> None:
        self._gate = gate
        self._wrapping = wrapping
        self._handler = handler
        self._pins = PinBook(gate.workspace)
        self._registered: dict[str, str] = {}
        """Name → digest of the registered definition."""
        self._schemas: dict[str, Mapping[str, Any]] = {}
        """Name → input schema."""
        self.withheld: frozenset[str] = frozenset()
        """Names whose definitions differ from their pins."""
        self.unusable: dict[str, str] = {}
        """Names that could not be registered → the reason."""
        self.stale = True
        """The current tool list of the server is not known."""
        self._checked = False
        self._pinned: frozenset[str] = frozenset()
        """Names that were pinned last."""
        self.met = bool(self._pins.read())
        """Whether anything is pinned; until then only a complete list may be pinned."""

    def is_new(self, name: str) -> bool:
        """Return whether a tool is withheld because no definition of it was ever accepted."""
        pin = self._pins.read().get(name)
        return pin is not None and pin.is_new

    def greet(self, instructions: str) -> bool:
        """Pin or compare the server's instructions; return whether they are unchanged."""
        return self._pins.compare_instructions(instructions)

    def wrong_with(self, name: str, args: Any) -> str | None:
        """Return why a call of this tool is refused before the gate; None if it is not."""
        if name in self.withheld:
            return CHANGED
        if name in self.unusable:
            return UNUSABLE
        if name not in self._registered:
            # Its id may equal that of another tool whose name is spelled differently.
            return NOT_OFFERED
        doubt = isinstance(args, dict) and doubtful_key(args, self._schemas.get(name, {})) is not None
        return DOUBTFUL if doubt else None

    def knows(self, name: str) -> bool:
        """Return whether this tool is registered and the tool list is current."""
        return not self.stale and name not in self.withheld and name in self._registered

    def take(self, definitions: Iterable[Any], *, whole: bool) -> frozenset[str]:
        """Process a tool list and return the names to hide. May block: it writes files.

        Raises:
            ConfigError: The policy names a tool that the server never had.
            LedgerUnwritable: The pins could not be recorded, so nothing was pinned.
        """
        named = [one for one in definitions if isinstance(one, dict) and isinstance(one.get("name"), str)]
        twice = _two_meanings(named)
        clear = [one for one in named if one["name"] not in twice]
        first = not self.met
        changed = twice | self._pins.compare(
            clear,
            trust_new=self._wrapping.trust_new,
            server_of=lambda name: self._wrapping.server_and_name(name)[0],
            on_pin=self._note_pins,
        )
        if self._wrapping.gateway and not first:
            self._extend_policy([one for one in clear if one["name"] in self._pinned])
        self.met = self.met or bool(clear)
        for one in named:
            if one["name"] in changed:
                self._forget(one["name"])
            else:
                self._register(one)
        names = {one["name"] for one in named}
        self.withheld = (self.withheld - names) | changed
        if whole:
            self.stale = False
            for gone in self._registered.keys() - names:
                self._forget(gone)
            self._check_policy()
        return frozenset(changed)

    def _register(self, definition: Definition) -> None:
        name, digest = definition["name"], digest_of(definition)
        if self._registered.get(name) == digest:
            return
        self._forget(name)
        self.unusable.pop(name, None)
        try:
            self._gate.register(Tool(card=card_of(definition, self._wrapping), handler=self._handler))
        except RegistrationError as error:
            self.unusable[name] = f"{error.code}: {error}"
        else:
            self._registered[name] = digest
            schema = definition.get("inputSchema")
            self._schemas[name] = schema if isinstance(schema, Mapping) else {}

    def _forget(self, name: str) -> None:
        self._schemas.pop(name, None)
        if self._registered.pop(name, None) is not None:
            self._gate.unregister(self._wrapping.tool_id(name))

    def _extend_policy(self, pinned: list[Definition]) -> None:
        """Give the tools of a server that is met for the first time their sections in the workspace's policy."""
        text = tool_sections(self._wrapping, pinned, but=self._gate.settings.tools)
        self._pinned = frozenset()
        if text and self._wrapping.policy is None:
            with Path(self._wrapping.workspace, CONFIG_NAME).open("a", encoding="utf-8") as file:
                file.write(text)

    def _note_pins(self, pinned: Mapping[str, str]) -> None:
        self._pinned = frozenset(pinned)
        demand_ledger(self._gate)
        whole = sha256(orjson.dumps(dict(pinned), option=orjson.OPT_SORT_KEYS)).hexdigest()
        said = {"tools": len(pinned), "digest": whole}
        note_change(self._gate, CALLER, "relay.pin", f"servers/{self._wrapping.name}", said, session=SESSION)

    def _check_policy(self) -> None:
        if self._checked:
            return
        self._checked = True
        known = {self._wrapping.tool_id(name) for name in self._pins.read()}
        servers = {self._wrapping.server_and_name(name)[0] for name in self._pins.read()}
        for name in self._gate.settings.tools:
            # A server of a gateway that has not been met yet may have any tools.
            if name not in known and (not self._wrapping.gateway or name.partition(".")[0] in servers):
                raise _unknown_in_policy(name, self._wrapping, known)


def card_of(definition: Definition, wrapping: Wrapping) -> Card:
    """Return the card of one tool.

    Raises:
        RegistrationError: The definition cannot be used.
    """
    name = definition.get("name")
    fields: dict[str, Any] = {
        "name": wrapping.tool_id(str(name)),
        "effect": effect_of({**definition, "name": wrapping.server_and_name(str(name))[1]})[0],
        "timeout_s": wrapping.timeout_s,
        "max_output_bytes": wrapping.max_output,
    }
    output, schema = definition.get("outputSchema"), definition.get("inputSchema")
    if isinstance(output, Mapping):
        fields["output_schema"] = result_schema(output)
    if wrapping.strict and isinstance(schema, Mapping):
        fields["input_schema"] = closed(schema)
    return card_from_mcp(definition, server=wrapping.name, strict=wrapping.strict, **fields)


async def list_all(wires: Wires, meta: Message) -> list[Any]:
    """Return all tools of the server, page by page.

    Raises:
        ConfigError: The server does not respond, or not with a list.
    """
    found: list[Any] = []
    size = 0
    params: Message = {"_meta": meta} if meta else {}
    for _ in range(PAGES):
        answer = await wires.ask_server(LIST, params)
        result = answer.get("result")
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return _nothing_listed(answer, found)
        found += result["tools"]
        size += len(orjson.dumps(result["tools"]))
        if size > LIST_BYTES:
            break
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str):
            return found
        params = {**params, "cursor": cursor}
    message = (
        f"The server's list of tools has more than {PAGES} pages, or {LIST_BYTES >> 20} MiB. "
        "That cannot be meant; it is not followed."
    )
    raise ConfigError(message, code="server_endless")


def _nothing_listed(answer: Message, found: list[Any]) -> list[Any]:
    """Return the tools found so far when a response has no list: a server without tools reports an unknown method."""
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    if code in {None, NO_METHOD}:
        return found
    message = "The server answered its list of tools with an error. Run its command by itself to see why."
    raise ConfigError(message, code="server_unlisted")


async def refresh(tools: ServerTools, wires: Wires, meta: Message) -> None:
    """Request the current tool list from the server."""
    definitions = await list_all(wires, meta)
    await asyncio.to_thread(tools.take, definitions, whole=True)


def _two_meanings(definitions: Iterable[Definition]) -> frozenset[str]:
    """Return names with two definitions: a model could see one and call the other."""
    digests: dict[str, set[str]] = {}
    for one in definitions:
        digests.setdefault(one["name"], set()).add(digest_of(one))
    return frozenset(name for name, found in digests.items() if len(found) > 1)


def _unknown_in_policy(name: str, wrapping: Wrapping, known: Collection[str]) -> ConfigError:
    near = next((one for one in known if one.partition(".")[2] == name), None)
    names = sorted(known)
    more = f" and {len(names) - OFFERED} more" if len(names) > OFFERED else ""
    offers = (", ".join(names[:OFFERED]) or "none") + more
    hint = f"Did you mean '{near}'?" if near else f"It has: {offers}."
    where = Path(wrapping.policy or Path(wrapping.workspace) / CONFIG_NAME).expanduser().absolute()
    message = (
        f"{where} names the tool '{name}', which the server '{wrapping.name}' does not have. {hint} Correct the file."
    )
    return ConfigError(message, code="policy_unknown_tool")


PLACE = "/properties/structuredContent"
_DATA = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data, not schemas."""
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords that map author-chosen names to schemas."""
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")


def result_schema(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a whole result; `structuredContent` is optional, since errors have none."""
    inner = {key: value for key, value in output.items() if key != "$schema"}
    if "$id" not in inner:
        # A schema with its own `$id` is a separate document, so its references stay valid.
        inner = _moved(inner)
    whole: dict[str, Any] = {"type": "object", "properties": {"structuredContent": inner}}
    return {"$schema": output["$schema"], **whole} if "$schema" in output else whole


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input schema that rejects undeclared arguments (`--strict`), unless it says what else it accepts."""
    if not {"additionalProperties", "unevaluatedProperties"}.isdisjoint(schema):
        return dict(schema)
    old = any(draft in str(schema.get("$schema", "")) for draft in _OLD_DRAFTS)
    if not old:
        return {**schema, "unevaluatedProperties": False}
    # In older drafts `additionalProperties` sees only the properties next to it.
    combined = not {"allOf", "anyOf", "oneOf", "$ref", "if"}.isdisjoint(schema)
    return dict(schema) if combined else {**schema, "additionalProperties": False}


def _moved(node: Any, *, named: bool = False) -> Any:
    if isinstance(node, list):
        return [_moved(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    made: dict[str, Any] = {}
    for key, value in node.items():
        if named:
            made[key] = _moved(value)
        elif key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            made[key] = f"#{PLACE}{value[1:]}"
        else:
            made[key] = value if key in _DATA else _moved(value, named=key in _NAMED)
    return made


def doubtful_key(args: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Return the first key that the server could take for another argument; None if all are clear.

    Two keys that differ only in case are ambiguous unless the tool declares both. So is an undeclared key that differs
    only in case from an optional argument: a policy rule about the argument would not see the other key.
    """
    known, required = _names(schema.get("properties")), _names(schema.get("required"))
    optional = {name.casefold() for name in known - required}
    seen: dict[str, str] = {}
    for key in args:
        folded = key.casefold()
        other = seen.setdefault(folded, key)
        if (other != key and not {key, other} <= known) or (key not in known and folded in optional):
            return key
    return None


def _names(given: Any) -> set[str]:
    return {name for name in given if isinstance(name, str)} if isinstance(given, Iterable) else set()
