"""Metrics and progress of the room's work; listeners are optional."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallystick.gate.execute.progress import report_progress

if TYPE_CHECKING:
    from tallystick.plugin import RoomContext
    from tallystick.rooms.insight.ingest.dataset_import import Progress
    from tallystick.rooms.insight.model import Analysis

EMBEDDINGS, SEARCH, TOKENS = "embeddings_throughput", "vector_search_latency_seconds", "analysis_token_usage"
"""Names of the metrics: texts a second by model, seconds of a search, tokens of an analysis."""
HUNDRED = 100
_log = logging.getLogger(__name__)


class InsightMetrics:
    """Reports metrics and progress; errors of listeners are ignored."""

    def __init__(self, context: "RoomContext") -> None:
        self._context = context

    def told(self, what: str, value: float, of: str = "") -> None:
        """One value, under its metric's name and label."""
        if self._context.observer is None:
            return
        try:
            self._context.observer.measured(what=what, value=value, of=of)
        except Exception:  # noqa: BLE001 - watching must never stop work
            _log.exception("an observer failed; the work is not affected")

    def analyses(self, run: "Callable[..., Analysis]") -> "Callable[..., Analysis]":
        """The same, and how many tokens it used: those of the model, or of the tickets that were drawn."""

        def measured(**order: Any) -> "Analysis":
            made = run(**order)
            usage = made.answer.get("usage")
            drawn = made.answer.get("sample_tokens", 0)
            self.told(TOKENS, usage["input_tokens"] + usage["output_tokens"] if usage else drawn)
            return made

        return measured


def tell_reading(progress: "Progress") -> None:
    """How far a file was read, for a bar."""
    report_progress(progress.share * HUNDRED, HUNDRED, f"{progress.rows} rows")
