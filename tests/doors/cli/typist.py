"""Somebody at a terminal: types when what they wait for stands on the screen."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.house.sources import ROOT

PATIENCE_S = 240
CTRL_C, CTRL_D = "\x03", "\x04"
_TAKES_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "tallystick", *sys.argv[1:]])
"""
"""Makes the terminal the command's own, so that Ctrl-C typed there becomes a signal."""


class Typist:
    """One command with a terminal on all three streams."""

    def __init__(self, *words: str, folder: Path, state: Path) -> None:
        self._ours, theirs = pty.openpty()
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT / "src"), "TALLY_STATE_DIR": str(state), "TERM": "xterm",
            "COLUMNS": "200",
        }  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TAKES_TERMINAL, *words], cwd=folder, env=environment,
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.screen = ""
        self._seen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._ours)

    def types(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def presses_until(self, key: str, text: str) -> None:
        """Press a key, again after a while: one that comes while a prompt is being drawn can be lost, to people too."""
        for _ in range(PATIENCE_S):
            self.types(key)
            deadline = time.monotonic() + 1
            while time.monotonic() < deadline and self._read():
                if text in self.screen[self._seen :]:
                    self.until(text)
                    return
        raise AssertionError(self.screen)

    def until(self, text: str) -> str:
        """Wait until this stands on the screen, after what was waited for before; gives what came with it."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.screen[self._seen :]:
            assert time.monotonic() < deadline, self.screen
            assert self._read(), f"ended without {text!r}: {self.screen}"
        end = self.screen.index(text, self._seen) + len(text)
        said, self._seen = self.screen[self._seen : end], end
        return said

    def ended(self) -> int:
        """Wait for its end; gives the exit code."""
        while self._read():
            pass
        return self._process.wait(PATIENCE_S)

    def _read(self) -> bool:
        # `select` takes no descriptor above 1,023, and a long run of tests may hold more.
        terminal = select.poll()
        terminal.register(self._ours, select.POLLIN)
        if not terminal.poll(1000):
            return self._process.poll() is None
        try:
            more = os.read(self._ours, 65536)
        except OSError:
            return False  # the other end is closed: the command has ended
        self.screen += more.decode(errors="replace")
        return bool(more)
