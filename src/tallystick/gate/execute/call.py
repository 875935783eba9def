"""The information a running tool can read about its own call."""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import field
from typing import Any

from tallystick.gate.session import Session
from tallystick.records import record


@record
class Call:
    """The call a tool is serving; tools that do not need it can ignore it."""

    session: Session
    tool: str
    dry_run: bool = False
    started_id: str | None = None
    """Receipt id of the durable `started` record, for tools that write."""
    file_refs: list[Mapping[str, Any]] = field(default_factory=list)
    """Files the tool read; stored in the receipt."""

    def sound_file_refs(self) -> tuple[Mapping[str, Any], ...]:
        """Return the valid references: a tool may append anything, and a bad one must not prevent the receipt."""
        return tuple(ref for ref in self.file_refs if _is_sound(ref))


SERVED: ContextVar[Call | None] = ContextVar("tallystick_call", default=None)
"""Set by the runner, and reset when the handler is done."""


def current_call() -> Call | None:
    """Return the call being served, or None outside a tool."""
    return SERVED.get()


def note_file(
    path: str, sha256: str, *, lines: tuple[int, int] | None = None, excerpt_sha256: str | None = None
) -> None:
    """Record that the running tool used a file; does nothing outside a tool."""
    call = SERVED.get()
    if call is None:
        return
    reference: dict[str, Any] = {"path": path, "sha256": sha256}
    if lines is not None:
        reference["lines"] = list(lines)
    if excerpt_sha256 is not None:
        reference["excerpt_sha256"] = excerpt_sha256
    call.file_refs.append(reference)


def _is_sound(ref: Any) -> bool:
    if not isinstance(ref, Mapping) or not {"path", "sha256"} <= ref.keys() <= _PARTS.keys():
        return False
    return all(_PARTS[name](value) for name, value in ref.items())


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and _HALF_A_CHARACTER.search(value) is None


def _are_lines(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(line) is int for line in value)  # noqa: PLR2004


_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_PARTS = {"path": _is_text, "sha256": _is_text, "excerpt_sha256": _is_text, "lines": _are_lines}
