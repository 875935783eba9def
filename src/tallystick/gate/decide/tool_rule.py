"""The policy for one tool, resolved once and then only read.

Thousands of calls are decided between two changes of a policy or card, so everything that depends only on those two is
resolved into a `ToolRule`. The checks read only the proposal, the context and the tool rule.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.verdict import Context, Decision, Verdict

UNDECIDABLE = Decision(verdict="deny", fault=DENIED, reason="undecidable")
"""A rule needs a redacted value. This occurs only in replay; in a live call it would deny."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentCheck:
    """One compiled argument rule."""

    name: str
    """The reason code of a call that breaks the rule."""
    roles: frozenset[str]
    """The rule applies to callers with one of these roles; empty: to everyone."""
    otherwise: Literal["deny", "ask"]
    accepts: Callable[[Any], bool]
    explain: Callable[[Any], tuple[str, str]]
    """Returns (JSON pointer, rule) of the first violation."""
    reads: frozenset[str] | None
    """The arguments the rule can depend on; None: any."""
    blind: bool = False
    """In replay: an argument the rule reads was redacted."""

    def binds(self, roles: frozenset[str]) -> bool:
        """Whether the rule applies to this caller.

        The owner implicitly has every role, which grants access. A rule restricts, so it applies to the owner only if
        it names everyone or the owner: otherwise rules for two roles would deny the owner what each role may do.
        """
        return not self.roles or not self.roles.isdisjoint(roles)

    def needs(self, hidden: frozenset[str] | None) -> bool:
        """Whether evaluating the rule may need one of these hidden arguments (None: any may be hidden)."""
        return hidden is None or self.reads is None or not self.reads.isdisjoint(hidden)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolRule:
    """A policy resolved for one card."""

    verdict: Verdict | None
    """None: policy has no default for the tool's effect, so the tool is denied."""
    model_verdict: Verdict | None
    """The verdict if `Context.by_model` is set: a model calls a write tool that no plugin (room) provides."""
    tool_roles: frozenset[str]
    """Roles that may call the tool; never empty, so a tool that declares no roles is not open to everyone."""
    policy_roles: frozenset[str]
    """Required in addition to the tool's own roles, so that policy can only narrow access; empty: none."""
    rate: int | None
    shadow: bool
    provenance: Literal["ask", "off", "deny"] = "ask"
    """How to decide a call with a tainted argument."""
    deny_checks: tuple[ArgumentCheck, ...] = ()
    ask_checks: tuple[ArgumentCheck, ...] = ()

    def blinded(self, hidden: frozenset[str] | None = None) -> "ToolRule":
        """Return the rule for replaying a call whose `hidden` arguments (None: any) are stored only as digests.

        Checks that may read a hidden argument are marked `blind`.
        """
        return replace(
            self,
            deny_checks=tuple(replace(check, blind=check.needs(hidden)) for check in self.deny_checks),
            ask_checks=tuple(replace(check, blind=check.needs(hidden)) for check in self.ask_checks),
        )


def verdict_in(context: Context, rule: ToolRule) -> Verdict | None:
    """Return a rule's verdict for a call in this context."""
    return rule.model_verdict if context.by_model else rule.verdict


Check = Callable[[Proposal, Context, ToolRule], Decision | None]
"""One check of decide: returns None to pass, or the deny or ask decision."""
