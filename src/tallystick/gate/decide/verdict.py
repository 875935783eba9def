"""The result of decide, and the context it reads."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from tallystick.gate.codes import Fault
from tallystick.records import record

Verdict = Literal["allow", "ask", "deny"]


@record
class Counters:
    """What had been spent when the decision was made. Integers only, because they are part of the signed header."""

    steps: int = 0
    bytes: int = 0
    tokens: int = 0
    cost_microusd: int = 0
    elapsed_ms: int = 0
    rate: int = 0
    """Calls of this caller to this tool in the current window."""
    spent: Mapping[str, int] = field(default_factory=dict[str, int])
    """Named budgets, e.g. `search`."""


@record
class Limits:
    """The limits of one turn, already narrowed by its `toolPolicy`; None: no limit."""

    steps: int | None = None
    bytes: int | None = None
    tokens: int | None = None
    cost_microusd: int | None = None
    elapsed_ms: int | None = None
    named: Mapping[str, int] = field(default_factory=dict[str, int])


NOTHING_SPENT = Counters()
UNLIMITED = Limits()
"""Shared by all calls outside a turn: creating one per call would cost more than the decision."""


@record
class Context:
    """Everything a decision reads besides proposal and policy; stored in the receipt, so that replay is exact."""

    roles: frozenset[str]
    authenticated: bool = True
    """False: authentication is on and there was no valid token (401 instead of 403)."""
    allowed_tools: frozenset[str] | None = None
    """This turn's `allowedTools` / `tool_whitelist`; None: all."""
    counters: Counters = NOTHING_SPENT
    limits: Limits = UNLIMITED
    granted: bool = False
    """A grant for exactly this call was taken."""
    by_model: bool = False
    """A model calls a write tool that the user or an upstream server registered (`policy.model_write`)."""
    tainted: tuple[str, ...] = ()
    """JSON pointers of arguments whose origin is neither the user nor a field of a result (see `provenance`)."""
    redacted: bool = False
    """In replay: some argument values are digests, so a rule that reads them cannot be evaluated."""


@record
class Decision:
    """The result of decide. `fault` is None if and only if the verdict is allow."""

    verdict: Verdict
    fault: Fault | None = None
    reason: str = ""
    """The reason code of the check that decided."""
    pointer: str | None = None
    shadowed: bool = False
    """The policy would not have allowed the call, but is in shadow mode: recorded and allowed."""
    would: str | None = None
    """In shadow mode: the reason for which the call would not have been allowed."""
    args: dict[str, Any] | None = None
    """The new arguments, if the rule of the tool's plugin (room) changed them."""
    snapshot_digest: str | None = None
    hint: str | None = None
    """What the caller can do about it; shown, not recorded."""


ALLOW = Decision(verdict="allow", reason="allowed")
