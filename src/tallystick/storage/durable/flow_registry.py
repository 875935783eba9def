"""Registry of a process's flows, queues and schedules, and the intervals of its worker.

The rooms fill it; the worker and `start` read it.
"""

import inspect
import re
from dataclasses import dataclass

from tallystick.errors import ConfigError
from tallystick.turns.durable import Flow
from tallystick.turns.runs import DurableError, Queue, Schedule

CRON_FIELDS = (5, 6)
NAME = re.compile(r"[a-z][a-z0-9_.:-]{0,99}")


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowCard:
    """A registered flow with its name, queue and maximum attempts."""

    name: str
    flow: Flow
    queue: str
    attempts: int

    @property
    def is_async(self) -> bool:
        """Whether it runs on the event loop instead of in a thread."""
        return inspect.iscoroutinefunction(self.flow)


@dataclass(frozen=True, kw_only=True, slots=True)
class Intervals:
    """Intervals of a worker in seconds: heartbeat, polling, shutdown."""

    heartbeat_s: float = 2.0
    """Interval of heartbeats, one small write each, and of the checks of other workers."""
    stale_after_s: float = 10.0
    """Five missed heartbeats: longer than a slow disk or a paused container usually takes, short for waiting users."""
    poll_s: float = 0.5
    """Polling interval of a queue: short enough for waiting users, while five idle queues cost 4 % of a core."""
    grace_s: float = 10.0
    """How long a stopping worker waits for its steps; others take over the rest once its heartbeat is stale."""

    def check(self) -> None:
        """Refuse intervals that would make live workers look dead."""
        if min(self.heartbeat_s, self.poll_s) <= 0 or self.grace_s < 0 or self.stale_after_s < 3 * self.heartbeat_s:
            message = "heartbeat_s and poll_s must be above 0, and stale_after_s at least three heartbeats"
            raise ConfigError(message, code="config_bad_value")


class FlowRegistry:
    """The registered flows, queues and schedules; closed once a worker starts, because DBOS reads them at its start."""

    def __init__(self) -> None:
        self.flows: dict[str, FlowCard] = {}
        self.queues: dict[str, Queue] = {}
        self.schedules: dict[str, Schedule] = {}
        self._closed = False

    def close(self) -> None:
        """Accept no more flows and queues."""
        self._closed = True

    def add_queue(self, queue: Queue) -> None:
        """Register a queue; registering an equal one again does nothing."""
        self._check_open(queue.name)
        limits = (queue.concurrency, queue.per_worker, queue.starts)
        if any(limit is not None and limit < 1 for limit in limits) or queue.per_s <= 0:
            raise DurableError(f"queue '{queue.name}': give limits of at least 1, or None", code="queue_invalid")
        if self.queues.setdefault(queue.name, queue) != queue:
            raise DurableError(f"queue '{queue.name}' is declared twice, with other limits", code="queue_conflict")

    def register(self, card: FlowCard) -> None:
        """Register a flow under a unique name."""
        self._check_open(card.name)
        if card.queue not in self.queues:
            raise DurableError(f"flow '{card.name}': declare queue '{card.queue}' first", code="queue_unknown")
        if card.attempts < 1:
            raise DurableError(f"flow '{card.name}': allow at least 1 attempt", code="flow_invalid")
        if self.flows.setdefault(card.name, card) != card:
            raise DurableError(f"flow '{card.name}' is registered twice; give one another name", code="flow_conflict")

    def schedule(self, schedule: Schedule) -> None:
        """Register a schedule; its flow must be registered already. The worker checks the times when it starts."""
        _check_name(schedule.name)
        self.card(schedule.flow)
        if len(schedule.cron.split()) not in CRON_FIELDS:
            message = (
                f"the schedule '{schedule.name}' has cron={schedule.cron!r:.60}; give five fields, or six with seconds"
            )
            raise DurableError(message, code="schedule_invalid")
        self.schedules[schedule.name] = schedule

    def card(self, name: str) -> FlowCard:
        """Return the flow of that name; raises DurableError if it is unknown."""
        try:
            return self.flows[name]
        except KeyError:
            message = f"no flow '{name}' is registered here; known: {', '.join(sorted(self.flows)) or 'none'}"
            raise DurableError(message, code="flow_unknown") from None

    def _check_open(self, name: str) -> None:
        _check_name(name)
        if self._closed:
            raise DurableError(f"'{name}' comes too late: register before the worker begins", code="registration_late")


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        message = f"'{name}' cannot be a name: begin with a-z, go on with a-z, 0-9 and _ . : -, up to 100 characters"
        raise DurableError(message, code="name_invalid")
