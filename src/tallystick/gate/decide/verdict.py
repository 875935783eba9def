"""The result of decide, and all that a decision may read."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from tallystick.gate.codes import Fault
from tallystick.records import record

Verdict = Literal["allow", "ask", "deny"]


@record
class Counters:
    """What had been spent when the decision was made. Integers only: they stand in the signed header."""

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
    """What one turn may spend; None: no limit. The turn's limits, already narrowed by its `toolPolicy`."""

    steps: int | None = None
    bytes: int | None = None
    tokens: int | None = None
    cost_microusd: int | None = None
    elapsed_ms: int | None = None
    named: Mapping[str, int] = field(default_factory=dict[str, int])


NOTHING_SPENT = Counters()
UNLIMITED = Limits()
"""Shared by all calls outside a turn: making a new one for each would cost more than deciding."""


@record
class Context:
    """Everything but the proposal and the policy that a decision reads; the receipt keeps it, so replay is exact."""

    roles: frozenset[str]
    authenticated: bool = True
    """False: auth is on and no valid token came (401 instead of 403)."""
    allowed_tools: frozenset[str] | None = None
    """This turn's `allowedTools` / `tool_whitelist`; None: all."""
    counters: Counters = NOTHING_SPENT
    limits: Limits = UNLIMITED
    granted: bool = False
    """A grant for exactly this call was taken."""
    tainted: tuple[str, ...] = ()
    """JSON pointers of arguments whose origin is neither the user nor a field of a result (see `provenance`)."""
    redacted: bool = False
    """On replay: some argument values are digests, so a rule that reads them cannot be decided again."""


@record
class Decision:
    """What policy says. `fault` is None exactly when the verdict is allow."""

    verdict: Verdict
    fault: Fault | None = None
    reason: str = ""
    """A fixed string naming the check that decided."""
    pointer: str | None = None
    shadowed: bool = False
    """The policy would not have allowed it, but runs in shadow: recorded and let through."""
    would: str | None = None
    """In shadow: the reason it would have been stopped for."""
    args: dict[str, Any] | None = None
    """Set when a room's rule transformed the arguments."""
    snapshot_digest: str | None = None


ALLOW = Decision(verdict="allow", reason="allowed")
