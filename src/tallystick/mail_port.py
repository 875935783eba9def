"""The port for mail: rooms choose what to send and which folder to read; `tallystick.providers.net` implements it.

A failure is a value. Its message contains no address, user or password.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Security = Literal["tls", "starttls", "none"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MailServer:
    """A mail server and its login."""

    host: str
    port: int
    security: Security
    """`tls` from the first byte, `starttls` before the login, or `none`, on localhost only."""
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    within_s: float = 20.0
    """Timeout for each response of the server, in seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MailFailure:
    """Why a mail was not sent, or a folder not read."""

    message: str
    unclear: bool = False
    """Whether the mail may still have been accepted: the connection broke before the response."""
    refused: bool = False
    """Whether the server rejected this mail permanently, so a retry is pointless."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadMail:
    """An unread mail."""

    uid: str
    size: int
    data: bytes | None
    """The whole mail; None if it is larger than the limit."""


class MailClient(Protocol):
    """Sends and reads mail; every method blocks."""

    def send(self, server: MailServer, *, sender: str, recipient: str, data: bytes) -> MailFailure | None:
        """Send one mail to one recipient; return None if the server accepted it."""
        ...

    def unread(
        self, server: MailServer, folder: str, *, most: int, most_bytes: int
    ) -> "list[UnreadMail] | MailFailure":
        """Return the oldest unread mails of a folder without marking them as read."""
        ...

    def mark_read(
        self, server: MailServer, folder: str, read: Sequence[str], flagged: Sequence[str] = ()
    ) -> MailFailure | None:
        """Mark mails as read, and some of them as important."""
        ...
