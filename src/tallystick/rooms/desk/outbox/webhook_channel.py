"""Replies posted to a webhook, signed, with a key that stays the same however often it is tried.

Headers: `Idempotency-Key`, and `X-Tally-Signature: sha256=<hex>`, the HMAC-SHA256 of key, a dot and the body under the
secret that both sides know. The key is in what is signed, so that a message cannot be played again under another.
"""

from hashlib import sha256
from hmac import new

import orjson

from tallystick.rooms.desk.nouns import Outgoing
from tallystick.storage.journal.posting import Address, post

WITHIN_S = 10.0
"""One try takes no longer."""


class WebhookChannel:
    """One receiver. Redirects are not followed, and only https leaves this machine."""

    repeatable = True

    def __init__(self, address: Address, secret: bytes) -> None:
        self._address = address
        self._secret = secret

    def deliver(self, message: Outgoing) -> None:
        """See `Channel`."""
        body = orjson.dumps({"key": message.key, **message.payload})
        headers = {
            "Content-Type": "application/json", "Idempotency-Key": message.key,
            "X-Tally-Signature": f"sha256={signature(self._secret, message.key, body)}",
        }  # fmt: skip
        post(self._address, body, WITHIN_S, headers=headers)


def signature(secret: bytes, key: str, body: bytes) -> str:
    """What a receiver computes to see that a message is ours and as we sent it."""
    return new(secret, key.encode() + b"." + body, sha256).hexdigest()
