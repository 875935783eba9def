"""The caller of a tool call and the session that the call belongs to."""

import re
from dataclasses import field, replace

from tallystick.gate.role_names import OWNER_ROLE, holds_role
from tallystick.records import record

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""A session id is used as a folder name, so it allows no characters that are special to a file system."""


MCP_CHANNEL = "mcp"
"""The channel of calls that MCP clients make; the gate treats them as calls by a model."""


@record
class Caller:
    """The identity that proposes a call."""

    subject: str = "anonymous"
    """JWT `sub`, or `local` for the owner of this machine."""
    roles: frozenset[str] = frozenset()
    channel: str = "python"
    """The interface through which the call arrived: python, cli, http, mcp, turn, worker."""

    def has_any(self, roles: frozenset[str]) -> bool:
        """Whether the caller holds one of the roles; the owner holds all roles."""
        return holds_role(self.roles, roles)


LOCAL_OWNER = Caller(subject="local", roles=frozenset({OWNER_ROLE}))


@record
class Session:
    """The context of a call: caller and ids, as written to its receipt."""

    session_id: str
    caller: Caller = LOCAL_OWNER
    agent_id: str | None = None
    turn_id: str | None = None
    round_id: str | None = None
    conference_id: str | None = None
    task_id: str | None = None
    run_id: str | None = None
    ticket_id: str | None = None
    extra: dict[str, str] = field(default_factory=dict[str, str])
    """Additional fields of the receipt's header, set by plugins (rooms); values are strings."""

    def within(
        self, *, caller: Caller | None = None, agent_id: str | None = None, turn_id: str | None = None
    ) -> "Session":
        """Return this session with the given caller, agent or turn replaced."""
        if caller is None and agent_id is None and turn_id is None:
            return self
        return replace(
            self,
            caller=caller or self.caller,
            agent_id=agent_id or self.agent_id,
            turn_id=turn_id or self.turn_id,
        )


def valid_session_id(session_id: str) -> bool:
    """Whether the id is a valid session id and thus safe as a folder name."""
    return SESSION_ID.fullmatch(session_id) is not None
