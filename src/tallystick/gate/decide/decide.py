"""`decide(proposal, context, policy) → Decision`: pure, so that the same inputs give the same answer on replay.

The order is the spec's, and the first failure wins:

    1 known to policy   2 allowed this turn   3 token   4 role (the tool's, then policy's)
    5 budgets           6 rate                7 policy's deny, argument rules
    8 where the arguments come from           9 approval needed?
    10 the room's own rule, last

Where a durable write comes from and direct canonical writes stand between 7 and 9 in the spec too; admit has refused
those (see `rules`).
"""

from dataclasses import replace
from typing import Any

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.decide import approvals, budgets, provenance, roles, rules, whitelist
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.rules import RoomRule
from tallystick.gate.decide.tool_rule import UNDECIDABLE, Check, ToolRule
from tallystick.gate.decide.verdict import ALLOW, Context, Decision

FIRM, POLICY = False, True
"""Shadow tries out what the policy file says. What the token, the tool and the turn say is firm: shadow must not
turn off log-in, a tool's own roles or a budget."""

CHECKS: tuple[tuple[Check, bool], ...] = (
    (whitelist.known, FIRM),
    (whitelist.allowed_this_turn, FIRM),
    (roles.authenticated, FIRM),
    (roles.role_of_tool, FIRM),
    (roles.role_of_policy, POLICY),
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
        proposal: What admit made of it.
        context: All else a decision may read; the receipt keeps it.
        policy: The policy whose digest stands in the receipt.
        rule: The room's own rule, if the tool brings one.
        snapshot: What that rule reads.
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
    """Decide one call by a rule that is already resolved."""
    decision = _checked(proposal, context, tool_rule)
    if rule is None or decision.verdict != "allow":
        return decision
    said = rules.ask_room(rule, proposal, snapshot, decision)
    if said.verdict == "ask" and context.granted:
        said = replace(decision, args=said.args, snapshot_digest=said.snapshot_digest)
    return _check_changed(proposal, context, tool_rule, said)


def _checked(proposal: Proposal, context: Context, tool_rule: ToolRule) -> Decision:
    """The first refusal of the ten; in shadow, what it would have been."""
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
    """A room may change arguments, but not into ones that policy would have stopped."""
    if said.args is None:
        return said
    if said.verdict != "allow":
        # A call that does not run keeps its arguments: a person's grant is bound to what was asked.
        return replace(said, args=None)
    changed = replace(proposal, args=said.args, transformed=True)
    refusal = rules.arguments_allowed(changed, context, tool_rule) or approvals.needed(changed, context, tool_rule)
    if refusal is None:
        return said
    if tool_rule.shadow:
        return replace(said, shadowed=True, would=said.would or refusal.reason)
    return replace(refusal, snapshot_digest=said.snapshot_digest)
