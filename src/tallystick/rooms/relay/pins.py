"""What each tool said it was when it was accepted.

A server may describe a tool harmlessly on the day it is installed, and otherwise a week later: the description is
text for the model. So the first definition is pinned by its digest. One that differs later is kept aside, its tool is
neither shown nor called, and a person looks at the difference (`tally mcp review`).
"""

from collections.abc import Iterable, Mapping
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


@record
class Pin:
    """One tool as it was accepted, and as it is offered now if that differs."""

    name: str
    digest: str
    definition: Mapping[str, Any]
    offered: Mapping[str, Any] | None = None
    """What the server offers instead; None: nothing else."""
    accepted: Mapping[str, str] | None = None
    """Who accepted a change, how and when; None: it is as it was first seen."""

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
        kept = self._file.read()
        tools = {} if kept is None else kept.get("tools")
        if not isinstance(tools, dict):
            raise self._file.damaged("'tools' is no object")
        return {name: self._pin(name, value) for name, value in tools.items()}

    def compare(self, definitions: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        """Pin what is new, note what differs, and give the names of tools that differ from their pins."""
        offered = {definition["name"]: pinned_part(definition) for definition in definitions}
        known = self.read()
        changed = {name for name, now in offered.items() if name in known and known[name].digest != digest_of(now)}
        stale = {name for name in offered if name in known and _differs(known[name], offered[name], name in changed)}
        if stale or not known.keys() >= offered.keys():
            with self._file.locked():
                self._write(_noted(self.read(), offered))
        return frozenset(changed)

    def accept(self, name: str, digest: str, *, person: str, channel: str, when: str) -> bool:
        """Take what is offered as the new pin; False if it is not (any more) what the person saw."""
        with self._file.locked():
            pins = self.read()
            pin = pins.get(name)
            if pin is None or pin.offered is None or digest_of(pin.offered) != digest:
                return False
            said = {"person": person, "channel": channel, "when": when, "before": pin.digest}
            pins[name] = Pin(name=name, digest=digest, definition=pin.offered, accepted=said)
            self._write(pins)
            return True

    def _write(self, pins: Mapping[str, Pin]) -> None:
        self._file.write({"tools": {name: pin.as_dict() for name, pin in pins.items()}})

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


def _differs(pin: Pin, now: Mapping[str, Any], changed: bool) -> bool:  # noqa: FBT001 - a plain fact
    """Whether what the file says about the offer is not what is offered."""
    return pin.offered != now if changed else pin.offered is not None


def _noted(pins: dict[str, Pin], offered: Mapping[str, Mapping[str, Any]]) -> dict[str, Pin]:
    for name, now in offered.items():
        pin = pins.get(name)
        if pin is None:
            pins[name] = Pin(name=name, digest=digest_of(now), definition=now)
        else:
            pins[name] = replace(pin, offered=None if pin.digest == digest_of(now) else now)
    return pins
