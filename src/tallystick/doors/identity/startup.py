"""The start-up token: created when the server starts, printed once, stored where only this user can read it.

A program on this machine may call the gate as its owner, and an agent is such a program. Actions reserved for a person
(approving, sending, changing policy or keys) therefore also require this token, or a terminal in the CLI.
"""

import hmac
import os
import secrets
import sys
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from tallystick.errors import ConfigError

TOKEN_BYTES = 32
HEADER = b"x-tally-token"
FOLDER = "startup"


class _Stream(Protocol):
    def isatty(self) -> bool: ...


class StartupToken:
    """The token of one running server."""

    def __init__(self, *, value: str, path: Path | None, cookie_name: str) -> None:
        self.value = value
        self.path = path
        """The token file; None if there is no safe location (then the token is only printed)."""
        self.cookie_name = cookie_name
        """Different for each workspace, because browsers share cookies between the ports of one host."""
        self._bytes = value.encode()

    def __repr__(self) -> str:
        """Show the path, never the token."""
        return f"StartupToken(path={self.path})"

    @classmethod
    def create(
        cls, *, state_dir: Path, workspace: Path, entropy: Callable[[int], bytes] = secrets.token_bytes
    ) -> "StartupToken":
        """Create a token and store it in the state folder, mode 0600.

        If the state folder is inside the workspace, the token is not stored: the gate's file tools could read it.

        Raises:
            ConfigError: The state folder cannot be written.
        """
        name = _name(workspace)
        value = entropy(TOKEN_BYTES).hex()
        path: Path | None = None
        if not state_dir.resolve().is_relative_to(workspace.resolve()):
            path = state_dir / FOLDER / f"{name}.token"
            try:
                _keep(path, value)
            except OSError as error:
                message = f"The state folder cannot take the start-up token: {error.strerror}. Set storage.state_dir."
                raise ConfigError(message, code="state_dir_unwritable") from None
        return cls(value=value, path=path, cookie_name=f"tally_{name}")

    @classmethod
    def kept(cls, *, state_dir: Path, workspace: Path) -> "StartupToken | None":
        """Read the token of this workspace's running server; None if there is no file or other users can read it."""
        name = _name(workspace)
        path = state_dir / FOLDER / f"{name}.token"
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            return None
        with os.fdopen(descriptor, encoding="ascii") as file:
            about = os.fstat(descriptor)
            value = file.read(TOKEN_BYTES * 2 + 1).strip()
        if about.st_mode & 0o077 or about.st_uid != os.getuid() or len(value) != TOKEN_BYTES * 2:
            return None
        return cls(value=value, path=path, cookie_name=f"tally_{name}")

    def close(self) -> None:
        """Delete the file, unless a later server of this workspace has replaced it."""
        if self.path is not None:
            try:
                if self.matches(self.path.read_bytes().strip()):
                    self.path.unlink()
            except OSError:
                pass  # already deleted

    def matches(self, candidate: str | bytes | None) -> bool:
        """Compare in constant time."""
        if candidate is None:
            return False
        given = candidate.encode("utf-8", "surrogatepass") if isinstance(candidate, str) else candidate
        return hmac.compare_digest(given, self._bytes)

    def is_person(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether raw headers have the token: `X-Tally-Token`, `Authorization: Token …`, or the cookie."""
        return any(self.matches(candidate) for candidate in self._candidates(headers))

    def set_cookie(self, *, secure: bool = False) -> str:
        """Return the Set-Cookie value that logs a browser in; it is SameSite, so other sites' pages never send it."""
        return f"{self.cookie_name}={self.value}; Path=/; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")

    def _candidates(self, headers: Iterable[tuple[bytes, bytes]]) -> Iterable[bytes]:
        for name, value in headers:
            if name == HEADER:
                yield value
            elif name == b"authorization":
                scheme, _, token = value.partition(b" ")
                if scheme.lower() == b"token":
                    yield token
            elif name == b"cookie":
                wanted = self.cookie_name.encode()
                pairs = (pair.strip().partition(b"=") for pair in value.split(b";"))
                yield from (given for key, _, given in pairs if key == wanted)


def person_at_terminal(stdin: _Stream | None = None, stderr: _Stream | None = None) -> bool:
    """Return whether a person can be prompted: prompts go to stderr, answers come from stdin."""
    return (stdin or sys.stdin).isatty() and (stderr or sys.stderr).isatty()


def _name(workspace: Path) -> str:
    return sha256(os.fsencode(workspace.resolve())).hexdigest()[:16]


def _keep(path: Path, value: str) -> None:
    """Write a new file and rename it over the old one, so that a planted symlink is never followed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(value + "\n")
    fresh.replace(path)
