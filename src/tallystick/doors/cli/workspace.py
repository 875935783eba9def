"""Find and open the workspace."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.screen import Screen
from tallystick.errors import ConfigError

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.plugin import Manifest
    from tallystick.settings import Settings

MARKS = (".control-room", "tallystick.toml")
"""A folder with one of these is a workspace. (The settings own the names, but are too slow to load for --help.)"""


@dataclass(frozen=True, kw_only=True)
class Here:
    """The workspace and the output of a command."""

    named: Path | None
    """The value of `--workspace`."""
    screen: Screen
    room: str | None = None
    """The room whose command runs; using it switches the room on."""

    def elsewhere(self, folder: Path) -> "Here":
        """Return the same command in another folder."""
        return replace(self, named=folder)

    @cached_property
    def workspace(self) -> Path:
        """The named folder, else the nearest parent that is a workspace, else the current folder."""
        if self.named is not None:
            return self.named.expanduser().absolute()
        try:
            here = Path.cwd()
        except FileNotFoundError:
            raise ConfigError(
                "The current folder no longer exists. Use --workspace DIR.", code="no_workspace"
            ) from None
        return next((folder for folder in (here, *here.parents) if _is_workspace(folder)), here)

    @cached_property
    def settings(self) -> "Settings":
        """The configuration of the workspace."""
        from tallystick.settings import load_settings

        return load_settings(self.workspace)

    def options_of(self, manifest: "Manifest") -> Any:
        """Return the settings of one room, validated by its model.

        Raises:
            ConfigError: An unknown key or a wrong value; the message names it.
        """
        from tallystick.app.room_context import options_of

        return options_of(manifest, self.settings)

    def open_workspace(self) -> Path:
        """Return the workspace, which need not exist yet.

        Raises:
            ConfigError: It is Tallystick's own state folder.
        """
        if self.workspace.resolve().is_relative_to(self.settings.state_dir().resolve()):
            # The start-up token is there; in a workspace, the tools could read it.
            message = f"{self.workspace} is the state folder. Give the folder of a project."
            raise ConfigError(message, code="not_a_workspace")
        if self.room is not None:
            self.switch_on(self.room)
        return self.workspace

    def switch_on(self, room: str) -> None:
        """Switch a room on in this workspace unless it is on, and say so.

        Raises:
            ConfigError: `tallystick.toml` cannot be changed.
        """
        from tallystick.app.room_switch import rooms_on, switch_rooms

        if room in rooms_on(self.workspace, self.settings):
            return
        switch_rooms(self.workspace, on=[room])
        self.__dict__.pop("settings")
        self.screen.note(f"The room {room} is now on (tallystick.toml); `tally rooms off {room}` switches it off.")

    def switch_on_for_chat(self) -> None:
        """Switch on the rooms that agents read the workspace with, unless the configuration says which rooms are on."""
        from tallystick.app.discovery import manifests

        self.open_workspace()
        if self.settings.rooms.enabled is None:
            for name, manifest in manifests().items():
                if manifest.chat and not manifest.missing():
                    self.switch_on(name)

    def require_workspace(self) -> Path:
        """Return the workspace, for commands that must not create one.

        Raises:
            ConfigError: There is none.
        """
        if not _is_workspace(self.workspace):
            message = (
                f"{self.workspace} is not a workspace (no .control-room, no tallystick.toml). Give --workspace DIR, or "
                "put an empty tallystick.toml there to make it one."
            )
            raise ConfigError(message, code="no_workspace")
        return self.open_workspace()

    @contextmanager
    def gate(
        self, *, plugins: bool = False, make: bool = False, rooms: Iterable[str] | None = None
    ) -> Iterator["Gate"]:
        """Open the workspace.

        Args:
            plugins: Load the configured tools and the rooms that are on.
            make: Create the workspace if there is none.
            rooms: The rooms to open instead of those that are on.
        """
        workspace = self.open_workspace() if make else self.require_workspace()
        from tallystick.app.gate import Gate
        from tallystick.app.room_switch import unused_sections
        from tallystick.settings import CONTROL_ROOM
        from tallystick.telemetry.observer import Telemetry

        with closing(Telemetry.open(self.settings, control_room=workspace / CONTROL_ROOM)) as telemetry:
            with running_tools():
                gate = Gate.open(workspace, settings=self.settings, plugins=plugins, observer=telemetry, rooms=rooms)
            for notice in unused_sections(self.settings) if plugins else ():
                self.screen.note(f"tallystick.toml: {notice}")
            with gate:
                yield gate


@contextmanager
def running_tools() -> Iterator[None]:
    """Redirect output of tools to stderr while they load or run: from Python, from C and from child processes.

    Stack traces stay in the log, which is only shown with `TALLY_DEBUG`.
    """
    import logging

    from tallystick.settings import debugging

    sys.stdout.flush()
    results, kept = sys.stdout, os.dup(1)
    log = logging.getLogger("tallystick")
    level = log.level
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    if not debugging():
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        sys.stdout = results
        log.setLevel(level)
        os.dup2(kept, 1)
        os.close(kept)


def _is_workspace(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in MARKS)
