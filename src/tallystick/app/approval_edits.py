"""Editing the arguments of a held call without ever showing its secrets."""

from collections.abc import Mapping
from typing import Any

from tallystick.gate.record.secrets import MARK


def put_back(edited: Any, *, shown: Any, exact: Any) -> Any:
    """The edited arguments, with secrets that were left as shown (as a digest) in their places again.

    Args:
        edited: What a person wants instead.
        shown: What that person was shown.
        exact: What the call really held.
    """
    if isinstance(edited, Mapping):
        # Only where it was shown, and as it was: a digest put somewhere else brings no secret there.
        if MARK in edited and edited == shown:
            return exact
        return {
            key: put_back(value, shown=_member(shown, key), exact=_member(exact, key)) for key, value in edited.items()
        }
    if isinstance(edited, list):
        return [
            put_back(value, shown=_place(shown, place), exact=_place(exact, place))
            for place, value in enumerate(edited)
        ]
    return edited


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _place(value: Any, place: int) -> Any:
    return value[place] if isinstance(value, list) and place < len(value) else None
