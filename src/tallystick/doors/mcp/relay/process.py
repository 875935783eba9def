"""A server process connected over stdio.

It runs in its own process group, so that its children end with it: the real server is often the child of a launcher. It
is stopped by closing its input, then by SIGTERM, then by SIGKILL. If this process is itself killed, a small shell does
the same in its place: it reads a pipe that only this process holds, and the end of the pipe means that this process has
ended.
"""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence

from tallystick.errors import ConfigError

PATIENCE_S = 2.0
"""Seconds between closing the input, SIGTERM and SIGKILL."""
SHELL = "/bin/sh"
GUARD = 'read -r _ || { sleep "$2"; kill -s TERM -- "-$1"; sleep "$2"; kill -s KILL -- "-$1"; }'
"""A line means a normal shutdown with nothing left to do; only end-of-file without a line triggers the signals."""


class ServerProcess:
    """One server process."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None) -> None:
        """Start the process.

        Args:
            command: The program and its arguments.
            env: The process's variables; those of this process without it.
            cwd: The folder to start it in.

        Raises:
            ConfigError: The command does not exist or cannot be run.
        """
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env=None if env is None else dict(env),
                cwd=cwd,
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
        """The exit code; None while the process runs."""
        return self._process.returncode

    def watch(self, on_exit: Callable[[], None]) -> None:
        """Call `on_exit` on a separate thread when the process has ended."""

        def wait() -> None:
            self._process.wait()
            self._gone.set()
            on_exit()

        threading.Thread(target=wait, name="upstream", daemon=True).start()

    def close_input(self) -> None:
        """Close the process's stdin."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def end(self, patience_s: float = PATIENCE_S) -> None:
        """Stop the process and its children and block until it has ended; call it from a thread that may wait."""
        self.close_input()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._signal(number)
            if self._gone.wait(patience_s):
                break
        # A launcher may have ended while its child is still running.
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
    """Start a shell that ends this process group if we are killed; None where there is no shell."""
    try:
        # In its own session, so that a signal to our group does not end it too. It holds none of our streams.
        return subprocess.Popen(  # noqa: S603 - a fixed command and a number
            [SHELL, "-c", GUARD, "tallystick", str(group), f"{PATIENCE_S:g}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        return None
