"""Authentication and role checks: who may call a tool.

There are three separate checks, because shadow mode treats them differently: the token and the tool's own roles are
always enforced; additional roles from policy can be tried out in shadow mode.
"""

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import NO_ROLE, NO_TOKEN
from tallystick.gate.decide.tool_rule import ToolRule
from tallystick.gate.decide.verdict import Context, Decision
from tallystick.gate.role_names import holds_role

TOKEN_MISSING = Decision(verdict="deny", fault=NO_TOKEN, reason="token_missing_or_invalid")
ROLE_MISSING = Decision(verdict="deny", fault=NO_ROLE, reason="role_missing")
POLICY_ROLE_MISSING = Decision(verdict="deny", fault=NO_ROLE, reason="policy_role_missing")


def authenticated(_proposal: Proposal, context: Context, _rule: ToolRule) -> Decision | None:
    """Deny a call without a valid token if authentication is on, regardless of the tool's roles."""
    return None if context.authenticated else TOKEN_MISSING


def role_of_tool(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Deny a caller that holds none of the tool's own roles."""
    return None if holds_role(context.roles, rule.tool_roles) else ROLE_MISSING


def role_of_policy(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Deny a caller that holds none of the roles that policy additionally requires, if it requires any."""
    asked = rule.policy_roles
    return None if not asked or holds_role(context.roles, asked) else POLICY_ROLE_MISSING
