"""Intervals of workers: heartbeat, polling, shutdown."""

from dataclasses import dataclass

from tallystick.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """Intervals in seconds."""

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
