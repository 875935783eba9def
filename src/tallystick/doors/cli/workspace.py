"""Find and open the workspace."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
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

    @cached_property
    def workspace(self) -> Path:
        """The named folder, else the nearest parent that is a workspace, else the current folder."""
        if self.named is not None:
            return self.named.expanduser().absolute()
        try:
            here = Path.cwd()
        except FileNotFoundError:
            raise ConfigError("The current folder is gone. Give --workspace DIR.", code="no_workspace") from None
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
        return self.workspace

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
    def gate(self, *, plugins: bool = False, make: bool = False) -> Iterator["Gate"]:
        """Open the workspace.

        Args:
            plugins: Load the configured tools and the installed rooms.
            make: Create the workspace if there is none.
        """
        workspace = self.open_workspace() if make else self.require_workspace()
        from tallystick.app.gate import Gate
        from tallystick.settings import CONTROL_ROOM
        from tallystick.telemetry.observer import Telemetry

        with closing(Telemetry.open(self.settings, control_room=workspace / CONTROL_ROOM)) as telemetry:
            with running_tools():
                gate = Gate.open(workspace, settings=self.settings, plugins=plugins, observer=telemetry)
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
