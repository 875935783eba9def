"""The interface for a part of `tally demo`, which each room can provide."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.screen import Screen

if TYPE_CHECKING:
    from tallystick.app.gate import Gate


@dataclass(frozen=True, kw_only=True)
class DemoContext:
    """What a part needs to run."""

    gate: "Gate"
    screen: Screen


@dataclass(frozen=True, kw_only=True)
class DemoResult:
    """The result of a part."""

    ok: bool
    data: dict[str, Any] = field(default_factory=dict)
    """The result as JSON, for programs."""
    try_next: tuple[str, ...] = ()
    """Commands to try next in the demo's folder."""


@dataclass(frozen=True, kw_only=True)
class DemoPart:
    """One part of the demo."""

    name: str
    title: str
    prepare: Callable[[Path], str]
    """Creates the part's files in a folder and returns a line about them. Never overwrites anything."""
    play: Callable[[DemoContext], DemoResult]
    """Runs the part."""
    order: int = 50
    """Parts run in this order."""
