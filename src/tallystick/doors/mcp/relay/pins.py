"""Pin the accepted definition of each tool.

A server may describe a tool harmlessly when it is installed and differently a week later, and the description is text
for the model. So the definitions from the first connection are pinned by their digests. A tool whose definition differs
later, or that is new, is withheld: it is neither listed nor callable until a person reviews it (`tally mcp review`).
The server's `instructions` are pinned too but are forwarded even if they changed, because clients cannot use a partial
`initialize` response.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from tallystick.records import record
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.json_file import JsonFile

PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""The members that the model sees or that define the input; others, such as icons, may change."""
FILE = "relay.json"
DAMAGED = "relay_pins_damaged"
INSTRUCTIONS = "(instructions)"
"""Takes the place of a tool's name for the server's instructions."""
LONGEST_SHOWN = 64 * 1024
"""Maximum characters of the instructions that are stored for display; the digest covers all."""


@record
class Pin:
    """One tool as it was accepted, and as it is offered now if that differs."""

    name: str
    digest: str
    """Digest of the accepted definition; empty if none was accepted because the tool is new."""
    definition: Mapping[str, Any]
    offered: Mapping[str, Any] | None = None
    """The definition that the server offers now; None if it is the accepted one."""
    accepted: Mapping[str, str] | None = None
    """Who accepted a change, how and when; None if the definition is the one first seen."""

    @property
    def is_new(self) -> bool:
        """Whether no definition of it was ever accepted."""
        return not self.digest

    def as_dict(self) -> dict[str, Any]:
        """Return the pin as it is stored."""
        wire = {"digest": self.digest, "definition": self.definition}
        more = {"offered": self.offered, "accepted": self.accepted}
        return wire | {name: value for name, value in more.items() if value is not None}


class PinBook:
    """The pins of one server, in one file of its workspace."""

    def __init__(self, workspace: Path) -> None:
        self._file = JsonFile(workspace / CONTROL_ROOM / FILE, code=DAMAGED)

    def read(self) -> dict[str, Pin]:
        """Return all pins by tool name.

        Raises:
            ConfigError: The file is damaged.
        """
        return self._read()[0]

    def to_review(self) -> list[Pin]:
        """Return every pin whose offered definition differs from the accepted one; the instructions first.

        Raises:
            ConfigError: The file is damaged.
        """
        tools, instructions = self._read()
        everything = [*([] if instructions is None else [instructions]), *(pin for _, pin in sorted(tools.items()))]
        return [pin for pin in everything if pin.offered is not None]

    def compare(
        self,
        definitions: Iterable[Mapping[str, Any]],
        *,
        trust_new: bool = False,
        server_of: Callable[[str], str] = lambda _: "",
        on_pin: Callable[[Mapping[str, str]], None] | None = None,
    ) -> frozenset[str]:
        """Compare definitions with the pins, store the differences, and return the names to withhold.

        Args:
            definitions: The tools that the server offers; the first time, all of them.
            trust_new: Also pin tools that were not there before.
            server_of: The server of a tool; all tools of a server without any pin are pinned.
            on_pin: Called with name → digest before anything is pinned; if it raises, nothing is.
        """
        offered = {definition["name"]: pinned_part(definition) for definition in definitions}
        known, _ = self._read()
        if any(name not in known or _is_stale(known[name], now, trust_new) for name, now in offered.items()):
            with self._file.locked():
                before, instructions = self._read()
                met = {server_of(name) for name in before}
                known = _noted(before, offered, pin=[one for one in offered if trust_new or server_of(one) not in met])
                pinned = {name: known[name].digest for name in offered if _was_pinned(before.get(name), known[name])}
                if pinned and on_pin is not None:
                    on_pin(pinned)
                self._write(known, instructions)
        return frozenset(name for name, now in offered.items() if known[name].digest != digest_of(now))

    def compare_instructions(self, text: str) -> bool:
        """Pin the instructions, or store that they differ; return whether they are unchanged."""
        now = {"name": INSTRUCTIONS, "description": text[:LONGEST_SHOWN]}
        if len(text) > LONGEST_SHOWN:
            now["title"] = f"cut; SHA-256 of the whole: {sha256(text.encode()).hexdigest()}"
        _, known = self._read()
        if known is None or _is_stale(known, now, trust_new=False):
            with self._file.locked():
                tools, before = self._read()
                noted = _noted(
                    {} if before is None else {INSTRUCTIONS: before}, {INSTRUCTIONS: now}, pin=[INSTRUCTIONS]
                )
                known = noted[INSTRUCTIONS]
                self._write(tools, known)
        return known.offered is None

    def accept(self, name: str, digest: str, *, person: str, channel: str, when: str) -> bool:
        """Pin the offered definition; return False if it is no longer the one that the person saw."""
        with self._file.locked():
            tools, instructions = self._read()
            pin = instructions if name == INSTRUCTIONS else tools.get(name)
            if pin is None or pin.offered is None or digest_of(pin.offered) != digest:
                return False
            said = {"person": person, "channel": channel, "when": when, "before": pin.digest}
            accepted = Pin(name=name, digest=digest, definition=pin.offered, accepted=said)
            if name == INSTRUCTIONS:
                self._write(tools, accepted)
            else:
                self._write({**tools, name: accepted}, instructions)
            return True

    def _read(self) -> tuple[dict[str, Pin], Pin | None]:
        """Return the pins of the tools and of the instructions."""
        kept = self._file.read()
        tools = {} if kept is None else kept.get("tools")
        if not isinstance(tools, dict):
            raise self._file.damaged("'tools' is no object")
        said = None if kept is None else kept.get("instructions")
        pins = {name: self._pin(name, value) for name, value in tools.items()}
        return pins, None if said is None else self._pin(INSTRUCTIONS, said)

    def _write(self, tools: Mapping[str, Pin], instructions: Pin | None) -> None:
        kept: dict[str, Any] = {"tools": {name: pin.as_dict() for name, pin in tools.items()}}
        if instructions is not None:
            kept["instructions"] = instructions.as_dict()
        self._file.write(kept)

    def _pin(self, name: str, value: Any) -> Pin:
        try:
            return Pin(
                name=name,
                digest=value["digest"],
                definition=dict(value["definition"]),
                offered=value.get("offered"),
                accepted=value.get("accepted"),
            )
        except (TypeError, KeyError, ValueError, AttributeError):
            raise self._file.damaged(f"the pin of '{name:.60}' cannot be read") from None


def pinned_part(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a definition that are pinned."""
    return {name: definition[name] for name in PINNED if definition.get(name) is not None}


def digest_of(definition: Mapping[str, Any]) -> str:
    """Return the digest of a definition; the order of keys does not matter."""
    return sha256(orjson.dumps(pinned_part(definition), option=orjson.OPT_SORT_KEYS)).hexdigest()


def _is_stale(pin: Pin, now: Mapping[str, Any], trust_new: bool) -> bool:  # noqa: FBT001 - a private helper
    """Return whether the stored offer differs from the current one."""
    if pin.is_new and trust_new:
        return True
    return pin.offered is not None if pin.digest == digest_of(now) else pin.offered != now


def _noted(
    pins: Mapping[str, Pin], offered: Mapping[str, Mapping[str, Any]], *, pin: Collection[str]
) -> dict[str, Pin]:
    """Return the pins with what is offered now; new tools in `pin` are accepted as they are."""
    noted = dict(pins)
    for name, now in offered.items():
        before = pins.get(name) or Pin(name=name, digest="", definition={})
        if before.is_new and name in pin:
            noted[name] = Pin(name=name, digest=digest_of(now), definition=now)
        else:
            noted[name] = replace(before, offered=None if before.digest == digest_of(now) else now)
    return noted


def _was_pinned(before: Pin | None, after: Pin) -> bool:
    return not after.is_new and (before is None or before.is_new)
