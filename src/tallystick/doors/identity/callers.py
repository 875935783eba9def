"""Authenticate the Authorization header: a Caller, or a refusal with 401."""

import time
from collections.abc import Callable
from functools import cache, lru_cache, partial
from pathlib import Path

from tallystick.doors.identity.keys import key_ring
from tallystick.doors.identity.tokens import BadToken, claims_of, verified_payload
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import NO_TOKEN
from tallystick.gate.session import LOCAL_OWNER, Caller
from tallystick.settings import AuthSettings

REMEMBERED_TOKENS = 256
"""Cache size for verified signatures, since clients reuse tokens. Expiry and other claims are checked every time."""


class Identity:
    """Authenticates callers. Created once at start-up, so that an invalid key stops the server and not a request."""

    def __init__(self, auth: AuthSettings, *, folder: Path = Path(), clock: Callable[[], float] = time.time) -> None:
        """Load the key.

        Args:
            auth: The settings.
            folder: The base of a relative key file path (the workspace).
            clock: Returns the Unix time in seconds.

        Raises:
            ConfigError: Auth is enabled and its key is missing, weak, exposed or a sample.
        """
        self._auth = auth
        self._clock = clock
        self._payload: Callable[[str], bytes | BadToken] | None = None
        if auth.enabled:
            ring = key_ring(auth, folder=folder)
            self._payload = lru_cache(maxsize=REMEMBERED_TOKENS)(partial(verified_payload, ring=ring))

    @property
    def enabled(self) -> bool:
        """Whether callers need a token."""
        return self._payload is not None

    def authenticate(self, authorization: str | None, *, loopback: bool, channel: str = "http") -> Caller | Rejection:
        """Authenticate a caller.

        Args:
            authorization: The Authorization header, if any.
            loopback: Whether the request comes from this machine (`is_local`).
            channel: The door the call came through.
        """
        if self._payload is None:
            return _owner(channel) if loopback else _refused(BadToken.MISSING)
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return _refused(BadToken.MISSING)
        payload = self._payload(token)
        claims = payload if isinstance(payload, BadToken) else claims_of(payload, self._auth, now=self._clock())
        if isinstance(claims, BadToken):
            return _refused(claims)
        return Caller(subject=claims.subject, roles=claims.roles, channel=channel)


@cache
def _owner(channel: str) -> Caller:
    """Return the local owner as a caller of a channel."""
    return Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel=channel)


def _refused(reason: BadToken) -> Rejection:
    return Rejection(fault=NO_TOKEN, reason=str(reason))
