"""Who may call a tool.

Three questions, because they are not equally firm: whether a token came and what the tool itself demands always
hold; what policy demands besides can be tried out in shadow.
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
    """Refuse a call without a valid token where tokens are asked for, whatever the tool's roles are."""
    return None if context.authenticated else TOKEN_MISSING


def role_of_tool(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Refuse a caller who holds none of the tool's own roles."""
    return None if holds_role(context.roles, rule.tool_roles) else ROLE_MISSING


def role_of_policy(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Refuse a caller who holds none of the roles that policy asks for besides."""
    asked = rule.policy_roles
    return None if not asked or holds_role(context.roles, asked) else POLICY_ROLE_MISSING
