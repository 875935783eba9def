"""What each tool said it was when it was accepted.

A server may describe a tool harmlessly on the day it is installed, and otherwise a week later: the description is
text for the model. So what a server offers when it is first met is pinned by its digest. A definition that differs
later, and a tool that was not there then, is kept aside: the tool is neither shown nor called until a person has
looked (`tally mcp review`). What the server says about itself (`instructions`) is pinned, too, but it passes: clients
have no use for half a greeting.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from tallystick.records import record
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.json_file import JsonFile

PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""The parts that a model is shown or that say what may be sent; icons and the like may change."""
FILE = "relay.json"
DAMAGED = "relay_pins_damaged"
INSTRUCTIONS = "(instructions)"
"""Where a tool's name would stand, for what the server says about itself."""
LONGEST_SHOWN = 64 * 1024
"""Characters of the instructions that are kept to be shown; the digest is of all."""


@record
class Pin:
    """One tool as it was accepted, and as it is offered now if that differs."""

    name: str
    digest: str
    """Of the definition that was accepted; empty: none was, the tool is new."""
    definition: Mapping[str, Any]
    offered: Mapping[str, Any] | None = None
    """What the server offers instead; None: nothing else."""
    accepted: Mapping[str, str] | None = None
    """Who accepted a change, how and when; None: it is as it was first seen."""

    @property
    def is_new(self) -> bool:
        """Whether nobody has accepted it in any form."""
        return not self.digest

    def as_dict(self) -> dict[str, Any]:
        """As it is kept."""
        wire = {"digest": self.digest, "definition": self.definition}
        more = {"offered": self.offered, "accepted": self.accepted}
        return wire | {name: value for name, value in more.items() if value is not None}


class PinBook:
    """The pins of one server, in one file of its workspace."""

    def __init__(self, workspace: Path) -> None:
        self._file = JsonFile(workspace / CONTROL_ROOM / FILE, code=DAMAGED)

    def read(self) -> dict[str, Pin]:
        """All pins, by the tool's name.

        Raises:
            ConfigError: The file is damaged.
        """
        return self._read()[0]

    def to_review(self) -> list[Pin]:
        """Everything that is not as it was accepted; the instructions first.

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
        on_pin: Callable[[Mapping[str, str]], None] | None = None,
    ) -> frozenset[str]:
        """Hold a list against the pins, note what differs, and give the names that must be neither shown nor called.

        Args:
            definitions: What the server offers; the first time it must be all of it.
            trust_new: Pin tools that were not there before, too.
            on_pin: Called with name → digest before something is pinned; if it raises, nothing is.
        """
        offered = {definition["name"]: pinned_part(definition) for definition in definitions}
        known, _ = self._read()
        if any(name not in known or _is_stale(known[name], now, trust_new) for name, now in offered.items()):
            with self._file.locked():
                before, instructions = self._read()
                known = _noted(before, offered, pin_new=trust_new or not before)
                pinned = {name: known[name].digest for name in offered if _was_pinned(before.get(name), known[name])}
                if pinned and on_pin is not None:
                    on_pin(pinned)
                self._write(known, instructions)
        return frozenset(name for name, now in offered.items() if known[name].digest != digest_of(now))

    def compare_instructions(self, text: str) -> bool:
        """Pin what the server says about itself, or note that it differs; says whether it is as it was."""
        now = {"name": INSTRUCTIONS, "description": text[:LONGEST_SHOWN]}
        if len(text) > LONGEST_SHOWN:
            now["title"] = f"cut; SHA-256 of the whole: {sha256(text.encode()).hexdigest()}"
        _, known = self._read()
        if known is None or _is_stale(known, now, trust_new=False):
            with self._file.locked():
                tools, before = self._read()
                noted = _noted({} if before is None else {INSTRUCTIONS: before}, {INSTRUCTIONS: now}, pin_new=True)
                known = noted[INSTRUCTIONS]
                self._write(tools, known)
        return known.offered is None

    def accept(self, name: str, digest: str, *, person: str, channel: str, when: str) -> bool:
        """Take what is offered as the new pin; False if it is not (any more) what the person saw."""
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
        """The tools' pins, and that of the instructions."""
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
    """The parts of a definition that are pinned."""
    return {name: definition[name] for name in PINNED if definition.get(name) is not None}


def digest_of(definition: Mapping[str, Any]) -> str:
    """The digest of a definition; the order of keys means nothing."""
    return sha256(orjson.dumps(pinned_part(definition), option=orjson.OPT_SORT_KEYS)).hexdigest()


def _is_stale(pin: Pin, now: Mapping[str, Any], trust_new: bool) -> bool:  # noqa: FBT001 - a plain fact
    """Whether what the file says about the offer is not what is offered."""
    if pin.is_new and trust_new:
        return True
    return pin.offered is not None if pin.digest == digest_of(now) else pin.offered != now


def _noted(pins: Mapping[str, Pin], offered: Mapping[str, Mapping[str, Any]], *, pin_new: bool) -> dict[str, Pin]:
    noted = dict(pins)
    for name, now in offered.items():
        pin = pins.get(name) or Pin(name=name, digest="", definition={})
        if pin.is_new and pin_new:
            noted[name] = Pin(name=name, digest=digest_of(now), definition=now)
        else:
            noted[name] = replace(pin, offered=None if pin.digest == digest_of(now) else now)
    return noted


def _was_pinned(before: Pin | None, after: Pin) -> bool:
    return not after.is_new and (before is None or before.is_new)
