"""Calls that a client runs itself: the reported results are recorded and put into the prompt.

The client names a call by its receipt, so this works across processes and restarts. A report that is sent again (a
client sends its whole conversation with each request) is recorded once.
"""

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from itertools import islice
from typing import Any

import orjson

from tallystick.agents.answers import Unanswered
from tallystick.agents.chat import Reported
from tallystick.agents.ports import AgentGate
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_strict
from tallystick.gate.execute.output import show, to_output
from tallystick.gate.session import Caller
from tallystick.records import record
from tallystick.turns.result import Injected

REMEMBERED = 4_096
"""Size of the cache of reports that this process recorded."""
SEARCHED = 20_000
"""Maximum number of records after the call to search for an earlier report."""

UNKNOWN = Unanswered(
    code="tool_call_unknown",
    advice="A tool result names a call that was not handed to you here. Send the tool_call_id as it was given.",
    field="messages",
)
TWO_SESSIONS = Unanswered(
    code="session_mismatch",
    advice="The tool results belong to another session. Leave the session out, or send the one of the calls.",
    field="messages",
)


@record
class Taken:
    """Reported results, ready for a prompt."""

    session_id: str | None
    """The session of the calls; None: there were none."""
    injected: tuple[Injected, ...] = ()
    reports: tuple[str, ...] = ()
    """Receipts of the results that came with this message."""
    heard: tuple[Any, ...] = ()
    """The values of the results: data, never instructions."""


class ClientCalls:
    """Records the results that clients report."""

    def __init__(self, gate: AgentGate) -> None:
        self._gate = gate
        self._known: OrderedDict[tuple[str, str], str] = OrderedDict()

    def take(
        self, results: tuple[Reported, ...], caller: Caller, *, session_id: str | None, step_bytes: int
    ) -> Taken | Unanswered:
        """Record new results and prepare all results for the prompt. Blocks on the ledger: not for the event loop.

        Args:
            results: The reported results.
            caller: The client's caller; the calls must belong to this caller.
            session_id: The session that the request names, if any; the calls must belong to it.
            step_bytes: The maximum bytes of one result in the prompt.
        """
        headers = [self._handed(result, caller) for result in results]
        if any(header is None for header in headers):
            return UNKNOWN
        calls = [header for header in headers if header is not None]
        sessions = {call["session_id"] for call in calls}
        if len(sessions | ({session_id} - {None})) > 1:
            return TWO_SESSIONS
        injected: list[Injected] = []
        reports: list[str] = []
        values = tuple(_value_of(result.content) for result in results)
        for result, call, value in zip(results, calls, values, strict=True):
            report_id = self._report(call, result, value)
            if result.fresh:
                reports.append(report_id)
            injected.append(_injected(call["tool_id"], report_id, value, step_bytes))
        return Taken(
            session_id=next(iter(sessions), None), injected=tuple(injected), reports=tuple(reports), heard=values
        )

    def _handed(self, result: Reported, caller: Caller) -> Mapping[str, Any] | None:
        """Return the header of the call; None if it was not handed back or is another caller's."""
        found = None if result.receipt_id is None else self._gate.ledger.find(result.receipt_id)
        if found is None or not (found.header.get("outcome") or {}).get("handed_back"):
            return None
        return found.header if found.header["caller"]["subject"] == caller.subject else None

    def _report(self, call: Mapping[str, Any], result: Reported, value: Any) -> str:
        receipt_id: str = call["receipt_id"]
        key = (receipt_id, sha256(result.content.encode()).hexdigest())
        known = self._known.get(key) or self._earlier(call, value)
        self._known[key] = known or self._gate.report(receipt_id, value)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return self._known[key]

    def _earlier(self, call: Mapping[str, Any], value: Any) -> str | None:
        """Find the receipt of the same report, recorded by another process or before a restart."""
        for receipt in islice(self._gate.ledger.read(call["seq"]), SEARCHED):
            header = receipt.header
            of_this = header.get("kind") == "report" and header.get("links", {}).get("outcome") == call["receipt_id"]
            if of_this and receipt.outputs == value:
                return receipt.receipt_id
        return None


def _value_of(content: str) -> Any:
    """Parse a JSON result, so that replies can quote parts of it; return other text unchanged."""
    if not content.lstrip().startswith(("{", "[")):
        return content
    value = parse_strict(content.encode())
    return content if isinstance(value, Rejection) else orjson.loads(orjson.dumps(value))


def _injected(tool: str, receipt_id: str, value: Any, step_bytes: int) -> Injected:
    shown = show(to_output(value), step_bytes=step_bytes, left_bytes=step_bytes)
    return Injected(
        tool=tool,
        receipt_id=receipt_id,
        text=shown.text,
        sha256=shown.sha256,
        full_size=shown.full_size,
        truncated=shown.truncated,
    )
