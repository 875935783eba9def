"""Budgets of turns and tasks, and rate limits: the checks, and the counters they read.

The checks are pure and compare `Counters` with `Limits`. Counting has state: a `Meter` belongs to a turn created by the
server (and through its parent to the task that the server assigned), never to an id the model chooses, so a model that
loops or restarts under another name is charged to the same meter. Clocks are monotonic and passed in as arguments.
"""

from collections import OrderedDict, deque
from threading import Lock

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import BUDGET, OUTPUT_BUDGET, RATE
from tallystick.gate.decide.tool_rule import ToolRule
from tallystick.gate.decide.verdict import UNLIMITED, Context, Counters, Decision, Limits
from tallystick.gate.session import Session
from tallystick.settings import LimitSettings

STEPS_SPENT = Decision(verdict="deny", fault=BUDGET, reason="step_budget_spent")
BYTES_SPENT = Decision(verdict="deny", fault=OUTPUT_BUDGET, reason="output_budget_spent")
TOKENS_SPENT = Decision(verdict="deny", fault=BUDGET, reason="token_budget_spent")
COST_SPENT = Decision(verdict="deny", fault=BUDGET, reason="cost_budget_spent")
NAMED_SPENT = Decision(verdict="deny", fault=BUDGET, reason="named_budget_spent")
TIME_SPENT = Decision(verdict="deny", fault=BUDGET, reason="wall_time_spent")
RATE_REACHED = Decision(verdict="deny", fault=RATE, reason="rate_reached")

NO_LIMITS = UNLIMITED
WINDOW_S = 60.0
"""Rates are calls per minute."""
GRAIN_S = 0.1
"""Calls this close together share one entry, so a window has at most 600 entries at any rate."""
MAX_WINDOWS = 4096
"""Maximum number of (caller, tool) windows; the least recently used is evicted first."""
MAX_TASKS = 16_384
"""Maximum number of task meters; the least recently used is evicted first."""


def within(proposal: Proposal, context: Context, _rule: ToolRule) -> Decision | None:
    """Deny if any budget was already spent before this call."""
    limits = context.limits
    # Fast path: most calls are outside a turn and have no limits.
    if limits is NO_LIMITS:
        return None
    spent = context.counters
    # A budget is spent at the limit, not past it: what this call will use is not known yet.
    for limit, used, refusal in (
        (limits.steps, spent.steps, STEPS_SPENT),
        (limits.bytes, spent.bytes, BYTES_SPENT),
        (limits.tokens, spent.tokens, TOKENS_SPENT),
        (limits.cost_microusd, spent.cost_microusd, COST_SPENT),
        (_named_limit(proposal, limits), spent.spent.get(proposal.card.spends or "", 0), NAMED_SPENT),
        (limits.elapsed_ms, spent.elapsed_ms, TIME_SPENT),
    ):
        if limit is not None and used >= limit:
            return refusal
    return None


def rate(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Deny a caller that has reached this tool's calls per minute."""
    return RATE_REACHED if rule.rate is not None and context.counters.rate >= rule.rate else None


def limits_from(settings: LimitSettings) -> Limits:
    """Return the limits of a turn from the configuration."""
    return Limits(
        steps=settings.steps,
        bytes=settings.bytes_per_turn,
        tokens=settings.tokens,
        cost_microusd=settings.cost_microusd,
        elapsed_ms=None if settings.wall_s is None else settings.wall_s * 1000,
        named=dict(settings.named),
    )


def narrowed(limits: Limits, asked: Limits) -> Limits:
    """Combine two limits, the lower one of each kind: a turn may ask for less than configured, never for more."""
    return Limits(
        steps=_least(limits.steps, asked.steps),
        bytes=_least(limits.bytes, asked.bytes),
        tokens=_least(limits.tokens, asked.tokens),
        cost_microusd=_least(limits.cost_microusd, asked.cost_microusd),
        elapsed_ms=_least(limits.elapsed_ms, asked.elapsed_ms),
        named={**asked.named, **{name: min(most, asked.named.get(name, most)) for name, most in limits.named.items()}},
    )


class Meter:
    """Counts what a turn spends, and charges its task (the parent meter) too. Thread-safe."""

    def __init__(self, *, started: float, limits: Limits = NO_LIMITS, parent: "Meter | None" = None) -> None:
        self._started = started
        self._limits = limits
        self._parent = parent
        self._lock = Lock()
        self._steps = self._bytes = self._tokens = self._cost = 0
        self._named: dict[str, int] = {}

    def begin(self, now: float, *, spends: str | None = None, rate: int = 0) -> tuple[Counters, Limits]:
        """Count one attempt and return what the decision reads: what was spent before it, and the limits.

        Reading and counting are atomic, so concurrent calls cannot exceed what is left of the budget. Denied attempts
        count as steps too, so that a retry loop ends.
        """
        with self._lock:
            before = Counters(
                steps=self._steps,
                bytes=self._bytes,
                tokens=self._tokens,
                cost_microusd=self._cost,
                # A clock that runs backwards (another machine's, a test's) must not refund time.
                elapsed_ms=max(0, int((now - self._started) * 1000)),
                rate=rate,
                spent=dict(self._named),
            )
            # Counted before the decision; `give_back` refunds the named budget if the call does not run.
            self._steps += 1
            if spends is not None:
                self._named[spends] = self._named.get(spends, 0) + 1
        if self._parent is None:
            return before, self._limits
        return _tightest((before, self._limits), self._parent.begin(now, spends=spends, rate=rate))

    def give_back(self, name: str) -> None:
        """Refund one unit of a named budget, because the call that used it did not run."""
        with self._lock:
            self._named[name] = max(0, self._named.get(name, 0) - 1)
        if self._parent is not None:
            self._parent.give_back(name)

    def spend(self, *, size: int = 0, tokens: int = 0, cost_microusd: int = 0) -> None:
        """Count usage by a call or the model: bytes shown to the model, tokens, cost."""
        with self._lock:
            self._bytes += size
            self._tokens += tokens
            self._cost += cost_microusd
        if self._parent is not None:
            self._parent.spend(size=size, tokens=tokens, cost_microusd=cost_microusd)

    def bytes_left(self) -> int | None:
        """Return how many bytes of output the model may still be shown; None if unlimited."""
        own = None if self._limits.bytes is None else max(0, self._limits.bytes - self._bytes)
        return own if self._parent is None else _least(own, self._parent.bytes_left())


class TaskMeters:
    """One meter per task assigned by the server. All sessions and turns of a task share it."""

    def __init__(self, *, most: int = MAX_TASKS) -> None:
        self._most = most
        self._meters: OrderedDict[tuple[str, str], Meter] = OrderedDict()
        self._lock = Lock()

    def of(self, session: Session, *, limits: Limits, now: float) -> Meter | None:
        """Return the meter of the session's task, created on first use; None if the session has no task."""
        key = task_key(session)
        if key is None:
            return None
        with self._lock:
            meter = self._meters.get(key)
            if meter is None:
                meter = self._meters[key] = Meter(started=now, limits=limits)
            # An active task is moved to the end often, so the evicted one is finished or abandoned.
            self._meters.move_to_end(key)
            if len(self._meters) > self._most:
                self._meters.popitem(last=False)
        return meter

    def forget(self, session: Session) -> None:
        """Drop the meter of a finished task."""
        key = task_key(session)
        if key is not None:
            with self._lock:
                self._meters.pop(key, None)


class RateWindows:
    """Calls of the last minute per caller and tool, counted within this process."""

    def __init__(self, *, most: int = MAX_WINDOWS) -> None:
        self._most = most
        self._windows: OrderedDict[tuple[str, str], _Window] = OrderedDict()
        self._lock = Lock()

    def take(self, caller: str, tool: str, limit: int | None, now: float) -> int:
        """Return how many calls are in the window, and count this one unless the limit is reached.

        Without a limit nothing is counted. A call over the limit is denied by `rate` and not counted, so a caller that
        waits a minute is allowed again, and memory does not grow with the number of denied calls.
        """
        if limit is None:
            return 0
        with self._lock:
            window = self._windows.get((caller, tool))
            if window is None:
                window = self._windows[caller, tool] = _Window()
            self._windows.move_to_end((caller, tool))
            if len(self._windows) > self._most:
                self._windows.popitem(last=False)
            count = window.count(now)
            if count < limit:
                window.add(now)
        return count


class _Window:
    """Calls of one minute as entries (first, last, count); an entry expires a minute after its last call."""

    def __init__(self) -> None:
        self._entries: deque[tuple[float, float, int]] = deque()
        self._total = 0

    def count(self, now: float) -> int:
        # Expire by the last call of an entry: its earlier calls then count slightly too long rather than too short.
        while self._entries and self._entries[0][1] <= now - WINDOW_S:
            self._total -= self._entries.popleft()[2]
        return self._total

    def add(self, now: float) -> None:
        self._total += 1
        if self._entries and now - self._entries[-1][0] < GRAIN_S:
            first, last, many = self._entries[-1]
            self._entries[-1] = (first, max(now, last), many + 1)
        else:
            self._entries.append((now, now, 1))


def _named_limit(proposal: Proposal, limits: Limits) -> int | None:
    return None if proposal.card.spends is None else limits.named.get(proposal.card.spends)


def _least(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def task_key(session: Session) -> tuple[str, str] | None:
    """Identify the task by ids that the server made; session, turn and agent names are left out on purpose."""
    # Innermost first: a ticket within a run has its own budget.
    for kind, name in (("ticket", session.ticket_id), ("run", session.run_id), ("task", session.task_id)):
        if name is not None:
            return kind, name
    return None


def _tightest(one: tuple[Counters, Limits], other: tuple[Counters, Limits]) -> tuple[Counters, Limits]:
    """Merge turn and task into the one pair a decision reads: for each kind of budget, the one with less left."""
    counters: dict[str, int] = {}
    limits: dict[str, int | None] = {}
    for name in ("steps", "bytes", "tokens", "cost_microusd", "elapsed_ms"):
        pairs = [(getattr(counter, name), getattr(limit, name)) for counter, limit in (one, other)]
        counters[name], limits[name] = _less_left(*pairs)
    spent, named = dict(one[0].spent), dict(one[1].named)
    for name in {**other[0].spent, **other[1].named}:
        used, most = _less_left(
            *((counter.spent.get(name, 0), limit.named.get(name)) for counter, limit in (one, other))
        )
        spent[name] = used
        if most is not None:
            named[name] = most
    return (
        Counters(**counters, rate=one[0].rate, spent={name: used for name, used in spent.items() if used}),
        Limits(**limits, named=named),
    )


# A pair is (used, limit); return the one with less left.
def _less_left(one: tuple[int, int | None], other: tuple[int, int | None]) -> tuple[int, int | None]:
    if one[1] is None or other[1] is None:
        return other if one[1] is None else one
    return one if one[1] - one[0] <= other[1] - other[0] else other
