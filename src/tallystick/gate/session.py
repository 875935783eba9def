"""Who calls, and where a call belongs."""

import re
from dataclasses import field, replace

from tallystick.gate.role_names import OWNER_ROLE, holds_role
from tallystick.records import record

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""A session id names a folder, so nothing in it may mean anything to a file system."""


@record
class Caller:
    """Whoever proposes a call."""

    subject: str = "anonymous"
    """JWT `sub`, or `local` for the owner of this machine."""
    roles: frozenset[str] = frozenset()
    channel: str = "python"
    """Which door the call came through: python, cli, http, mcp, turn, worker."""

    def has_any(self, roles: frozenset[str]) -> bool:
        """Whether the caller holds one of the roles; the owner has them all."""
        return holds_role(self.roles, roles)


LOCAL_OWNER = Caller(subject="local", roles=frozenset({OWNER_ROLE}))


@record
class Session:
    """Where a call belongs: everything a receipt says about its surroundings."""

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
    """Header fields rooms add later; strings only."""

    def within(
        self, *, caller: Caller | None = None, agent_id: str | None = None, turn_id: str | None = None
    ) -> "Session":
        """The same surroundings with another caller, agent or turn, where given."""
        if caller is None and agent_id is None and turn_id is None:
            return self
        return replace(
            self,
            caller=caller or self.caller,
            agent_id=agent_id or self.agent_id,
            turn_id=turn_id or self.turn_id,
        )


def valid_session_id(session_id: str) -> bool:
    """Whether the id may name a folder."""
    return SESSION_ID.fullmatch(session_id) is not None
