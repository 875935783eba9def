"""Records as plain JSON, and as the bytes that tables and exports contain."""

from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import Any, TypeVar

import orjson

from tallystick.rooms.memory.model import Figures

T = TypeVar("T")
Order = Callable[[tuple[str, ...]], Iterable[str]]


def as_dict(item: Any) -> dict[str, Any]:
    """Return a record as plain JSON."""
    kind: Any = type(item)
    return _reader(kind, tuple)(item)


def body_of(item: Any) -> bytes:
    """Return a record as canonical JSON."""
    kind: Any = type(item)
    # The keys are sorted already; sorting them again takes as long as serialising.
    return orjson.dumps(_reader(kind, sorted)(item), option=orjson.OPT_STRICT_INTEGER)


@cache
def _reader(kind: Hashable, order: Order) -> Callable[[Any], dict[str, Any]]:
    """Return a function that makes a dictionary of such a record.

    It is generated as source, once, as dataclasses generate their methods: iterating over the fields takes four times
    as long.
    """
    names: tuple[str, ...] = getattr(kind, "__slots__", ())
    read = {name: f"item.{name}" for name in order(names)}
    inner = {}
    if "figures" in read:
        read["figures"] = "figures(item.figures)"
        inner["figures"] = _reader(Figures, order)
    fields = ", ".join(f'"{name}": {value}' for name, value in read.items())
    made: Callable[[Any], dict[str, Any]] = eval(f"lambda item: {{{fields}}}", inner)  # noqa: S307 - our own names
    return made


def reviver(kind: Callable[..., T]) -> Callable[[bytes], T]:
    """Return a function that restores a record from its canonical JSON."""

    def revive(body: bytes) -> T:
        return kind(**{name: _frozen(name, value) for name, value in orjson.loads(body).items()})

    return revive


def _frozen(name: str, value: Any) -> Any:
    if type(value) is list:
        return tuple(value)
    return Figures(**value) if name == "figures" else value
