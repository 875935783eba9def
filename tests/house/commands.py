"""Run a command the way a newcomer would: in an empty folder and environment, with `tally` as this source has it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.house.sources import ROOT

HELP_WIDTH = "80"
"""How wide the command line's help stands in the README."""


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run in the folder; nothing is read from the terminal, nothing is written outside the folder."""
    tools = folder / ".bin"
    tools.mkdir(exist_ok=True)
    if not (tools / "tally").exists():
        (tools / "tally").write_text(
            f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tallystick "$@"\n', encoding="utf-8"
        )
        (tools / "tally").chmod(0o755)
    environment = {
        "PATH": os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(folder),
        # Model files are fetched once for a machine, not by each command.
        "XDG_DATA_HOME": os.environ.get("XDG_DATA_HOME", str(Path.home() / ".local" / "share")),
        "TALLY_STATE_DIR": str(folder / ".state"),
        # The source goes first; what follows may hold the entry points of the rooms.
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")])),
        "COLUMNS": HELP_WIDTH,
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
