"""Resolve and validate the session of a call, for all entry points."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from tallystick.errors import ConfigError
from tallystick.gate.decide.call_context import CallContext
from tallystick.gate.session import Caller, Session, valid_session_id


def session_for(
    session: str | Session, caller: Caller | None, *, agent: str | None = None, turn_id: str | None = None
) -> Session:
    """Return the session of a call, given its id or a `Session`.

    Raises:
        ConfigError: The id is not usable as a folder name.
    """
    if isinstance(session, str):
        session = _owned(session)
        if caller is None and agent is None and turn_id is None:
            return session
    elif not valid_session_id(session.session_id):
        raise _bad_session(session.session_id)
    return session.within(caller=caller, agent_id=agent, turn_id=turn_id)


def standing_in(
    session: str | Session, caller: Caller | None, allowed_tools: Iterable[str] | None, *, authenticated: bool
) -> CallContext:
    """Build the context of a single call."""
    return CallContext(
        session=session_for(session, caller),
        authenticated=authenticated,
        allowed_tools=None if allowed_tools is None else frozenset(allowed_tools),
    )


@lru_cache(maxsize=1024)
def _owned(session_id: str) -> Session:
    """Return the local owner's session of this id; cached, since sessions are immutable and reused often."""
    if not valid_session_id(session_id):
        raise _bad_session(session_id)
    return Session(session_id=session_id)


def _bad_session(session_id: str) -> ConfigError:
    message = f"{session_id!r:.60} cannot be a session id: letters, digits, dot, dash, underscore"
    return ConfigError(message, code="session_id_invalid")


def plain_args(args: Mapping[str, Any] | None) -> Any:
    """Return a mapping as a dict and no arguments as `{}`; anything else is passed on for admit to refuse."""
    if args is None:
        return {}
    return dict(args) if isinstance(args, Mapping) else args
