"""`decide(proposal, context, policy) → Decision`: pure, so that replay with the same inputs gives the same decision.

The checks run in the order of `docs/protocol.md` (section 4), and the first failure decides:

    1 known to policy   2 allowed this turn   3 token   4 role (the tool's, then policy's)
    5 budgets           6 rate                7 policy's deny, argument rules
    8 provenance of the arguments             9 approval needed?
    10 the rule of the plugin (room) that owns the tool, last

Two more checks need only the arguments, so admit makes them earlier (see `rules`): a durable write must name the source
of its data in an argument (`Card.provenance_key`), and no call may set a field that only the system sets
(`Card.owned_keys`).
"""

from dataclasses import replace
from typing import Any

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import NO_ROLE, NO_TOKEN, NOT_ALLOWED, UNKNOWN_TOOL
from tallystick.gate.decide import approvals, budgets, provenance, rules
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.rules import RoomRule
from tallystick.gate.decide.tool_rule import UNDECIDABLE, Check, ToolRule
from tallystick.gate.decide.verdict import ALLOW, Context, Decision
from tallystick.gate.role_names import holds_role

UNKNOWN_EFFECT = Decision(verdict="deny", fault=UNKNOWN_TOOL, reason="tool_not_known_to_policy")
NOT_THIS_TURN = Decision(verdict="deny", fault=NOT_ALLOWED, reason="tool_not_allowed_this_turn")
TOKEN_MISSING = Decision(verdict="deny", fault=NO_TOKEN, reason="token_missing_or_invalid")
ROLE_MISSING = Decision(verdict="deny", fault=NO_ROLE, reason="role_missing")
POLICY_ROLE_MISSING = Decision(verdict="deny", fault=NO_ROLE, reason="policy_role_missing")


def known_to_policy(_proposal: Proposal, _context: Context, rule: ToolRule) -> Decision | None:
    """Deny a tool whose effect has no default in the policy; admit has already rejected unregistered names."""
    return None if rule.verdict is not None else UNKNOWN_EFFECT


def allowed_this_turn(proposal: Proposal, context: Context, _rule: ToolRule) -> Decision | None:
    """Deny a tool outside this turn's `allowedTools`; ids are compared exactly, after alias resolution."""
    allowed = context.allowed_tools
    return None if allowed is None or proposal.card.name in allowed else NOT_THIS_TURN


def authenticated(_proposal: Proposal, context: Context, _rule: ToolRule) -> Decision | None:
    """Deny a call without a valid token if authentication is on, regardless of the tool's roles."""
    return None if context.authenticated else TOKEN_MISSING


def has_tool_role(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Deny a caller that holds none of the tool's own roles."""
    return None if holds_role(context.roles, rule.tool_roles) else ROLE_MISSING


def has_policy_role(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Deny a caller that holds none of the roles that policy additionally requires, if it requires any."""
    required = rule.policy_roles
    return None if not required or holds_role(context.roles, required) else POLICY_ROLE_MISSING


FIRM, POLICY = False, True
"""Shadow mode applies to POLICY checks, which evaluate the policy file. Checks of the token, the tool and the turn are
FIRM: shadow mode must not turn off authentication, a tool's own roles or a budget."""

CHECKS: tuple[tuple[Check, bool], ...] = (
    (known_to_policy, FIRM),
    (allowed_this_turn, FIRM),
    (authenticated, FIRM),
    (has_tool_role, FIRM),
    (has_policy_role, POLICY),
    (budgets.within, FIRM),
    (budgets.rate, POLICY),
    (rules.not_denied, POLICY),
    (rules.arguments_allowed, POLICY),
    (provenance.known_origin, POLICY),
    (approvals.needed, POLICY),
)


def decide(
    proposal: Proposal,
    context: Context,
    policy: Policy,
    *,
    rule: RoomRule | None = None,
    snapshot: Any = None,
) -> Decision:
    """Decide one call.

    Args:
        proposal: The call as parsed by admit.
        context: Everything else a decision may read; stored in the receipt.
        policy: The policy whose digest is in the receipt.
        rule: The room's own rule, if the tool has one.
        snapshot: The data that rule reads.
    """
    tool_rule = policy.rule_for(proposal.card)
    if context.redacted:
        tool_rule = tool_rule.blinded()
    return judge(proposal, context, tool_rule, rule=rule, snapshot=snapshot)


def judge(
    proposal: Proposal,
    context: Context,
    tool_rule: ToolRule,
    *,
    rule: RoomRule | None = None,
    snapshot: Any = None,
) -> Decision:
    """Decide one call by an already resolved tool rule."""
    decision = _checked(proposal, context, tool_rule)
    if rule is None or decision.verdict != "allow":
        return decision
    said = rules.ask_room(rule, proposal, snapshot, decision)
    if said.verdict == "ask" and context.granted and said.args in (None, proposal.args):
        # The grant is for these arguments; if the rule changes them, the person must see the new ones.
        said = replace(decision, snapshot_digest=said.snapshot_digest)
    return _check_changed(proposal, context, tool_rule, said)


def _checked(proposal: Proposal, context: Context, tool_rule: ToolRule) -> Decision:
    """Run `CHECKS` and return the first deny or ask; in shadow mode, allow and keep its reason in `would`."""
    would: Decision | None = None
    for check, of_policy in CHECKS:
        refusal = check(proposal, context, tool_rule)
        if refusal is not None:
            if not (of_policy and tool_rule.shadow) or refusal is UNDECIDABLE:
                return refusal
            would = would or refusal
    return ALLOW if would is None else _let_through(would)


def _let_through(refusal: Decision) -> Decision:
    return replace(ALLOW, shadowed=True, would=refusal.reason, pointer=refusal.pointer)


def _check_changed(proposal: Proposal, context: Context, tool_rule: ToolRule, said: Decision) -> Decision:
    """Check arguments changed by a room's rule, so that it cannot bypass argument rules and approvals."""
    if said.args is None:
        return said
    if said.verdict == "deny":
        return replace(said, args=None)
    changed = replace(proposal, args=said.args, transformed=True)
    refusal = rules.arguments_allowed(changed, context, tool_rule)
    if refusal is None and said.verdict == "allow":
        refusal = approvals.needed(changed, context, tool_rule)
    if refusal is None:
        return said
    if tool_rule.shadow:
        return replace(said, shadowed=True, would=said.would or refusal.reason)
    return replace(refusal, snapshot_digest=said.snapshot_digest)
