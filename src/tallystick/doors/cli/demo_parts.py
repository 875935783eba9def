"""A part of `tally demo`: what it puts into the folder, what it shows, what to try next. Each room brings its own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.screen import Screen

if TYPE_CHECKING:
    from tallystick.app.gate import Gate


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Where a part is played."""

    gate: "Gate"
    screen: Screen


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The result of a part."""

    ok: bool
    data: dict[str, Any] = field(default_factory=dict)
    """For programs."""
    try_next: tuple[str, ...] = ()
    """Commands to try next in the demo's folder."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of the demo."""

    name: str
    title: str
    prepare: Callable[[Path], str]
    """Puts what the part needs into a folder and returns a line about it. Never overwrites anything."""
    play: Callable[[Stage], Shown]
    """Shows the part."""
    order: int = 50
    """Parts are played in this order."""
