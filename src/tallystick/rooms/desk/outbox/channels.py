"""Ways out: what a channel is, and which ones the settings name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tallystick.errors import ConfigError
from tallystick.rooms.desk.nouns import Outgoing
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.outbox.file_channel import FileChannel
from tallystick.rooms.desk.outbox.webhook_channel import WebhookChannel
from tallystick.storage.journal.posting import parse_address


class Channel(Protocol):
    """One way out."""

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


def channels_of(options: Options, workspace: Path) -> Mapping[str, Channel]:
    """The channels that can be used.

    Raises:
        ConfigError: The webhook is chosen and cannot be used as it is set.
    """
    found: dict[str, Channel] = {"file": FileChannel(workspace / options.outbox_folder)}
    if options.webhook_url is not None:
        address = parse_address(options.webhook_url)
        if address is None:
            message = "rooms.desk.webhook_url: give an https URL, or http to this machine."
            raise ConfigError(message, code="config_bad_value")
        if options.webhook_secret is None:
            message = "rooms.desk.webhook_secret: the receiver needs it to know that a message is ours. Set one."
            raise ConfigError(message, code="config_bad_value")
        found["webhook"] = WebhookChannel(address, options.webhook_secret.get_secret_value().encode())
    elif options.channel == "webhook":
        raise ConfigError("rooms.desk.webhook_url: the channel is 'webhook', so give one.", code="config_bad_value")
    return found
