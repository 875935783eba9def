"""Strict validation of a compact JWS; each step returns its result or the reason for refusal.

1. Form: three parts of unpadded, canonical base64url (padding, stray characters and non-zero unused bits are refused
   before any library sees them).
2. Header: one JSON object without duplicate names; `alg` matches the key; no parameter that supplies a key (`jwk`,
   `jku`, `x5u`, `x5c`), so nothing is ever fetched; no `crit`, since no extension is supported.
3. Signature, under the configured key.
4. Claims: `exp` present and not past, `nbf` and `iat` not in the future, audience and issuer as configured.
"""

import math
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import jiter

from tallystick.doors.identity.keys import KeyRing
from tallystick.gate.role_names import OWNER_ROLE
from tallystick.gate.session import LOCAL_OWNER
from tallystick.settings import AuthSettings

MAX_TOKEN_BYTES = 16 * 1024
"""Enough for a token with hundreds of roles."""
MAX_SUBJECT_CHARS = 256
"""Limited, because the subject is stored in every receipt's header."""

_COMPACT = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)\.([A-Za-z0-9_-]+)")
_FOREIGN_KEYS = frozenset({"jwk", "jku", "x5u", "x5c"})
_EXTENSIONS = frozenset({"crit", "b64"})
_TYPES = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class BadToken(StrEnum):
    """Why a token is refused: fixed values that never echo the token."""

    MISSING = "token_missing"
    MALFORMED = "token_malformed"
    HEADER = "token_header_refused"
    ALGORITHM = "token_algorithm_refused"
    KEY = "token_key_unknown"
    SIGNATURE = "token_signature_wrong"
    CLAIMS = "token_claims_malformed"
    EXPIRED = "token_expired"
    NOT_YET = "token_not_yet_valid"
    AUDIENCE = "token_audience_wrong"
    ISSUER = "token_issuer_wrong"
    SUBJECT = "token_subject_refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Claims:
    """The claims of a token that the gate uses."""

    subject: str
    roles: frozenset[str]


def verified_payload(token: str, ring: KeyRing) -> bytes | BadToken:
    """Verify a compact JWS and return its payload, or the reason for refusal."""
    found = _COMPACT.fullmatch(token) if len(token) <= MAX_TOKEN_BYTES else None
    if found is None:
        return BadToken.MALFORMED
    parts = [_decoded(part) for part in found.groups()]
    head, payload, signature = parts
    header = _json_object(head)
    if header is None or payload is None or signature is None:
        return BadToken.MALFORMED
    if not _FOREIGN_KEYS.isdisjoint(header) or not _EXTENSIONS.isdisjoint(header):
        return BadToken.HEADER
    kid = header.get("kid")
    key = ring.pick(kid) if kid is None or isinstance(kid, str) else None
    if key is None:
        return BadToken.KEY
    if header.get("alg") not in key.names or not _acceptable_type(header.get("typ")):
        return BadToken.ALGORITHM
    signed = token[: found.end(2)].encode("ascii")
    return payload if key.verifies(signed, signature) else BadToken.SIGNATURE


def claims_of(payload: bytes, auth: AuthSettings, *, now: float) -> Claims | BadToken:
    """Validate the claims of a payload at the time `now`."""
    claims = _json_object(payload)
    if claims is None:
        return BadToken.CLAIMS
    return _time_fault(claims, now=now, leeway=auth.leeway_s) or _place_fault(claims, auth) or _who(claims)


def _time_fault(claims: Mapping[str, Any], *, now: float, leeway: int) -> BadToken | None:
    times: dict[str, Any] = {name: claims[name] for name in ("exp", "nbf", "iat") if name in claims}
    if "exp" not in times or not all(_is_time(value) for value in times.values()):
        return BadToken.CLAIMS
    if times.pop("exp") + leeway <= now:
        return BadToken.EXPIRED
    return BadToken.NOT_YET if any(value - leeway > now for value in times.values()) else None


def _place_fault(claims: Mapping[str, Any], auth: AuthSettings) -> BadToken | None:
    if auth.issuer is not None and claims.get("iss") != auth.issuer:
        return BadToken.ISSUER
    audience = claims.get("aud", [])
    audiences = [audience] if isinstance(audience, str) else audience
    if not isinstance(audiences, list):
        return BadToken.CLAIMS
    # RFC 7519, 4.1.3: refuse a token with an audience also if no audience is configured.
    expected = auth.audience is not None
    return BadToken.AUDIENCE if (expected and auth.audience not in audiences) or (audiences and not expected) else None


def _who(claims: Mapping[str, Any]) -> Claims | BadToken:
    subject = claims.get("sub", "anonymous")
    roles = claims.get("roles", [])
    role = claims.get("role")
    if not isinstance(roles, list) or not (role is None or isinstance(role, str)):
        return BadToken.CLAIMS
    named = [*roles, role] if role is not None else roles
    if not isinstance(subject, str) or not all(isinstance(name, str) for name in named):
        return BadToken.CLAIMS
    if not 0 < len(subject) <= MAX_SUBJECT_CHARS or _CONTROL.search(subject) or subject == LOCAL_OWNER.subject:
        return BadToken.SUBJECT
    # Only a local caller can be the owner; no issuer can grant that role.
    return Claims(subject=subject, roles=frozenset(named) - {OWNER_ROLE})


def _decoded(part: str) -> bytes | None:
    """Decode unpadded base64url; None if it is invalid or not canonical."""
    padded = part + "=" * (-len(part) % 4)
    try:
        data = urlsafe_b64decode(padded)
    except ValueError:
        return None
    return data if urlsafe_b64encode(data).rstrip(b"=") == part.encode("ascii") else None


def _json_object(data: bytes | None) -> dict[str, Any] | None:
    if data is None:
        return None
    try:
        loaded = jiter.from_json(data, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError:
        return None
    return loaded if isinstance(loaded, dict) else None


def _acceptable_type(typ: object) -> bool:
    """Return whether `typ` is absent or an accepted type; logout tokens and security events are refused."""
    return typ is None or (isinstance(typ, str) and typ.lower() in _TYPES)


def _is_time(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)
