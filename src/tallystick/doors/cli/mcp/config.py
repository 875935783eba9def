"""Read an MCP client's config file, show a diff without secrets, and write it."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.exits import Refused
from tallystick.doors.cli.workspace import Here
from tallystick.doors.mcp.relay.clients import BACKUP, HEADER
from tallystick.doors.presentation.visible import visible
from tallystick.errors import ConfigError

if TYPE_CHECKING:
    from tallystick.doors.mcp.relay.clients import Client

_SECRET_NAME = re.compile(
    r"passw|secret|token|credential|api[_.-]?key|authorization|cookie|bearer"
    r"|(?:^|[^a-z])(?:key|pass|pat|pwd|auth|dsn)(?:$|[^a-z])",
    re.IGNORECASE,
)
"""Names of variables and options whose values are secret."""
_IN_ADDRESS = re.compile(r"(://[^/\s:@\"']*:)[^/\s@\"']+@")
_IN_QUERY = re.compile(r"([?&](?=[^?=&\s\"']*(?:key|token|secret|sig|auth))[^?=&\s\"']*+=)[^&\s\"']+", re.IGNORECASE)
_PLACEHOLDER = re.compile(rf": \$\{{({HEADER}\d+)\}}")
_KEPT = re.compile(rf"\ue000({HEADER}\d+)\ue001")
_SHORTEST = 8
"""A secret with at least this many characters is masked anywhere in a line; a shorter one only as a whole value."""


def text_of(path: Path) -> str:
    """Return the file's content with its line endings; empty if it does not exist.

    Raises:
        Refused: `file_unreadable`.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path} cannot be read: {error}.", code="file_unreadable") from None


def servers_in(client: "Client", path: Path, text: str) -> dict[str, Any]:
    """Return the server entries of a config.

    Raises:
        Refused: `config_unreadable`; the message explains how to wrap by hand.
    """
    import tomllib

    try:
        whole = tomllib.loads(text) if client.toml else json.loads(text or "{}")
        servers = whole
        for name in client.key:
            servers = servers.get(name, {})
    except (ValueError, AttributeError) as error:
        message = f"{path} {_what_is_wrong(error)}, or wrap by hand: {BY_HAND}"
        raise Refused(message, code="config_unreadable") from None
    if not isinstance(servers, dict):
        raise Refused(f"{path}: '{client.key[-1]}' is not a table of servers.", code="config_unreadable")
    return servers


def _what_is_wrong(error: ValueError | AttributeError) -> str:
    if isinstance(error, AttributeError):
        return "is no table of settings. Correct it"
    if not isinstance(error, json.JSONDecodeError):
        return f"is not valid TOML: {error}. Correct it"
    if error.doc.startswith(("//", "/*"), error.pos):
        return f"has comments (see line {error.lineno}), which are not plain JSON. Take them out"
    if not error.doc[error.pos :].strip() or error.msg.startswith("Unterminated"):
        return f"breaks off at line {error.lineno}: its JSON has no end. Put back what is missing"
    return f"is not valid JSON: {error.msg} (line {error.lineno}). Correct it"


BY_HAND = (
    'in the server\'s entry, "command" becomes "tally" and "args" becomes '
    '["mcp", "wrap", "--name", NAME, "--", the old command, its old args].'
)


def write(
    here: Here,
    path: Path,
    before: str,
    after: str,
    *,
    yes: bool,
    keep: bool,
    first: Callable[[], None] = lambda: None,
) -> None:
    """Show the diff, ask for confirmation, and write the file.

    Args:
        here: The workspace and the output.
        path: The file.
        before: Its current content.
        after: Its new content.
        yes: Do not ask.
        keep: Keep a backup of the current content.
        first: Called after the confirmation, before anything is written.

    Raises:
        Refused: `not_answered`.
    """
    _show_difference(here, path, before, after)
    if not yes:
        _confirm()
    first()
    path.parent.mkdir(parents=True, exist_ok=True)
    if keep and path.exists():
        shutil.copy2(path, backup_of(path))
    waiting = path.with_name(path.name + ".tally-new")
    waiting.touch(mode=0o600)
    waiting.write_bytes(after.encode())
    if path.exists():
        shutil.copymode(path, waiting)
    waiting.replace(path)
    here.screen.note(f"written: {path}")


def _show_difference(here: Here, path: Path, before: str, after: str) -> None:
    hide = Hiding(here, before, after)
    old, new = hide.lines(_shown(before)), hide.lines(_shown(after))
    for line in unified_diff(old, new, str(path), str(path), lineterm=""):
        sys.stderr.write(visible(line) + "\n")


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise Refused("Not a terminal; use --yes to confirm.", code="not_answered")
    sys.stderr.write("Write this? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise Refused("Nothing was written.", code="not_answered")


def _shown(text: str) -> str:
    """Reformat a one-line JSON file, whose diff would be unreadable."""
    if not text.startswith("{") or "\n" in text.strip():
        return text
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False)


def backup_of(path: Path) -> Path:
    """Return the path of the backup."""
    return path.with_name(path.name + BACKUP)


class Hiding:
    """Masks secrets in output: terminals are recorded, shared and scrolled back."""

    def __init__(self, here: Here, *texts: str) -> None:
        """Collect the secrets in these texts."""
        from tallystick.gate.record.secrets import Redactor

        found = [pair for text in texts for pair in _secrets(_parsed(text))]
        names = {name for name, _ in found if name}
        self._redactor = Redactor(key=b"", names=_configured(here) | names)
        self._values = sorted({value for _, value in found if value}, key=len, reverse=True)

    def lines(self, text: str) -> list[str]:
        """Return the lines of a text with secrets masked."""
        return [self._line(line) for line in text.splitlines()]

    def _line(self, line: str) -> str:
        from tallystick.gate.record.masks import MASK

        for value in self._values:
            for spelled in {json.dumps(value), json.dumps(value, ensure_ascii=False)}:
                line = line.replace(spelled, f'"{MASK}"')
                if len(value) >= _SHORTEST:
                    line = line.replace(spelled[1:-1], MASK)
        # Keep references to variables readable, although they follow a secret name.
        line = _IN_QUERY.sub(rf"\1{MASK}", line)
        line = self._redactor.mask(_PLACEHOLDER.sub("\ue000\\1\ue001", line))
        return _IN_ADDRESS.sub(rf"\1{MASK}@", _KEPT.sub(r": ${\1}", line))


def _configured(here: Here) -> frozenset[str]:
    from tallystick.settings import RedactSettings

    try:
        return here.settings.redact.keys
    except ConfigError:
        # Problems in the folder's own configuration do not matter here.
        return RedactSettings().keys


def _parsed(text: str) -> Any:
    import tomllib

    try:
        return json.loads(text or "{}")
    except ValueError:
        return tomllib.loads(text)


def _secrets(value: Any, *, all_of: bool = False) -> Iterator[tuple[str, str]]:
    """Yield name and value of every secret; values in a list of words have no name."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, str) and (all_of or name.startswith(HEADER) or _SECRET_NAME.search(name)):
                yield name, item
            else:
                yield from _secrets(item, all_of=name in {"headers", "http_headers"})
    elif isinstance(value, list):
        yield from (("", word) for word in _secret_words(value))
        for item in value:
            if not isinstance(item, str):
                yield from _secrets(item)


def _secret_words(words: Iterable[Any]) -> Iterator[str]:
    """Yield words that follow an option such as `--api-key`, and values of assignments such as `GITHUB_TOKEN=…`."""
    before = ""
    for word in words:
        if isinstance(word, str):
            name, equals, value = word.partition("=")
            if equals and _SECRET_NAME.search(name):
                yield value
            elif before.startswith("-") and _SECRET_NAME.search(before) and not word.startswith("-"):
                yield word
            before = "" if equals else word
