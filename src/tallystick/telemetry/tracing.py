"""One span per call: `tool.call`, with attributes of the GenAI semantic conventions and the product's own.

Off by default. OpenTelemetry is imported only when tracing is on, and its SDK only when an endpoint is set; without an
endpoint the spans go to the tracer provider of the host program.

A span contains a summary of arguments and result, never their text: counts and identifiers only, as in
`{"dataset_id": 7, "question": "text(212)", "tickets": "list(40)", "limit": 20}`.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from tallystick.errors import ConfigError
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.record.secrets import TOKEN
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.settings import Settings
from tallystick.telemetry.metrics import UNKNOWN_TOOL

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

SPAN = "tool.call"
INSTRUMENTATION = "tallystick"
TRACES_PATH = "/v1/traces"

MAX_KEYS = 16
"""Maximum number of names in a summary; the rest is only counted."""

_ID_NAME = re.compile(r"(?:.*[_.-])?ids?|.*(?:Id|ID)")
_COUNT_NAME = re.compile(r"(?:.*_)?(?:count|total|size|limit|offset|k|n|steps|rows|lines)")
_IDENTIFIER = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
"""It must contain a digit: a plain word could be ordinary text."""


class Tracing:
    """Converts outcomes to spans."""

    def __init__(
        self,
        tracer: "Tracer",
        *,
        secret_names: Iterable[str] = (),
        clock_ns: Callable[[], int] = time.time_ns,
        shutdown: Callable[[], None] | None = None,
    ) -> None:
        """Set the tracer.

        Args:
            tracer: Receives the spans.
            secret_names: Argument names whose values are redacted, including their shape.
            clock_ns: Nanoseconds since 1970.
            shutdown: Sends the remaining spans; called on close.
        """
        self._tracer = tracer
        self._secret_names = _lower(secret_names)
        self._declared: dict[str, frozenset[str]] = {}
        """Declared names by version of the tool's card."""
        self._clock_ns = clock_ns
        self._shutdown = shutdown

    def called(self, *, session: Session, outcome: Outcome, card: Card | None, duration_us: int) -> None:
        """Emit the span of a completed call; its parent is the caller's current span."""
        ended = self._clock_ns()
        span = self._tracer.start_span(
            SPAN,
            start_time=ended - duration_us * 1000,
            attributes=self._attributes(session, outcome, card),
        )
        if outcome.fault is not None:
            from opentelemetry.trace import StatusCode  # noqa: PLC0415 - only if tracing is on

            span.set_status(StatusCode.ERROR)
        span.end(end_time=ended)

    def close(self) -> None:
        """Send the remaining spans."""
        if self._shutdown is not None:
            self._shutdown()

    def _attributes(self, session: Session, outcome: Outcome, card: Card | None) -> dict[str, Any]:
        tool_name = UNKNOWN_TOOL if card is None else card.name
        attributes: dict[str, Any] = {
            "tool_name": tool_name,
            "args_summary": self._args_summary(outcome, card),
            "result_summary": self._result_summary(outcome, card),
            "tally.status": outcome.status,
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool_name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": outcome.receipt_id,
            "gen_ai.conversation.id": session.session_id,
        }
        if session.agent_id is not None:
            attributes["gen_ai.agent.id"] = session.agent_id
        if outcome.fault is not None:
            attributes["error.type"] = outcome.fault.name
        return attributes

    def _args_summary(self, outcome: Outcome, card: Card | None) -> str:
        if card is None or outcome.args is None:
            return ""
        return summary(
            outcome.args, names=self._names(card), secret_names=self._secret_names.union(_lower(card.secrets))
        )

    def _result_summary(self, outcome: Outcome, card: Card | None) -> str:
        if card is None or not outcome.ok:
            return ""
        return summary(outcome.result, names=self._names(card), secret_names=self._secret_names)

    def _names(self, card: Card) -> frozenset[str]:
        names = self._declared.get(card.version)
        if names is None:
            names = declared_names([card.input_schema, card.output_schema])
            self._declared[card.version] = names
        return names


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def open_tracing(settings: Settings) -> Tracing | None:
    """Set up tracing as configured; None if it is off.

    Raises:
        ConfigError: An endpoint is set, but the exporter is not installed.
    """
    if not settings.telemetry.tracing:
        return None
    from opentelemetry import trace  # noqa: PLC0415 - only if tracing is on

    if settings.telemetry.otlp_endpoint is None:
        return Tracing(trace.get_tracer(INSTRUMENTATION), secret_names=settings.redact.keys)
    provider = _provider(settings.telemetry.otlp_endpoint)
    tracer = provider.get_tracer(INSTRUMENTATION)
    return Tracing(tracer, secret_names=settings.redact.keys, shutdown=provider.shutdown)


def _provider(endpoint: str) -> Any:
    try:
        exporter = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        sdk = import_module("opentelemetry.sdk.trace")
        export = import_module("opentelemetry.sdk.trace.export")
        resources = import_module("opentelemetry.sdk.resources")
    except ImportError:
        raise ConfigError(
            "telemetry.otlp_endpoint needs the tracing part: pip install 'tallystick[tracing]'.",
            code="tracing_not_installed",
        ) from None
    # The exporter uses the URL unchanged; users configure the collector's base URL.
    url = endpoint if endpoint.endswith(TRACES_PATH) else endpoint.rstrip("/") + TRACES_PATH
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": INSTRUMENTATION}))
    provider.add_span_processor(export.BatchSpanProcessor(exporter.OTLPSpanExporter(endpoint=url)))
    return provider


def summary(value: Any, *, names: frozenset[str], secret_names: frozenset[str] = frozenset()) -> str:
    """Describe a value in one short line of JSON.

    Args:
        value: The arguments or the result.
        names: The names declared in the tool's schema; any other name may itself be text and is only counted.
        secret_names: Lower-case names whose values are redacted, including their shape.
    """
    if not isinstance(value, Mapping):
        return orjson.dumps(_shape(value)).decode()
    described: dict[str, Any] = {}
    unnamed = 0
    for name, item in value.items():
        if len(described) >= MAX_KEYS or name not in names:
            unnamed += 1
        elif name.lower() in secret_names:
            described[name] = "redacted"
        else:
            described[name] = _described(name, item)
    if unnamed:
        described["…"] = unnamed
    return orjson.dumps(described).decode()


def declared_names(schema: Any) -> frozenset[str]:
    """Return every property name that a schema declares, at any depth."""
    found: set[str] = set()
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            properties = node.get("properties")
            found.update(properties if isinstance(properties, Mapping) else ())
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return frozenset(found)


def _described(name: str, value: Any) -> Any:
    if _ID_NAME.fullmatch(name):
        if isinstance(value, list | tuple):
            return [_identifier(item) for item in value[:MAX_KEYS]]
        return _identifier(value)
    if isinstance(value, int) and _COUNT_NAME.fullmatch(name):
        return value
    return _shape(value)


def _identifier(value: Any) -> Any:
    """Return the value if it can only be an identifier, else its shape."""
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, str) and _IDENTIFIER.fullmatch(value) and TOKEN.search(value) is None:
        return value
    return _shape(value)


def _shape(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return f"text({len(value)})"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return f"object({len(value)})"
    if isinstance(value, list | tuple):
        return f"list({len(value)})"
    return "other"
