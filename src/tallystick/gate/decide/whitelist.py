"""Which tools exist for this call at all.

Admit has already found the name in the catalogue, as bytes; a name it does not know never becomes a proposal. Here
the closed world is closed once more from the policy's side: a kind of tool that policy has no word for is refused.
"""

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import NOT_ALLOWED, UNKNOWN_TOOL
from tallystick.gate.decide.tool_rule import ToolRule
from tallystick.gate.decide.verdict import Context, Decision

NO_WORD_FOR_IT = Decision(verdict="deny", fault=UNKNOWN_TOOL, reason="tool_not_known_to_policy")
NOT_THIS_TURN = Decision(verdict="deny", fault=NOT_ALLOWED, reason="tool_not_allowed_this_turn")


def known(_proposal: Proposal, _context: Context, rule: ToolRule) -> Decision | None:
    """Refuse a tool that policy has no word for."""
    return None if rule.verdict is not None else NO_WORD_FOR_IT


def allowed_this_turn(proposal: Proposal, context: Context, _rule: ToolRule) -> Decision | None:
    """Refuse a tool outside this turn's `allowedTools`. Ids are compared exactly, after aliases were resolved."""
    allowed = context.allowed_tools
    return None if allowed is None or proposal.card.name in allowed else NOT_THIS_TURN
