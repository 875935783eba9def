"""Refuses pickled values: the engine unpickles rows marked as such, but we never store any.

Unpickling runs code. A workspace from another person includes its database, and opening it must not run their code.
"""

from typing import Any, NoReturn

from dbos._serialization import DefaultSerializer


class PickleRefused(ValueError):  # noqa: N818 - the name says what happened
    """A stored value is a pickle and was not read."""


def refuse_pickles() -> None:
    """Disable the engine's unpickling for the whole process."""
    DefaultSerializer.deserialize = _refuse  # type: ignore[method-assign, assignment]


def _refuse(_self: DefaultSerializer, _stored: Any) -> NoReturn:
    raise PickleRefused("this row was not stored by tallystick: its value is a pickle and is not read")
