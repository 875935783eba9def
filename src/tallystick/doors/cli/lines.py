"""What a person types, line by line, and what is piped in."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from tallystick.doors.cli.workspace import Here

MAX_LINE = 1024 * 1024
"""Characters that are read of one message; what is too long for an agent is said by the conversation."""
HISTORY_LINES = 1000


def next_line() -> str | None:
    """What was typed; None at the end of input."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline(MAX_LINE)
        return line.rstrip("\n") if line else None
    try:
        return input("> ")
    except EOFError:
        sys.stderr.write("\n")
        return None


def read_stdin() -> str:
    """All of standard input, as far as a message goes."""
    return sys.stdin.buffer.read(MAX_LINE).decode("utf-8", errors="replace")


@contextlib.contextmanager
def line_history(here: Here) -> Iterator[None]:
    """Arrow keys bring back earlier lines, also those of earlier conversations."""
    if not sys.stdin.isatty():
        yield
        return
    try:
        import readline
    except ImportError:  # some systems come without it; then there are no arrow keys
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
