"""The engine reads pickles where a row says so; nothing we store is one, so none is ever read.

A pickle runs code when it is read. A workspace that someone else packed brings its database with it, and to open it
must not run what they put there.
"""

from typing import Any, NoReturn

from dbos._serialization import DefaultSerializer


class PickleRefused(ValueError):  # noqa: N818 - reads as what it is
    """A stored value that only code could read."""


def refuse_pickles() -> None:
    """Close the engine's way to them, for the whole process."""
    DefaultSerializer.deserialize = _refuse  # type: ignore[method-assign, assignment]


def _refuse(_self: DefaultSerializer, _stored: Any) -> NoReturn:
    raise PickleRefused("this row was not stored by tallystick: its value is a pickle and is not read")
