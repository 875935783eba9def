"""`decide(proposal, context, policy) → Decision`: pure, so that replay with the same inputs gives the same decision.

The checks run in the order of the spec, and the first failure wins:

    1 known to policy   2 allowed this turn   3 token   4 role (the tool's, then policy's)
    5 budgets           6 rate                7 policy's deny, argument rules
    8 provenance of the arguments             9 approval needed?
    10 the room's own rule, last

The spec also checks the provenance of durable writes and direct canonical writes between 7 and 9; admit rejects those
earlier (see `rules`).
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
"""Shadow mode applies to POLICY checks, which evaluate the policy file. Checks of the token, the tool and the turn are
FIRM: shadow mode must not turn off authentication, a tool's own roles or a budget."""

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
    if said.verdict == "ask" and context.granted:
        said = replace(decision, args=said.args, snapshot_digest=said.snapshot_digest)
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
    if said.verdict != "allow":
        # A call that does not run keeps its arguments: a grant is bound to the requested ones.
        return replace(said, args=None)
    changed = replace(proposal, args=said.args, transformed=True)
    refusal = rules.arguments_allowed(changed, context, tool_rule) or approvals.needed(changed, context, tool_rule)
    if refusal is None:
        return said
    if tool_rule.shadow:
        return replace(said, shadowed=True, would=said.would or refusal.reason)
    return replace(refusal, snapshot_digest=said.snapshot_digest)
