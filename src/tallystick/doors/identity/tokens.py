"""From a compact JWS to claims, strictly: each step gives its result or the reason why not.

1. Form: three parts of unpadded base64url, each the one encoding of its bytes (padding, stray characters and unused
   bits are refused before any library sees them).
2. Header: one JSON object without duplicate names; the algorithm is the key's own; nothing that brings a key along
   (`jwk`, `jku`, `x5u`, `x5c`), so nothing is ever fetched; no `crit`, since we know no extension.
3. Signature, under the configured key.
4. Claims: `exp` there and not past, `nbf` and `iat` not in the future, audience and issuer as configured.
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
"""A token with hundreds of roles still fits; more is not a token."""
MAX_SUBJECT_CHARS = 256
"""The subject stands in every receipt's header."""

_COMPACT = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)\.([A-Za-z0-9_-]+)")
_FOREIGN_KEYS = frozenset({"jwk", "jku", "x5u", "x5c"})
_EXTENSIONS = frozenset({"crit", "b64"})
_TYPES = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class BadToken(StrEnum):
    """Why a token is not taken: fixed words, they never echo the token."""

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
    """What a token says, of all that we ask."""

    subject: str
    roles: frozenset[str]


def verified_payload(token: str, ring: KeyRing) -> bytes | BadToken:
    """The payload of a correctly signed compact JWS."""
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
    """The claims of a payload, if they hold now."""
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
    # RFC 7519, 4.1.3: a token made out to others is not for us, also when we were given no name to look for.
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
    # The owner is whoever sits at this machine; no issuer can grant that.
    return Claims(subject=subject, roles=frozenset(named) - {OWNER_ROLE})


def _decoded(part: str) -> bytes | None:
    """The bytes of unpadded base64url, or None when this is not the one way to write them."""
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
    """A token made for something else (a log-out notice, a security event) is no access token."""
    return typ is None or (isinstance(typ, str) and typ.lower() in _TYPES)


def _is_time(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)
