"""Which tools are available for this call.

Admit has already matched the name against the catalogue byte for byte; an unknown name never becomes a proposal. Here
policy denies by default too: a tool whose effect has no default in the policy is denied.
"""

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import NOT_ALLOWED, UNKNOWN_TOOL
from tallystick.gate.decide.tool_rule import ToolRule
from tallystick.gate.decide.verdict import Context, Decision

NO_WORD_FOR_IT = Decision(verdict="deny", fault=UNKNOWN_TOOL, reason="tool_not_known_to_policy")
NOT_THIS_TURN = Decision(verdict="deny", fault=NOT_ALLOWED, reason="tool_not_allowed_this_turn")


def known(_proposal: Proposal, _context: Context, rule: ToolRule) -> Decision | None:
    """Deny a tool whose effect is unknown to policy."""
    return None if rule.verdict is not None else NO_WORD_FOR_IT


def allowed_this_turn(proposal: Proposal, context: Context, _rule: ToolRule) -> Decision | None:
    """Deny a tool outside this turn's `allowedTools`; ids are compared exactly, after alias resolution."""
    allowed = context.allowed_tools
    return None if allowed is None or proposal.card.name in allowed else NOT_THIS_TURN
