"""Nouns as plain JSON, and as the bytes that stand in the tables and in an export."""

from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import Any

import orjson

from tallystick.rooms.memory.nouns import Figures

Order = Callable[[tuple[str, ...]], Iterable[str]]


def as_dict(noun: Any) -> dict[str, Any]:
    """A noun as plain JSON."""
    kind: Any = type(noun)
    return _reader(kind, tuple)(noun)


def body_of(noun: Any) -> bytes:
    """A noun as canonical JSON."""
    kind: Any = type(noun)
    # The keys are in order already: to put them in order once more takes as long as writing them.
    return orjson.dumps(_reader(kind, sorted)(noun), option=orjson.OPT_STRICT_INTEGER)


@cache
def _reader(kind: Hashable, order: Order) -> Callable[[Any], dict[str, Any]]:
    """What makes a dictionary of such a noun.

    Written as source, once, as dataclasses write their methods: to go through the fields takes four times as long.
    """
    names: tuple[str, ...] = getattr(kind, "__slots__", ())
    read = {name: f"noun.{name}" for name in order(names)}
    inner = {}
    if "figures" in read:
        read["figures"] = "figures(noun.figures)"
        inner["figures"] = _reader(Figures, order)
    fields = ", ".join(f'"{name}": {value}' for name, value in read.items())
    made: Callable[[Any], dict[str, Any]] = eval(f"lambda noun: {{{fields}}}", inner)  # noqa: S307 - our own names
    return made
