"""The counts kept for agent turns."""

from dataclasses import dataclass, field

NUMBERS = ("activations", "tokens", "tokens_in", "tokens_out", "cost_microusd")
"""The numeric fields of a count."""


@dataclass(slots=True)
class Count:
    """Activations, tokens, cost and refusals of one session, agent or conference."""

    activations: int = 0
    """Agent turns."""
    tokens: int = 0
    """Input plus output tokens."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_microusd: int = 0
    rejections: dict[str, int] = field(default_factory=dict[str, int])
    """Bucket → number of refusals."""

    def add(self, other: "Count") -> None:
        """Add another count to this one."""
        for name in NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for bucket, number in other.rejections.items():
            self.rejections[bucket] = self.rejections.get(bucket, 0) + number
