"""Rates and task budgets that all nodes of a workspace share, counted in the database.

Without the database nothing can be counted: then a limit counts as reached, so that no call passes it.
"""

from threading import Lock
from typing import Any

from psycopg.types.json import Jsonb

from tallystick.errors import LedgerError
from tallystick.gate.decide.budgets import NO_LIMITS, WINDOW_S, Meter, RateWindows, TaskMeters, task_key
from tallystick.gate.decide.verdict import Counters, Limits
from tallystick.gate.session import Session
from tallystick.storage.shared_journal.link import Connection, Link

_KEPT_DAYS = 30
"""Budgets of tasks that were not charged for so long are deleted."""
_BEGIN = """INSERT INTO tally_meters (kind, name, steps, named) VALUES (%(kind)s, %(name)s, 1, %(first)s)
    ON CONFLICT (kind, name) DO UPDATE SET steps = tally_meters.steps + 1, last = clock_timestamp(),
    named = CASE WHEN %(spends)s::text IS NULL THEN tally_meters.named ELSE jsonb_set(tally_meters.named,
    ARRAY[%(spends)s::text], to_jsonb(COALESCE((tally_meters.named ->> %(spends)s::text)::bigint, 0) + 1)) END
    RETURNING steps - 1, bytes, tokens, cost, (extract(epoch FROM clock_timestamp() - started) * 1000)::bigint, named"""
_SPEND = """INSERT INTO tally_meters (kind, name, bytes, tokens, cost) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (kind, name) DO UPDATE SET bytes = tally_meters.bytes + EXCLUDED.bytes,
    tokens = tally_meters.tokens + EXCLUDED.tokens, cost = tally_meters.cost + EXCLUDED.cost,
    last = clock_timestamp()"""
_EXPIRE = """DELETE FROM tally_rates
    WHERE caller = %s AND tool = %s AND at <= clock_timestamp() - %s * interval '1 second'"""
_GIVE_BACK = """UPDATE tally_meters SET named = jsonb_set(named, ARRAY[%(spends)s::text],
    to_jsonb(GREATEST(0, COALESCE((named ->> %(spends)s::text)::bigint, 0) - 1)))
    WHERE kind = %(kind)s AND name = %(name)s"""
Task = tuple[str, str]


class SharedRates(RateWindows):
    """Calls of the last minute per caller and tool, of all nodes."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link

    def take(self, caller: str, tool: str, limit: int | None, now: float) -> int:  # noqa: ARG002 - the database's clock counts
        """Return how many calls are in the window, and count this one unless the limit is reached."""
        if limit is None:
            return 0

        def count(connection: Connection) -> int:
            with connection.transaction():
                connection.execute(
                    "SELECT pg_advisory_xact_lock(hashtext('tally_rates'), hashtext(%s))", (caller + tool,)
                )
                connection.execute(_EXPIRE, (caller, tool, WINDOW_S))
                row = connection.execute(
                    "SELECT count(*) FROM tally_rates WHERE caller = %s AND tool = %s", (caller, tool)
                ).fetchone()
                found = 0 if row is None else int(row[0])
                if found < limit:
                    connection.execute("INSERT INTO tally_rates (caller, tool) VALUES (%s, %s)", (caller, tool))
            return found

        try:
            return int(self._link.retried(count))
        except LedgerError:
            return limit


class SharedTaskMeters(TaskMeters):
    """One meter per task, the same on every node."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link

    def of(self, session: Session, *, limits: Limits, now: float) -> Meter | None:
        """Return the meter of the session's task; None if the session has no task."""
        key = task_key(session)
        return None if key is None else _SharedMeter(self._link, key, started=now, limits=limits)

    def forget(self, session: Session) -> None:
        """Drop the meter of a finished task, and those that were not charged for long."""
        key = task_key(session)
        if key is not None:
            with self._link.use() as connection:
                connection.execute(
                    "DELETE FROM tally_meters WHERE (kind, name) = (%s, %s) OR last < now() - %s * interval '1 day'",
                    (*key, _KEPT_DAYS),
                )


class _SharedMeter(Meter):
    """What a task has spent on all nodes."""

    def __init__(self, link: Link, key: Task, *, started: float, limits: Limits) -> None:
        super().__init__(started=started, limits=limits)
        self._link, self._key, self._most = link, key, limits
        self._owing = Lock()
        self._owed = [0, 0, 0]
        """Bytes, tokens and cost that could not be charged yet."""

    def begin(self, now: float, *, spends: str | None = None, rate: int = 0) -> tuple[Counters, Limits]:  # noqa: ARG002 - as above
        """Count one attempt and return what was spent before it, with the limits."""
        first = Jsonb({} if spends is None else {spends: 1})
        values = {"kind": self._key[0], "name": self._key[1], "spends": spends, "first": first}
        try:
            self._charge()
            row: tuple[Any, ...] = self._link.retried(lambda found: found.execute(_BEGIN, values).fetchone())
        except LedgerError:
            return _all_spent(self._most, rate), self._most
        steps, size, tokens, cost, elapsed_ms, named = row
        spent = {name: used - (name == spends) for name, used in named.items()}
        counters = Counters(
            steps=steps, bytes=size, tokens=tokens, cost_microusd=cost, elapsed_ms=max(0, elapsed_ms), rate=rate,
            spent={name: used for name, used in spent.items() if used},
        )  # fmt: skip
        return counters, self._most

    def give_back(self, name: str) -> None:
        """Refund one unit of a named budget; without the database it stays charged."""
        values = {"kind": self._key[0], "name": self._key[1], "spends": name}
        try:
            self._link.retried(lambda found: found.execute(_GIVE_BACK, values))
        except LedgerError:
            return

    def spend(self, *, size: int = 0, tokens: int = 0, cost_microusd: int = 0) -> None:
        """Count usage by a call or the model; without the database it is owed until the next call."""
        with self._owing:
            self._owed = [old + new for old, new in zip(self._owed, (size, tokens, cost_microusd), strict=True)]
        try:
            self._charge()
        except LedgerError:
            return

    def bytes_left(self) -> int | None:
        """Return how many bytes of output the model may still be shown; none without the database."""
        if self._most.bytes is None:
            return None
        text = "SELECT bytes FROM tally_meters WHERE kind = %s AND name = %s"
        try:
            self._charge()
            row = self._link.retried(lambda found: found.execute(text, self._key).fetchone())
        except LedgerError:
            return 0
        return max(0, self._most.bytes - (0 if row is None else int(row[0])))

    def _charge(self) -> None:
        with self._owing:
            if any(self._owed):
                owed = tuple(self._owed)
                self._link.retried(lambda found: found.execute(_SPEND, (*self._key, *owed)))
                self._owed = [0, 0, 0]


def _all_spent(limits: Limits, rate: int) -> Counters:
    """Return counters at which every limit is reached."""
    if limits is NO_LIMITS:
        return Counters(rate=rate)
    return Counters(
        steps=limits.steps or 0, bytes=limits.bytes or 0, tokens=limits.tokens or 0,
        cost_microusd=limits.cost_microusd or 0, elapsed_ms=limits.elapsed_ms or 0, rate=rate, spent=dict(limits.named),
    )  # fmt: skip
