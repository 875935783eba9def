"""Insight's settings: `[rooms.insight]` in `tallystick.toml`."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class InsightSettings(BaseModel):
    """`[rooms.insight]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    analyzer_backend: str = "offline"
    """Who answers questions about tickets: `offline`, or a backend that asks a model."""
    analyst: dict[str, Any] = Field(default_factory=dict)
    """The endpoint of the model that answers, where the backend asks one."""
    embed_backend: str | None = None
    """What makes vectors of tickets; default: the best that is installed."""
    rerank_backend: str | None = None
    """What puts search results in order; default: none."""
