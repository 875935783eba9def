"""Digests that bind a grant to one exact call, and to the agent and session that made it."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import rfc8785

from tallystick.gate.session import Session

LARGEST = 2**53
"""The largest integer (absolute value) that admit accepts."""


def call_digest(
    caller: str,
    tool: str,
    args: Mapping[str, Any],
    policy_digest: str,
    *,
    tool_version: str = "",
    dry_run: bool = False,
) -> str:
    """Compute the digest of one exact call.

    It includes the tool's version, so that a definition changed after an approval needs a new approval, and `dry_run`,
    so that a grant for a dry run does not cover the real call.
    """
    # Named fields instead of a list or joined text, so that no two calls serialize to the same bytes.
    bound = {
        "args": dict(args),
        "caller": caller,
        "dry_run": dry_run,
        "policy": policy_digest,
        "tool": tool,
        "tool_version": tool_version,
        "v": 1,
    }
    return sha256(canonical(bound)).hexdigest()


def live_digest(digest: str, session: Session) -> str:
    """Compute the key of a grant: one exact call of one agent in one session; the grant is valid nowhere else."""
    bound = {"agent": session.agent_id, "digest": digest, "session": session.session_id, "v": 1}
    return sha256(canonical(bound)).hexdigest()


def canonical(value: Any) -> bytes:
    """Serialize to canonical JSON (RFC 8785).

    The pure-Python library is slow but correct; its cost does not matter for calls that wait for a person.

    Raises:
        rfc8785.CanonicalizationError: A number or text that JSON cannot represent safely; admit rejects those earlier.
    """
    try:
        return rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        # ±2^53 is exact as a double and accepted by admit, but the library's limit is 2^53 - 1.
        return rfc8785.dumps(_as_double(value))


def storable_text(text: str) -> str:
    """Replace what databases cannot store: NUL (PostgreSQL) and lone surrogates (all)."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def _as_double(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_double(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_double(item) for item in value]
    return float(value) if type(value) is int and abs(value) == LARGEST else value
