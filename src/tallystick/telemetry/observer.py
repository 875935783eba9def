"""The single object that the pipeline notifies of events."""

import logging
from pathlib import Path

from tallystick.gate.codes import Bucket
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.settings import Settings
from tallystick.telemetry.metrics import UNKNOWN_TOOL, Metrics
from tallystick.telemetry.rejections import Rejections
from tallystick.telemetry.tracing import Tracing, open_tracing

EMBEDDINGS, VECTOR_SEARCH, ANALYSIS_TOKENS = (
    "embeddings_throughput",
    "vector_search_latency_seconds",
    "analysis_token_usage",
)
"""Metrics reported by rooms: texts per second by model, seconds of a search, tokens of an analysis."""
_log = logging.getLogger(__name__)


class Telemetry:
    """Implements the gate's `Observer`. It can neither change nor stop a call: errors here are only logged."""

    def __init__(self, *, metrics: Metrics | None, rejections: Rejections, tracing: Tracing | None = None) -> None:
        self.metrics = metrics
        """None if `telemetry.metrics` is off."""
        self.rejections = rejections
        self._tracing = tracing

    @classmethod
    def open(cls, settings: Settings, *, control_room: Path) -> "Telemetry":
        """Set up telemetry as configured; files are created with the first write.

        Raises:
            ConfigError: Tracing is configured but not installed.
        """
        return cls(
            metrics=Metrics() if settings.telemetry.metrics else None,
            rejections=Rejections(control_room / "telemetry"),
            tracing=open_tracing(settings),
        )

    def called(
        self, *, session: Session, outcome: Outcome, card: Card | None, cot_leak: bool, duration_us: int
    ) -> None:
        """Record the outcome of a submission."""
        try:
            fault = outcome.fault
            if fault is not None or cot_leak:
                self._count(session, fault.bucket if fault is not None else None, cot_leak=cot_leak)
            if outcome.final:
                return  # a final answer is not a tool call
            if self.metrics is not None:
                self.metrics.tool_call(UNKNOWN_TOOL if card is None else card.name, duration_us / 1_000_000)
            if self._tracing is not None:
                self._tracing.called(session=session, outcome=outcome, card=card, duration_us=duration_us)
        except Exception:  # noqa: BLE001 - telemetry must never stop a call
            _log.exception("telemetry failed; the call is not affected")

    def replied(self, *, session: Session, bucket: str | None) -> None:
        """Record a checked reply; `bucket` is the reason if it was rejected."""
        try:
            if bucket is not None:
                self._count(session, bucket, cot_leak=False)
        except Exception:  # noqa: BLE001 - telemetry must never stop a call
            _log.exception("telemetry failed; the reply is not affected")

    def required(self, *, by: str) -> None:
        """Count a turn that was required to begin with a tool call."""
        if self.metrics is not None:
            self.metrics.required_call(by)

    def measured(self, *, what: str, value: float, of: str = "") -> None:
        """Record a room's measurement; unknown names are ignored."""
        metrics = self.metrics
        if metrics is None:
            return
        if what == EMBEDDINGS:
            metrics.embeddings(of, value)
        elif what == VECTOR_SEARCH:
            metrics.vector_search(value)
        elif what == ANALYSIS_TOKENS:
            metrics.analysis_tokens(round(value))

    def close(self) -> None:
        """Write the remaining counts and send the remaining spans."""
        self.rejections.close()
        if self._tracing is not None:
            self._tracing.close()

    def _count(self, session: Session, bucket: str | None, *, cot_leak: bool) -> None:
        """Count a rejection, and a stripped or rejected thinking block, each once in its own bucket."""
        buckets = {bucket, Bucket.COT_LEAK if cot_leak else None} - {None}
        for each in sorted(str(name) for name in buckets):
            if self.metrics is not None:
                self.metrics.rejection(each)
            self.rejections.add(session, bucket=each)
