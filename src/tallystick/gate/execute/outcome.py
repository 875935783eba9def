"""The result of a submission, as returned to the caller by every interface (HTTP, MCP, Python, command line)."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, Literal

from typing_extensions import TypeVar

from tallystick.errors import TallyError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import Category, Fault, Stop
from tallystick.records import record

Status = Literal["accepted", "rejected", "transformed"]
T = TypeVar("T", default=Any)


@record
class Failure:
    """The failure of an accepted call."""

    fault: Fault
    message: str
    """Safe to show: written by the gate or by the tool in a `ToolError`; stack traces go to the log only."""
    status: int | None = None
    """The tool's own HTTP status, passed through (404, 409)."""
    hint: str | None = None

    @property
    def http(self) -> int:
        """The HTTP status of the response."""
        return self.status or self.fault.http


@record
class Output:
    """A result as plain JSON data and as its serialized bytes."""

    value: Any
    data: bytes


@record
class Ran:
    """The result of running a handler: an output that matches the schema, or a failure."""

    output: Output | None = None
    failure: Failure | None = None


@record
class Held:
    """A call that waits for approval."""

    approval_id: str
    expires_at: str


@record
class Shown:
    """The part of the output shown to a model; the receipt has the digest and size of the whole output."""

    text: str
    truncated: bool
    sha256: str
    full_size: int


@record
class Outcome(Generic[T]):
    """The outcome of one submission. Every submission has exactly one outcome and one receipt.

    `T` is the declared result type of the tool, if the call passed the function and not only its id.
    """

    status: Status
    receipt_id: str
    tool: str | None = None
    args: Mapping[str, Any] | None = None
    """As the tool received them (after alias resolution)."""
    rejection: Rejection | None = None
    failure: Failure | None = None
    result: Any = None
    """JSON data, as in the receipt; `unwrap` returns the declared type."""
    held: Held | None = None
    shown: Shown | None = None
    """Only in agent turns."""
    final: bool = False
    """The model asked to finish with its final answer."""
    must_finish: bool = False
    """A budget is spent: the model's next step must be the final answer."""
    handed_back: bool = False
    """An accepted call of a client-side tool: the client runs it and reports the result."""
    reader: Callable[[Any], T] | None = None
    """Converts the result to the declared type; None: no conversion needed, or the type is unknown."""

    @property
    def ok(self) -> bool:
        """Whether the call was not rejected and did not fail."""
        return self.status != "rejected" and self.failure is None

    @property
    def failed(self) -> bool:
        """Whether the tool ran and failed: it raised, timed out, or returned an invalid result."""
        return self.failure is not None and self.failure.fault.ran

    @property
    def code(self) -> str | None:
        """The `BoundaryCode` of a rejection, or the name of the fault (`tool_failed`, `timeout`, …)."""
        if self.rejection is not None:
            return self.rejection.code or self.rejection.fault.name
        return None if self.failure is None else self.failure.fault.name

    @property
    def fault(self) -> Fault | None:
        """The fault of the rejection or failure (a row of the table in `gate/codes.py`); None if there is none."""
        if self.rejection is not None:
            return self.rejection.fault
        return self.failure.fault if self.failure is not None else None

    @property
    def http(self) -> int:
        """The HTTP status of this outcome."""
        if self.failure is not None:
            return self.failure.http
        return self.rejection.fault.http if self.rejection is not None else 200

    @property
    def stop_hook(self) -> str | None:
        """Why the agent's turn ends, sent to it as `STOP_HOOK: <type> <code>`; None if it may go on."""
        if self.held is not None:
            return Stop.APPROVAL_REQUIRED
        if self.rejection is not None and not self.must_finish:
            return f"{Stop.TOOL_CALL_REJECTED} {self.rejection.call_code}"
        return None

    def unwrap(self) -> T:
        """Return the result as its declared type, or raise.

        Raises:
            CallRefused: The call was rejected.
            CallFailed: The tool failed, or the result cannot be converted from JSON to its declared type.
        """
        if self.rejection is not None:
            where = f" at {self.rejection.pointer}" if self.rejection.pointer else ""
            raise CallRefused(f"{self.rejection.reason}{where} ({self.receipt_id})", code=str(self.rejection.code))
        if self.failure is not None:
            raise CallFailed(f"{self.failure.message} ({self.receipt_id})", code=str(self.failure.fault.category))
        if self.reader is None:
            result: T = self.result
            return result
        try:
            return self.reader(self.result)
        except ValueError as error:
            message = f"The result cannot be read as its declared type; use `result` ({self.receipt_id})"
            raise CallFailed(message, code="result_unreadable") from error

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form: {status, proposal?, rejection?, result?, receipt_id, held?, error?}."""
        wire: dict[str, Any] = {"status": self.status, "receipt_id": self.receipt_id}
        if self.tool is not None and self.args is not None:
            wire["proposal"] = {"tool_name": self.tool, "payload": self.args}
        if self.rejection is not None:
            wire["rejection"] = self.rejection.as_dict()
        if self.held is not None:
            wire["held"] = {"approval_id": self.held.approval_id, "expires_at": self.held.expires_at}
        if self.failure is not None:
            wire["error"] = self.problem()["error"]
        elif self.status != "rejected" and not self.final:
            wire["result"] = self.result
        return wire | self._turn_fields()

    def _turn_fields(self) -> dict[str, Any]:
        wire: dict[str, Any] = {}
        if self.shown is not None:
            wire["shown"] = {
                "text": self.shown.text,
                "truncated": self.shown.truncated,
                "sha256": self.shown.sha256,
                "full_size": self.shown.full_size,
            }
        if self.final:
            wire["final"] = True
        if self.must_finish:
            wire["must_finish"] = True
        if self.handed_back:
            wire["handed_back"] = True
        return wire

    def problem(self) -> dict[str, Any]:
        """Return the error payload; an empty hint is left out."""
        details: dict[str, Any] = {"tool_name": self.tool}
        if self.failure is not None:
            message, category = self.failure.message, _name(self.failure.fault.category)
            if self.failure.hint:
                details["hint"] = self.failure.hint
        elif self.rejection is not None:
            message, category = self.rejection.reason, self.rejection.category
            hint = self.rejection.hint or (f"see {self.rejection.pointer}" if self.rejection.pointer else None)
            if hint is not None:
                details["hint"] = hint
        else:
            message, category = "", None
        details["status"] = self.http
        return {"error": {"category": category, "message": message, "details": details}}


def _name(category: Category | None) -> str | None:
    return None if category is None else str(category)


class CallRefused(TallyError):  # noqa: N818 - public name, says what happened
    """Raised by `unwrap` for a rejected call."""

    code = "call_refused"


class CallFailed(TallyError):  # noqa: N818
    """Raised by `unwrap` for an accepted call that failed."""

    code = "call_failed"
