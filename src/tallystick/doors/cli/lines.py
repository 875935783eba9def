"""Read lines from the terminal or from a pipe."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from tallystick.doors.cli.workspace import Here

MAX_LINE = 1024 * 1024
"""Maximum characters read per message; the conversation reports a message that is too long for the agent."""
HISTORY_LINES = 1000


def next_line() -> str | None:
    """Return the next line; None at the end of input."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline(MAX_LINE)
        return line.rstrip("\n") if line else None
    try:
        return input("> ")
    except EOFError:
        sys.stderr.write("\n")
        return None


def read_stdin() -> str:
    """Read a message from stdin, up to the maximum length."""
    return sys.stdin.buffer.read(MAX_LINE).decode("utf-8", errors="replace")


@contextlib.contextmanager
def line_history(here: Here) -> Iterator[None]:
    """Enable line history with the arrow keys, across conversations."""
    if not sys.stdin.isatty():
        yield
        return
    try:
        import readline
    except ImportError:  # some systems lack it; then there is no history
        yield
        return
    file: Path = here.settings.state_dir() / "chat-history"
    with contextlib.suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(HISTORY_LINES)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600)
            readline.write_history_file(file)
