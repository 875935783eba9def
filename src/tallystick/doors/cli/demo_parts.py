"""The parts of `tally demo`, each on its own: what it lays into the folder, what it shows, what to try after it.

A part is one module with `prepare(folder)` and `play(stage)`; it is loaded when it is its turn. To add one, write the
module and name it in `PARTS`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.screen import Screen

if TYPE_CHECKING:
    from tallystick.app import Gate


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Where a part is played."""

    gate: "Gate"
    screen: Screen


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a part came to."""

    ok: bool
    data: dict[str, Any] = field(default_factory=dict)
    """For machines."""
    try_next: tuple[str, ...] = ()
    """Commands that go on from here, to be typed in the demo's folder."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of the demo."""

    name: str
    title: str
    module: str

    @property
    def prepare(self) -> Callable[[Path], str]:
        """Lays what the part needs into a folder; gives a line about it. Never writes over anything.

        Raises:
            Refused: The folder cannot be used.
        """
        made: Callable[[Path], str] = import_module(self.module).prepare
        return made

    @property
    def play(self) -> Callable[[Stage], Shown]:
        """Shows the part."""
        made: Callable[[Stage], Shown] = import_module(self.module).play
        return made


PARTS = (
    Part(
        name="studio",
        title="A conference about a novel that contradicts itself",
        module="tallystick.rooms.studio.demo",
    ),
    Part(
        name="insight",
        title="What two months of support tickets say",
        module="tallystick.rooms.insight.demo",
    ),
    Part(
        name="desk",
        title="Three customers write to a support desk",
        module="tallystick.rooms.desk.demo",
    ),
    Part(
        name="memory",
        title="A memory that a loud voice does not change",
        module="tallystick.rooms.memory.demo",
    ),
)
"""In the order they are played."""
