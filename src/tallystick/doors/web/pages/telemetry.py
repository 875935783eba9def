"""Telemetry: what agents did and used, refusals by reason, and the gate's counters since the server started."""

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import run, ui

from tallystick.app.agents import counted_of
from tallystick.doors.web.components.charts import bars
from tallystick.doors.web.components.figures import figure_row, plain_table
from tallystick.doors.web.components.states import empty, heading, section
from tallystick.doors.web.context import NavigationItem, PageContext, Visitor
from tallystick.doors.web.frame import page
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE
from tallystick.telemetry.metrics import MetricsSnapshot
from tallystick.telemetry.observer import Telemetry

"""Only auditors see the table of sessions, because it covers all users."""
SOON_S = 1.0
SHOWN = 50
BUCKETS = {
    "evidence_invalid": "Evidence that does not hold",
    "quote_not_found": "Words that stand nowhere",
    "tool_syntax": "Tool syntax in prose",
    "cot_leak": "Thinking that leaked",
    "format_error": "Not the form of a call",
}
"""Labels for the refusal counters."""
NUMBERS = (("activations", "Turns"), ("tokens_in", "Tokens read"), ("tokens_out", "Tokens written"))


def register(context: PageContext) -> tuple[str, ...]:
    """Register the page."""
    context.places.append(
        NavigationItem(path="/telemetry", name="Telemetry", icon="bar_chart", order=60, roles=EVERY_ROLE)
    )

    @page(context, "/telemetry", "Telemetry", roles=EVERY_ROLE)
    async def telemetry(visitor: Visitor) -> None:
        heading("Telemetry", "What the agents did and used, and what was refused; counts only, never anybody's words")
        await _Counts(context, audit=visitor.may(AUDIT_ROLES)).show()

    return ("/telemetry",)


class _Counts:
    """All counters, redrawn when a number changes."""

    def __init__(self, context: PageContext, *, audit: bool) -> None:
        self._context = context
        self._audit = audit
        self._seen: Any = None

    async def show(self) -> None:
        self._place = ui.column().classes("w-full gap-2")
        await self._again()
        ui.timer(SOON_S, self._again)

    async def _again(self) -> None:
        now = await run.io_bound(self._look)
        if now is None or now == self._seen:
            return
        self._seen = now
        self._place.clear()
        with self._place:
            self._draw(now)

    def _look(self) -> dict[str, Any]:
        counted = counted_of(self._context.gate)
        sessions, total = counted.sessions(limit=SHOWN, offset=0) if self._audit else ([], 0)
        return {
            **counted.totals(),
            "by_agent": counted.agents(),
            "by_conference": counted.conferences(),
            "by_session": sessions,
            "all_sessions": total,
            "gate": self._reading(),
        }

    def _reading(self) -> dict[str, Any] | None:
        watching = self._context.gate.observer
        metrics = watching.metrics if isinstance(watching, Telemetry) else None
        return None if metrics is None else _told(metrics.snapshot())

    def _draw(self, now: Mapping[str, Any]) -> None:
        totals, refused = now["totals"], sum(now["totals"]["rejections"].values())
        called = 0 if now["gate"] is None else sum(number for _, number, _ in now["gate"]["tools"])
        if not (totals["activations"] or refused or called or now["by_session"]):
            empty(
                "Nothing was counted yet",
                "Ask an agent something on the Conference page, or: tally chat",
                icon="bar_chart",
            )
            return
        figure_row(
            [
                ("Turns of agents", f"{totals['activations']:,}"),
                ("Refused", f"{refused:,}"),
                ("Tokens read", f"{totals['tokens_in']:,}"),
                ("Tokens written", f"{totals['tokens_out']:,}"),
                ("Cost", _dollars(totals["cost_microusd"])),
                ("Sessions", f"{now['sessions']:,}"),
            ]
        )
        section("What was refused")
        pairs = [(BUCKETS.get(name, name), float(number)) for name, number in sorted(totals["rejections"].items())]
        if refused:
            with ui.column().classes("tally-card"):
                bars("Refusals by reason", pairs, upright=False)
        else:
            ui.label("Nothing so far: every reply held what it claimed.").classes("tally-soft")
        self._tables(now)

    def _tables(self, now: Mapping[str, Any]) -> None:
        _table("By agent", "agent_id", "Agent", now["by_agent"])
        _table("By conference", "conference_id", "Conference", now["by_conference"])
        if self._audit:
            _table("By session", "session_id", "Session", now["by_session"])
            if now["all_sessions"] > SHOWN:
                ui.label(f"The last {SHOWN} of {now['all_sessions']:,}").classes("tally-soft")
        if now["gate"] is not None:
            _gate_counters(now["gate"])


def _table(title: str, key: str, name: str, counts: Sequence[Mapping[str, Any]]) -> None:
    if not counts:
        return
    section(title)
    rows = [
        (
            str(each[key]),
            *(f"{each[number]:,}" for number, _ in NUMBERS),
            f"{sum(each['rejections'].values()):,}",
            _dollars(each["cost_microusd"]),
        )
        for each in counts
    ]
    plain_table(title, (name, *(label for _, label in NUMBERS), "Refused", "Cost"), rows)


def _gate_counters(told: Mapping[str, Any]) -> None:
    section("The gate since this server was started")
    figure_row(
        [
            ("Calls", f"{sum(number for _, number, _ in told['tools']):,}"),
            ("Turns that had to begin with a call", f"{told['required']:,}"),
            ("Searches", f"{told['searches']:,}"),
            ("Tokens of analyses", f"{told['analysis_tokens']:,}"),
        ]
    )
    if told["tools"]:
        rows = [(name, f"{number:,}", mean) for name, number, mean in told["tools"]]
        plain_table("Calls by tool", ("Tool", "Calls", "Mean time"), rows)


def _told(reading: MetricsSnapshot) -> dict[str, Any]:
    tools = sorted(reading.tools.items(), key=lambda each: -each[1].count)
    return {
        "tools": [(name, timing.count, _time(timing.total / max(1, timing.count))) for name, timing in tools],
        "required": sum(reading.required.values()),
        "searches": reading.vector_search.count,
        "analysis_tokens": reading.analysis_tokens,
    }


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


def _dollars(micro: int) -> str:
    return f"${micro / 1_000_000:,.4f}" if micro else "none"
