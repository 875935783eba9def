"""Parse the command line of `tally mcp wrap` without Typer, which alone takes longer to load than the relay may.

tally mcp wrap [--workspace DIR] [--policy FILE] [--name NAME] [--strict] … -- COMMAND…
tally mcp wrap [--header 'Name: value'] … --url URL
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.mcp.relay.names import host_name, safe_name, server_name

if TYPE_CHECKING:
    from tallystick.doors.mcp.relay.options import Wrapping

USAGE = "Usage: tally mcp wrap [OPTIONS] -- COMMAND…   (or --url URL). See 'tally mcp wrap --help'."
RELAYS = Path("~/.tallystick/relay")
"""Clients start servers in any folder, so the workspaces are in one fixed place."""

GATEWAY = Path("~/.tallystick/gateway")
"""The workspace of `tally mcp gateway`."""

_TEXT: dict[str, str] = {
    "--workspace": "workspace",
    "-w": "workspace",
    "--policy": "policy",
    "--name": "name",
    "--url": "url",
}
_FLAGS: dict[str, dict[str, bool]] = {
    "--strict": {"strict": True},
    "--trust-new": {"trust_new": True},
    "--quiet": {"quiet": True},
    "-q": {"quiet": True},
    "--json": {},  # every command accepts it; the relay's output is JSON anyway
}
_NUMBERS: dict[str, tuple[str, Callable[[str], float]]] = {
    "--timeout": ("timeout_s", float),
    "--start-timeout": ("start_timeout_s", float),
    "--hold": ("hold_s", float),
    "--max-output": ("max_output", int),
}


class WordsError(Exception):
    """The command line is not valid."""


def begin(words: Sequence[str]) -> int:
    """Run `tally mcp wrap` with these arguments; return the exit code."""
    try:
        wrapping = read_words(words)
    except WordsError as error:
        sys.stderr.write(f"error: usage: {error} {USAGE}\n")
        return 2
    from tallystick.doors.mcp.relay.wrap import wrap

    return wrap(wrapping)


def read_words(words: Sequence[str]) -> "Wrapping":
    """Parse the command line.

    Raises:
        WordsError: It is not valid.
    """
    given: dict[str, Any] = {}
    headers: list[str] = []
    command: tuple[str, ...] = ()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--" or not word.startswith("-"):
            command = tuple(rest) if word == "--" else (word, *rest)
            break
        option, equals, value = word.partition("=")
        if option in _FLAGS and not equals:
            given |= _FLAGS[option]
        elif option in _TEXT or option in _NUMBERS or option == "--header":
            if not equals:
                if not rest:
                    raise WordsError(f"{option} needs a value.")
                value = rest.pop(0)
            if option == "--header":
                headers.append(value)
            else:
                given |= _read(option, value)
        else:
            raise WordsError(f"There is no option {option}.")
    return _joined(given, tuple(headers), command)


def workspace_of(name: str) -> Path:
    """Return the default workspace of a wrapped server."""
    return RELAYS.expanduser() / name


def _read(option: str, value: str) -> dict[str, Any]:
    if option in _TEXT:
        return {_TEXT[option]: value}
    field, kind = _NUMBERS[option]
    try:
        number = kind(value)
    except ValueError:
        raise WordsError(f"{option} needs a number.") from None
    if not (number > 0 or (number == 0 and option == "--hold")) or number > 10**12:
        raise WordsError(f"{option} needs a number above 0.")
    return {field: number}


def _joined(given: dict[str, Any], headers: tuple[str, ...], command: tuple[str, ...]) -> "Wrapping":
    from tallystick.doors.mcp.relay.options import Wrapping

    url = given.get("url")
    if (url is None) == (not command):
        wrong = "Give the server's command after `--`, or its address with --url; not both." if command else ""
        raise WordsError(wrong or "Which server? Give its command after `--`, or its address with --url.")
    if url is not None and not str(url).startswith(("http://", "https://")):
        raise WordsError("--url needs an address that begins with http:// or https://.")
    if headers and url is None:
        raise WordsError("--header is for --url.")
    if any(":" not in header for header in headers):
        raise WordsError("--header needs 'Name: value'.")
    named = given.pop("name", None)
    found = host_name(str(url)) if url is not None else server_name(command)
    name = safe_name(named) if named is not None else found
    workspace = Path(given.pop("workspace", None) or workspace_of(name)).expanduser().absolute()
    return Wrapping(command=command, headers=headers, name=name, workspace=str(workspace), **given)
