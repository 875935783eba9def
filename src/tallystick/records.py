"""Records that are made for every call.

A frozen dataclass sets each field through a guarded call and costs four times as much to make as a plain one. For the
few records that every call makes, that is a fifth of the call. So these are plain at run time and frozen to the type
checker, which refuses an assignment where it is written.
"""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a keyword-only record with slots, frozen to the type checker."""
    # Nobody changes one, so equal records may hash alike, as frozen ones do.
    return dataclass(kw_only=True, slots=True, unsafe_hash=True)(cls)
