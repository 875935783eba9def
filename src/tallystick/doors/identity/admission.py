"""Basic admission: the public paths, and the roles that may propose calls to the gate."""

from tallystick.app.gate import Gate
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import NO_ROLE
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.session import Caller

PUBLIC_PATHS = frozenset({"/health", "/api/docs", "/api/openapi.json", "/login", "/logout"})
"""The paths that require neither token nor role: health, API documentation, login and logout."""
ROLE_MISSING = Rejection(fault=NO_ROLE, reason="role missing")


def may_propose(caller: Caller, gate: Gate) -> bool:
    """Return whether the caller has a built-in role, or one that a tool or the policy names."""
    if caller.has_any(EVERY_ROLE):
        return True
    by_tools = (card.roles for card in gate.tools())
    by_policy = (said.roles or frozenset() for said in gate.policy.tools.values())
    return caller.has_any(frozenset[str]().union(*by_tools, *by_policy))
