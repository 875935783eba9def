"""How fast workers beat, look and leave."""

from dataclasses import dataclass

from tallystick.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """All in seconds."""

    heartbeat_s: float = 2.0
    """One small write each; also how often a worker looks after the others."""
    stale_after_s: float = 10.0
    """Five beats missed: longer than a slow disk or a paused container usually takes, short for who waits."""
    poll_s: float = 0.5
    """How often a queue is looked into: soon enough for who waits, while five idle queues cost 4 % of a core."""
    grace_s: float = 10.0
    """How long a stopping worker waits for its steps to end; the rest is taken over once its row stands still."""

    def check(self) -> None:
        """Refuse what would call live workers dead."""
        if min(self.heartbeat_s, self.poll_s) <= 0 or self.grace_s < 0 or self.stale_after_s < 3 * self.heartbeat_s:
            message = "heartbeat_s and poll_s must be above 0, and stale_after_s at least three heartbeats"
            raise ConfigError(message, code="config_bad_value")
