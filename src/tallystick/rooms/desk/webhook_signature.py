"""Signatures of webhooks, in and out: HMAC-SHA256 over the time and the body, so that an old request proves nothing."""

from hashlib import sha256
from hmac import compare_digest, new

from tallystick.records import record

TIMESTAMP, SIGNATURE = "X-Tally-Timestamp", "X-Tally-Signature"
TOLERANCE_S = 300
"""How far the sender's clock may be from ours, and how long a request may have been under way."""
_DIGITS = 12


@record
class SignedHeaders:
    """The two headers of a signed request, as they came or as they are sent."""

    timestamp: str
    """Seconds since 1970."""
    signature: str
    """`sha256=` and the digest in hexadecimal."""


def sign(secret: bytes, body: bytes, *, now_s: int) -> SignedHeaders:
    """Return the headers that prove that a body is ours and of this moment."""
    return SignedHeaders(timestamp=str(now_s), signature=f"sha256={_digest(secret, str(now_s), body)}")


def refusal(secret: bytes, body: bytes, given: SignedHeaders, *, now_s: int) -> str | None:
    """Return a fixed code that says why a request proves nothing; None: it is what its sender signed, and new."""
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
