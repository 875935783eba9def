"""Mail as a port: rooms say what goes out and which folder is read; `tallystick.providers.net` talks to the servers.

A failure is a value. Its message holds no address, user or password.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Security = Literal["tls", "starttls", "none"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MailServer:
    """A server and the login for it."""

    host: str
    port: int
    security: Security
    """`tls` from the first byte, `starttls` before the login, `none` only on this machine."""
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    within_s: float = 20.0
    """Seconds for each answer of the server."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MailFailure:
    """Why a mail was not sent or a folder not read."""

    message: str
    unclear: bool = False
    """Whether the mail may have been accepted all the same: the connection ended while its answer was due."""
    refused: bool = False
    """Whether the server refused this mail for good; trying again would end the same way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadMail:
    """A mail that nobody has read."""

    uid: str
    size: int
    data: bytes | None
    """The whole mail; None if it is larger than asked for."""


class MailClient(Protocol):
    """Sends and reads mail; every method blocks."""

    def send(self, server: MailServer, *, sender: str, recipient: str, data: bytes) -> MailFailure | None:
        """Send one mail to one recipient; None if the server took it."""
        ...

    def unread(
        self, server: MailServer, folder: str, *, most: int, most_bytes: int
    ) -> "list[UnreadMail] | MailFailure":
        """Return the oldest unread mails of a folder, and leave them unread."""
        ...

    def mark_read(
        self, server: MailServer, folder: str, read: Sequence[str], flagged: Sequence[str] = ()
    ) -> MailFailure | None:
        """Mark mails as read, and some of them as important."""
        ...
