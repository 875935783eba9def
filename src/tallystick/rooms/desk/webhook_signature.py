"""Webhook signatures, inbound and outbound: HMAC-SHA256 over timestamp and body, to prevent replay."""

from hashlib import sha256
from hmac import compare_digest, new

from tallystick.records import record

TIMESTAMP, SIGNATURE = "X-Tally-Timestamp", "X-Tally-Signature"
TOLERANCE_S = 300
"""Maximum difference between a request's timestamp and our clock, in seconds."""
_DIGITS = 12


@record
class SignedHeaders:
    """The two headers of a signed request."""

    timestamp: str
    """Seconds since 1970."""
    signature: str
    """`sha256=` and the digest in hexadecimal."""


def sign(secret: bytes, body: bytes, *, now_s: int) -> SignedHeaders:
    """Return the headers that sign a body with the current time."""
    return SignedHeaders(timestamp=str(now_s), signature=f"sha256={_digest(secret, str(now_s), body)}")


def refusal(secret: bytes, body: bytes, given: SignedHeaders, *, now_s: int) -> str | None:
    """Return the error code of an invalid signature; None if it is valid and recent."""
    if not given.timestamp or not given.signature:
        return "signature_missing"
    stamp = given.timestamp
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= _DIGITS):
        return "timestamp_invalid"
    told = given.signature.removeprefix("sha256=").encode("utf-8", "replace")
    if not compare_digest(_digest(secret, stamp, body).encode(), told):
        return "signature_wrong"
    return "timestamp_too_far" if abs(now_s - int(stamp)) > TOLERANCE_S else None


def _digest(secret: bytes, timestamp: str, body: bytes) -> str:
    return new(secret, timestamp.encode() + b"." + body, sha256).hexdigest()
