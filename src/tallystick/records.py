"""A decorator for the records that every call creates.

A frozen dataclass sets each field with `object.__setattr__` and takes four times as long to create as a plain one. For
the few records of every call, that is a fifth of the call's time. So these are plain dataclasses at run time, and
frozen only for the type checker, which reports assignments.
"""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a keyword-only dataclass with slots that is frozen for the type checker."""
    # Records are never modified, so hashing by value is safe, as for frozen dataclasses.
    return dataclass(kw_only=True, slots=True, unsafe_hash=True)(cls)
