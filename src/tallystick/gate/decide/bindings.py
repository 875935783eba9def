"""What a grant is bound to: digests over one exact call, and over where and by whom it was asked for."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import rfc8785

from tallystick.gate.session import Session

LARGEST = 2**53
"""The largest integer that admit lets through."""


def call_digest(
    caller: str,
    tool: str,
    args: Mapping[str, Any],
    policy_digest: str,
    *,
    tool_version: str = "",
    dry_run: bool = False,
) -> str:
    """Name one exact call.

    The tool's version is part of it, so that a definition which changed after a person agreed needs a new yes; a
    grant for a dry run is no grant for the real thing.
    """
    # Named fields, not a list or joined text: no two calls can be written the same way.
    bound = {
        "args": dict(args), "caller": caller, "dry_run": dry_run, "policy": policy_digest, "tool": tool,
        "tool_version": tool_version, "v": 1,
    }  # fmt: skip
    return sha256(canonical(bound)).hexdigest()


def live_digest(digest: str, session: Session) -> str:
    """Name one exact call of one agent in one session: a grant is found by this, and used nowhere else."""
    bound = {"agent": session.agent_id, "digest": digest, "session": session.session_id, "v": 1}
    return sha256(canonical(bound)).hexdigest()


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes. The pure-Python library is slow and right; calls that wait for a person can wait for it.

    Raises:
        rfc8785.CanonicalizationError: A number or text that JSON cannot carry safely; admit refuses those first.
    """
    try:
        return rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        # ±2^53 itself is a double, and admitted; the library stops one short of it.
        return rfc8785.dumps(_as_double(value))


def storable_text(text: str) -> str:
    """Text as every database takes it: PostgreSQL has no NUL, and none has lone surrogates."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def _as_double(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_double(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_double(item) for item in value]
    return float(value) if type(value) is int and abs(value) == LARGEST else value
