"""Tokens as issuers, and attackers, make them."""

import hmac
import json
from base64 import urlsafe_b64encode
from typing import Any

from joserfc import jws
from joserfc.jwk import Key

NOW = 1_750_000_000
SECRET = "correct horse battery staple, long"


def b64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def raw_token(header: Any, claims: Any, *, secret: bytes = SECRET.encode()) -> str:
    """An HS256-signed token with any header at all."""
    signed = b64(_json(header)) + "." + b64(_json(claims))
    return signed + "." + b64(hmac.digest(secret, signed.encode(), "sha256"))


def token(claims: dict[str, Any] | None = None, **changes: Any) -> str:
    """A token that is taken, unless a change makes it worse; None takes a claim away."""
    given = {"sub": "ada", "exp": NOW + 600, "roles": ["analyst"]} if claims is None else claims
    merged = {name: value for name, value in {**given, **changes}.items() if value is not None}
    return raw_token({"alg": "HS256", "typ": "JWT"}, merged)


def signed_by(key: Key, algorithm: str, claims: dict[str, Any] | None = None, **header: Any) -> str:
    payload = json.dumps(claims or {"sub": "ada", "exp": NOW + 600, "roles": ["analyst"]})
    registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    return jws.serialize_compact({"alg": algorithm, **header}, payload, key, registry=registry)


def _json(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()
