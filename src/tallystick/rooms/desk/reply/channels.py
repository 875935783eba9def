"""Delivery channels: files in a folder, a signed webhook, and mail."""

import re
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import localtime, parseaddr
from pathlib import Path
from typing import Protocol

import orjson

from tallystick.errors import ConfigError
from tallystick.http_port import SUCCESS, HttpAddress, HttpClient, HttpFailure, HttpRequest, parse_address
from tallystick.mail_port import MailClient, MailServer
from tallystick.rooms.desk.model import Outgoing
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.ports import Undelivered
from tallystick.rooms.desk.webhook_signature import SIGNATURE, TIMESTAMP, sign
from tallystick.storage.journal import disk

SUBJECT = "Re: your message"
UNCLEAR = "end_unclear"
_MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,300}>")
NOBODY = "undisclosed-recipients:;"


class FileChannel:
    """A folder."""

    repeatable = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def deliver(self, message: Outgoing) -> None:
        """See `Channel`."""
        whole = self._folder / f"{message.key}.json"
        try:
            disk.make_folder(self._folder)
            # An earlier attempt wrote the same; it may have been picked up since.
            if disk.read_whole(whole) is not None:
                return
            disk.write_whole(self._folder / f"{message.key}.eml", _mail(message))
            disk.write_whole(whole, orjson.dumps({"key": message.key, **message.payload}))
        except OSError as error:
            raise Undelivered(f"the folder cannot be written ({error.strerror or 'unknown'})") from None


WITHIN_S = 10.0
"""One try takes no longer."""


class WebhookChannel:
    """One receiver. Redirects are not followed, and only https leaves this machine."""

    repeatable = True

    def __init__(self, http: HttpClient, address: HttpAddress, secret: bytes, now_s: Callable[[], int]) -> None:
        self._http = http
        self._address = address
        self._secret = secret
        self._now_s = now_s

    def deliver(self, message: Outgoing) -> None:
        """See `Channel`."""
        body = orjson.dumps({"key": message.key, **message.payload})
        signed = sign(self._secret, body, now_s=self._now_s())
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": message.key,
            TIMESTAMP: signed.timestamp,
            SIGNATURE: signed.signature,
        }
        request = HttpRequest(method="POST", address=self._address, headers=headers, body=body, within_s=WITHIN_S)
        answer = self._http.send_sync(request)
        if isinstance(answer, HttpFailure):
            raise Undelivered(answer.message)
        if answer.status not in SUCCESS:
            raise Undelivered(f"status {answer.status}")


class MailChannel:
    """A mail server. The same mail given twice arrives twice, so one whose end is unclear is left to a person."""

    repeatable = False

    def __init__(self, mail: MailClient, server: MailServer, address: str) -> None:
        self._mail = mail
        self._server = server
        self._address = address

    def deliver(self, message: Outgoing) -> None:
        """See `Channel`."""
        recipient = recipient_of(message)
        if recipient is None:
            raise Undelivered("the customer has no mail address", final=True)
        data = _mail(message, sender=self._address)
        failure = self._mail.send(self._server, sender=self._address, recipient=recipient, data=data)
        if failure is not None:
            raise Undelivered(UNCLEAR if failure.unclear else failure.message, final=failure.unclear or failure.refused)


class Channel(Protocol):
    """A delivery channel."""

    @property
    def repeatable(self) -> bool:
        """Whether the same key sent twice arrives once; a message whose end is unclear is tried again only then."""
        ...

    def deliver(self, message: Outgoing) -> None:
        """Send a message with its key.

        Raises:
            Undelivered: It was not taken, or nobody knows; the text says why and names no address.
        """
        ...


def channels_of(
    options: Options,
    workspace: Path,
    http: HttpClient,
    mail: Callable[[], MailClient],
    now_s: Callable[[], int],
) -> Mapping[str, Channel]:
    """The channels that can be used.

    Raises:
        ConfigError: Webhook or mail is chosen and cannot be used as it is set.
    """
    found: dict[str, Channel] = {"file": FileChannel(workspace / options.outbox_folder)}
    server = None if options.mail is None else options.mail.smtp()
    if options.mail is not None and server is not None:
        found["mail"] = MailChannel(mail(), server, options.mail.address)
    elif options.channel == "mail":
        message = "rooms.desk.mail: the channel is 'mail', so give address and smtp_host."
        raise ConfigError(message, code="config_bad_value")
    if options.webhook_url is not None:
        address = parse_address(options.webhook_url, private=True)
        if address is None:
            message = "rooms.desk.webhook_url: give an https URL, or http to this machine."
            raise ConfigError(message, code="config_bad_value")
        if options.webhook_secret is None:
            message = "rooms.desk.webhook_secret: the receiver needs it to know that a message is ours. Set one."
            raise ConfigError(message, code="config_bad_value")
        secret = options.webhook_secret.get_secret_value().encode()
        found["webhook"] = WebhookChannel(http, address, secret, now_s)
    elif options.channel == "webhook":
        raise ConfigError("rooms.desk.webhook_url: the channel is 'webhook', so give one.", code="config_bad_value")
    return found


def recipient_of(message: Outgoing) -> str | None:
    """The customer's address; None if what stands there is none."""
    given = str(message.payload.get("to") or "")
    _, address = parseaddr(given)
    # A line break would begin another header, and a name that is no address would be one that nobody can read.
    plain = given.isprintable() and address.isascii() and address.count("@") == 1 and " " not in address
    return address if plain and address else None


def _mail(message: Outgoing, *, sender: str | None = None) -> bytes:
    mail = EmailMessage(policy=SMTP)
    mail["To"] = recipient_of(message) or NOBODY
    mail["Subject"] = SUBJECT
    domain = "tallystick.invalid" if sender is None else sender.rpartition("@")[2]
    mail["Message-ID"] = f"<{message.key}@{domain}>"
    if sender is not None:
        mail["From"] = sender
        mail["Date"] = localtime()
        # Other programs must not answer it by themselves.
        mail["Auto-Submitted"] = "auto-replied"
    thread = str(message.payload.get("thread_id") or "")
    if _MESSAGE_ID.fullmatch(thread):
        mail["In-Reply-To"] = mail["References"] = thread
    mail["X-Tally-Idempotency-Key"] = message.key
    mail.set_content(str(message.payload.get("text", "")))
    return mail.as_bytes()
