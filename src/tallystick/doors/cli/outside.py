"""Read input from outside: files, keys, session ids."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.exits import Refused, UsageMistake

if TYPE_CHECKING:
    from tallystick.gate.record.checkpoint import NoteVerifier

MAX_KEY_BYTES = 4096
STDIN = "-"

Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        "-k",
        metavar="KEY",
        show_default=False,
        help="The log's public key (`tally keys export`): a file or the line itself.",
    ),
]


def read_file(path: Path, limit: int) -> bytes:
    """Return the bytes of a file, or of stdin if the path is `-`.

    Raises:
        Refused: `file_unreadable` or `file_too_large`.
    """
    try:
        if str(path) == STDIN:
            data = sys.stdin.buffer.read(limit + 1)
        else:
            with path.open("rb") as file:
                data = file.read(limit + 1)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.", code="file_unreadable") from None
    if len(data) > limit:
        name = "What comes in" if str(path) == STDIN else path
        raise Refused(f"{name} is larger than {limit} bytes.", code="file_too_large")
    return data


@contextmanager
def open_lines(path: Path) -> Iterator[Iterable[bytes]]:
    """Open the lines of a file, or of stdin if the path is `-`.

    Raises:
        Refused: `file_unreadable`.
    """
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.", code="file_unreadable") from None
    with file:
        yield file


def checked_session(session: str | None) -> str | None:
    """Validate a session id, if one was given; it names a folder, so not every text is valid.

    Raises:
        UsageMistake: The id is not valid.
    """
    from tallystick.gate.session import valid_session_id

    if session is not None and not valid_session_id(session):
        raise UsageMistake(f"'{session:.60}' is not a session id: use letters, digits, dot, dash and underscore.")
    return session


def read_verifier(key: str) -> "NoteVerifier":
    """Parse a public key from the line itself or from the first line of a file.

    Raises:
        Refused: `key_malformed`: it is neither.
    """
    from tallystick.gate.record.checkpoint import parse_vkey

    lines = [key]
    if "+" not in key or Path(key).is_file():
        lines = read_file(Path(key), MAX_KEY_BYTES).decode("utf-8", errors="replace").splitlines()
    try:
        return parse_vkey(lines[0] if lines else "")
    except ValueError as error:
        raise Refused(f"--key: {error}. `tally keys export` prints it.", code="key_malformed") from None
