"""A server that is started here and spoken to over stdio.

It runs in a process group of its own, so that whatever it started ends with it: the real server is often the child of
a launcher. It is asked to end by closing its input, then by a signal, then by one that cannot be ignored.

If this process is itself ended by a signal that it cannot catch, a small shell does the same in its place: it waits at
a pipe that only this process holds, and the end of the pipe is the end of this process.
"""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence

from tallystick.errors import ConfigError

PATIENCE_S = 2.0
"""Between closing its input, asking it to end, and ending it."""
SHELL = "/bin/sh"
GUARD = 'read -r _ || { sleep "$2"; kill -s TERM -- "-$1"; sleep "$2"; kill -s KILL -- "-$1"; }'
"""A line means that all is well and there is nothing left to do. Only the end of the pipe without one is an end."""


class ServerProcess:
    """One server process."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it.

        Raises:
            ConfigError: There is no such command, or it cannot be run.
        """
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
            )
        except FileNotFoundError:
            message = f"'{command[0]}' is not there. Install it, or give its whole path after `--`."
            raise ConfigError(message, code="command_not_found") from None
        except OSError as error:
            message = f"'{command[0]}' cannot be started: {error.strerror}. Check that it is a program."
            raise ConfigError(message, code="command_not_started") from None
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018 - both are pipes
        self.input, self.output = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._gone = threading.Event()
        self._guard = _guard(self._process.pid)

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.returncode

    def watch(self, on_exit: Callable[[], None]) -> None:
        """Call this, on a thread of its own, when the process has ended."""

        def wait() -> None:
            self._process.wait()
            self._gone.set()
            on_exit()

        threading.Thread(target=wait, name="upstream", daemon=True).start()

    def close_input(self) -> None:
        """Say that nothing more will come."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def end(self, patience_s: float = PATIENCE_S) -> None:
        """End it and everything it started; gives back when it is gone, so this is for a thread that may wait."""
        self.close_input()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._signal(number)
            if self._gone.wait(patience_s):
                break
        # A launcher may be gone while what it launched is not.
        self._signal(signal.SIGKILL)
        if self._guard is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._guard.communicate(b"\n", timeout=patience_s)
        if self._process.stdout is not None:
            with contextlib.suppress(OSError):
                self._process.stdout.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _guard(group: int) -> "subprocess.Popen[bytes] | None":
    """Somebody who ends this process group if we are killed; None where there is no shell to do it."""
    try:
        # A session of its own, so that what ends us as a group does not end it, too. It holds none of our streams.
        return subprocess.Popen(  # noqa: S603 - fixed words, and a number
            [SHELL, "-c", GUARD, "tallystick", str(group), f"{PATIENCE_S:g}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        return None
