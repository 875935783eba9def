"""What policy says about one tool, worked out once and then only read.

A call is decided thousands of times for each time a policy or a card changes, so everything that depends only on
those two is resolved into a `ToolRule`. The checks read nothing but the proposal, the context and this.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.verdict import Context, Decision, Verdict

UNDECIDABLE = Decision(verdict="deny", fault=DENIED, reason="undecidable")
"""A rule needs a value that was redacted. Only replay meets this; were it ever live, it refuses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentCheck:
    """One argument rule, compiled."""

    name: str
    """The fixed reason a call is stopped with."""
    roles: frozenset[str]
    """Holders of one of these are bound by it; empty: everyone."""
    otherwise: Literal["deny", "ask"]
    accepts: Callable[[Any], bool]
    explain: Callable[[Any], tuple[str, str]]
    """Gives (JSON pointer, rule) of the first thing that does not hold."""
    reads: frozenset[str] | None
    """The only arguments it can depend on; None: it may depend on any."""
    blind: bool = False
    """On replay: what it reads was redacted."""

    def binds(self, roles: frozenset[str]) -> bool:
        """Whether the rule is for this caller.

        The owner holds every role as a right. A rule limits, so it binds him only where it names everyone or him:
        otherwise two rules for two roles would lock him out of what each of them may do.
        """
        return not self.roles or not self.roles.isdisjoint(roles)

    def needs(self, hidden: frozenset[str] | None) -> bool:
        """Whether it cannot be answered without these arguments (None: any may be hidden)."""
        return hidden is None or self.reads is None or not self.reads.isdisjoint(hidden)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolRule:
    """A policy applied to a card."""

    verdict: Verdict | None
    """None: policy has no word for this kind of tool, which means no."""
    tool_roles: frozenset[str]
    """Who may call it at all: never empty, since what nobody declared is denied."""
    policy_roles: frozenset[str]
    """Asked for besides the tool's own, so that policy can narrow and never widen."""
    rate: int | None
    shadow: bool
    provenance: Literal["ask", "off", "deny"] = "ask"
    """What becomes of a call with an argument of doubtful origin."""
    deny_checks: tuple[ArgumentCheck, ...] = ()
    ask_checks: tuple[ArgumentCheck, ...] = ()

    def blinded(self, hidden: frozenset[str] | None = None) -> "ToolRule":
        """The same rule for a recorded call whose named arguments (None: any) are only digests."""
        return replace(
            self,
            deny_checks=tuple(replace(check, blind=check.needs(hidden)) for check in self.deny_checks),
            ask_checks=tuple(replace(check, blind=check.needs(hidden)) for check in self.ask_checks),
        )


Check = Callable[[Proposal, Context, ToolRule], Decision | None]
"""One question of decide: None, or the refusal."""
