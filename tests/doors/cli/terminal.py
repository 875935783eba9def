"""Run `tally` the way a person does: with a terminal on stdin and stderr."""

import os
import pty
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.house.sources import ROOT


@dataclass(frozen=True, kw_only=True)
class Typed:
    """What came of it."""

    code: int
    out: str
    screen: str
    """What was shown on the terminal."""


def at_terminal(
    *words: str, folder: Path, state: Path, answer: str = "", stdout: bool = False, **environ: str
) -> Typed:
    """Run a command with a terminal; `answer` is typed once a question stands there.

    `stdout` puts the result on the terminal too.
    """
    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "TALLY_STATE_DIR": str(state),
        "TERM": "dumb",
        **environ,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tallystick", *words],
        cwd=folder, env=environment, stdin=theirs, stdout=theirs if stdout else subprocess.PIPE, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown, asked = b"", False
    # `select` takes no descriptor above 1,023, and a long run of tests may hold more.
    terminal = select.poll()
    terminal.register(ours, select.POLLIN)
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        ready = terminal.poll(100)
        if ready:
            try:
                more = os.read(ours, 65536)
            except OSError:
                break  # the other end is closed: the command has ended
            shown += more
        if not asked and b"[y/N]" in shown:
            os.write(ours, answer.encode() + b"\n")
            asked = True
        if not ready and process.poll() is not None:
            break
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    return Typed(code=process.returncode, out=(out or b"").decode(), screen=shown.decode(errors="replace"))
