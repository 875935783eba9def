"""The result of a submission: what the caller is told, in every dialect."""

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
    """An accepted call that did not come to a good end."""

    fault: Fault
    message: str
    """Clean: made by us or raised on purpose by the tool; a stack trace goes to the log only."""
    status: int | None = None
    """A status the tool passed through (404, 409)."""
    hint: str | None = None

    @property
    def http(self) -> int:
        """The status to answer with."""
        return self.status or self.fault.http


@record
class Output:
    """A result as plain JSON and as the bytes of it."""

    value: Any
    data: bytes


@record
class Ran:
    """What came of running a handler: an output that fits the schema, or a failure."""

    output: Output | None = None
    failure: Failure | None = None


@record
class Held:
    """A call that waits for a person."""

    approval_id: str
    expires_at: str


@record
class Shown:
    """What of the output a model is shown; the receipt keeps digest and size of the whole."""

    text: str
    truncated: bool
    sha256: str
    full_size: int


@record
class Outcome(Generic[T]):
    """What came of one submission. Every submission has exactly one, and exactly one receipt.

    `T` is the type that the tool declares for its result, where a call named the function and not only its id.
    """

    status: Status
    receipt_id: str
    tool: str | None = None
    args: Mapping[str, Any] | None = None
    """As the tool received them (after aliases)."""
    rejection: Rejection | None = None
    failure: Failure | None = None
    result: Any = None
    """As JSON data, as the receipt holds it; `unwrap` gives the declared type."""
    held: Held | None = None
    shown: Shown | None = None
    """Only in agent turns."""
    final: bool = False
    """The model asked to give its final answer."""
    must_finish: bool = False
    """A budget is spent: the next thing must be the final answer."""
    handed_back: bool = False
    """An accepted call of the client's own tool: the client runs it and reports."""
    reader: Callable[[Any], T] | None = None
    """Reads the result as the declared type; None: the two are the same, or the type is not known."""

    @property
    def ok(self) -> bool:
        """Whether the tool ran and its result stands."""
        return self.status != "rejected" and self.failure is None

    @property
    def failed(self) -> bool:
        """Whether the tool ran and failed: it raised, took too long, or gave what it does not declare."""
        return self.failure is not None and self.failure.fault.ran

    @property
    def code(self) -> str | None:
        """Why the call was refused (a boundary code) or how it failed (`tool_failed`, `timeout`, …)."""
        if self.rejection is not None:
            return self.rejection.code or self.rejection.fault.name
        return None if self.failure is None else self.failure.fault.name

    @property
    def fault(self) -> Fault | None:
        """The row of the outcome table, if anything went wrong."""
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
        """`STOP_HOOK` type with its code, for agent turns."""
        if self.held is not None:
            return Stop.APPROVAL_REQUIRED
        if self.rejection is not None and not self.must_finish:
            return f"{Stop.TOOL_CALL_REJECTED} {self.rejection.call_code}"
        return None

    def unwrap(self) -> T:
        """The result as its declared type, or an exception that says what went wrong.

        Raises:
            CallRefused: The call was rejected.
            CallFailed: The tool failed, or the result's type cannot be read back from JSON.
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
        """The wire form: {status, proposal?, rejection?, result?, receipt_id, held?, error?}."""
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
        """The problem payload; empty details are left out."""
        details: dict[str, Any] = {"tool_name": self.tool}
        if self.failure is not None:
            message, category = self.failure.message, _name(self.failure.fault.category)
            if self.failure.hint:
                details["hint"] = self.failure.hint
        elif self.rejection is not None:
            message, category = self.rejection.reason, self.rejection.category
            if self.rejection.pointer:
                details["hint"] = f"see {self.rejection.pointer}"
        else:
            message, category = "", None
        details["status"] = self.http
        return {"error": {"category": category, "message": message, "details": details}}


def _name(category: Category | None) -> str | None:
    return None if category is None else str(category)


class CallRefused(TallyError):  # noqa: N818 - reads as what it is
    """Raised by `unwrap` for a rejected call."""

    code = "call_refused"


class CallFailed(TallyError):  # noqa: N818
    """Raised by `unwrap` for an accepted call that failed."""

    code = "call_failed"
