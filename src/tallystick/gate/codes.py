"""The fault table: every way a call can fail, with its code for each consumer.

One row per fault. The agent turn, the tool boundary, the problem payload, HTTP and telemetry each read their own
column, so their codes stay consistent.
"""

from dataclasses import dataclass
from enum import StrEnum


class CallCode(StrEnum):
    """Rejection codes sent to an agent turn (`STOP_HOOK: tool_call_rejected` + code)."""

    INVALID_FORMAT = "tool_call_invalid_format"
    MULTIPLE = "tool_call_multiple"
    NONCE_INVALID = "tool_call_nonce_invalid"
    UNKNOWN_TOOL = "tool_call_unknown_tool"
    INVALID_ARGS = "tool_call_invalid_args"
    OUTPUT_LIMIT = "tool_call_output_limit"


class BoundaryCode(StrEnum):
    """The five fixed rejection codes of the tool boundary."""

    INVALID_TOOL_NAME = "INVALID_TOOL_NAME"
    INVALID_PAYLOAD = "INVALID_PAYLOAD"
    MISSING_PROVENANCE = "MISSING_PROVENANCE"
    POLICY_VIOLATION = "POLICY_VIOLATION"
    DIRECT_CANONICAL_WRITE_FORBIDDEN = "DIRECT_CANONICAL_WRITE_FORBIDDEN"


class Category(StrEnum):
    """The five categories of a problem payload."""

    VALIDATION_ERROR = "validation_error"
    RBAC_DENIED = "rbac_denied"
    BUDGET_EXCEEDED = "budget_exceeded"
    TOOL_UNAVAILABLE = "tool_unavailable"
    DOWNSTREAM_ERROR = "downstream_error"


class Bucket(StrEnum):
    """Telemetry counters for rejections."""

    EVIDENCE_INVALID = "evidence_invalid"
    QUOTE_NOT_FOUND = "quote_not_found"
    TOOL_SYNTAX = "tool_syntax"
    COT_LEAK = "cot_leak"
    FORMAT_ERROR = "format_error"


class Stop(StrEnum):
    """Why an agent turn ended early."""

    TOOL_CALL_REJECTED = "tool_call_rejected"
    APPROVAL_REQUIRED = "approval_required"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One row of the fault table."""

    name: str
    """Stable name of the row, used in receipts and metrics."""
    call_code: CallCode | None
    boundary_code: BoundaryCode | None
    category: Category | None
    http: int
    bucket: Bucket | None
    ran: bool = False
    """Whether the call failed after it was accepted (`status` then stays accepted)."""


_REJECTED = BoundaryCode.POLICY_VIOLATION
_PAYLOAD = BoundaryCode.INVALID_PAYLOAD
_INVALID = Category.VALIDATION_ERROR

FORMAT = Fault(
    name="format", call_code=CallCode.INVALID_FORMAT, boundary_code=_PAYLOAD, category=_INVALID, http=400,
    bucket=Bucket.FORMAT_ERROR,
)  # fmt: skip
MULTIPLE = Fault(
    name="multiple", call_code=CallCode.MULTIPLE, boundary_code=_PAYLOAD, category=_INVALID, http=400,
    bucket=Bucket.TOOL_SYNTAX,
)  # fmt: skip
TOOL_SYNTAX = Fault(
    name="tool_syntax", call_code=CallCode.INVALID_FORMAT, boundary_code=_PAYLOAD, category=_INVALID, http=400,
    bucket=Bucket.TOOL_SYNTAX,
)  # fmt: skip
COT = Fault(
    name="cot_leak", call_code=CallCode.INVALID_FORMAT, boundary_code=_PAYLOAD, category=_INVALID, http=400,
    bucket=Bucket.COT_LEAK,
)  # fmt: skip
NONCE = Fault(
    name="nonce", call_code=CallCode.NONCE_INVALID, boundary_code=_REJECTED, category=_INVALID, http=400,
    bucket=Bucket.TOOL_SYNTAX,
)  # fmt: skip
UNKNOWN_TOOL = Fault(
    name="unknown_tool", call_code=CallCode.UNKNOWN_TOOL, boundary_code=BoundaryCode.INVALID_TOOL_NAME,
    category=_INVALID, http=400, bucket=Bucket.TOOL_SYNTAX,
)  # fmt: skip
NOT_ALLOWED = Fault(
    name="not_allowed", call_code=CallCode.UNKNOWN_TOOL, boundary_code=_REJECTED, category=_INVALID, http=400,
    bucket=Bucket.TOOL_SYNTAX,
)  # fmt: skip
BAD_ARGS = Fault(
    name="bad_args", call_code=CallCode.INVALID_ARGS, boundary_code=_PAYLOAD, category=_INVALID, http=400,
    bucket=Bucket.FORMAT_ERROR,
)  # fmt: skip
DENIED = Fault(
    name="denied", call_code=CallCode.INVALID_ARGS, boundary_code=_REJECTED, category=_INVALID, http=400,
    bucket=Bucket.TOOL_SYNTAX,
)  # fmt: skip
NO_TOKEN = Fault(
    name="no_token", call_code=CallCode.INVALID_ARGS, boundary_code=_REJECTED, category=Category.RBAC_DENIED,
    http=401, bucket=Bucket.TOOL_SYNTAX,
)  # fmt: skip
NO_ROLE = Fault(
    name="no_role", call_code=CallCode.INVALID_ARGS, boundary_code=_REJECTED, category=Category.RBAC_DENIED,
    http=403, bucket=Bucket.TOOL_SYNTAX,
)  # fmt: skip
HELD = Fault(name="held", call_code=None, boundary_code=_REJECTED, category=None, http=202, bucket=None)
STALE = Fault(
    name="stale", call_code=CallCode.INVALID_ARGS, boundary_code=_REJECTED, category=Category.DOWNSTREAM_ERROR,
    http=409, bucket=None,
)  # fmt: skip
RATE = Fault(
    name="rate", call_code=CallCode.OUTPUT_LIMIT, boundary_code=_REJECTED, category=Category.BUDGET_EXCEEDED,
    http=429, bucket=Bucket.FORMAT_ERROR,
)  # fmt: skip
BUDGET = Fault(
    name="budget", call_code=CallCode.OUTPUT_LIMIT, boundary_code=_REJECTED, category=Category.BUDGET_EXCEEDED,
    http=429, bucket=Bucket.FORMAT_ERROR,
)  # fmt: skip
OUTPUT_BUDGET = Fault(
    name="output_budget", call_code=CallCode.OUTPUT_LIMIT, boundary_code=_REJECTED,
    category=Category.BUDGET_EXCEEDED, http=429, bucket=Bucket.FORMAT_ERROR,
)  # fmt: skip
NO_PROVENANCE = Fault(
    name="no_provenance", call_code=CallCode.INVALID_ARGS, boundary_code=BoundaryCode.MISSING_PROVENANCE,
    category=_INVALID, http=400, bucket=Bucket.FORMAT_ERROR,
)  # fmt: skip
CANONICAL_WRITE = Fault(
    name="canonical_write", call_code=CallCode.INVALID_ARGS,
    boundary_code=BoundaryCode.DIRECT_CANONICAL_WRITE_FORBIDDEN, category=_INVALID, http=400,
    bucket=Bucket.FORMAT_ERROR,
)  # fmt: skip
BAD_RESULT = Fault(
    name="bad_result", call_code=None, boundary_code=None, category=_INVALID, http=502, bucket=None, ran=True
)
BAD_INPUT = Fault(
    name="bad_input", call_code=None, boundary_code=None, category=_INVALID, http=400, bucket=None, ran=True
)
SPENT = Fault(
    name="spent", call_code=None, boundary_code=None, category=Category.BUDGET_EXCEEDED, http=429, bucket=None,
    ran=True,
)  # fmt: skip
PART_MISSING = Fault(
    name="part_missing", call_code=None, boundary_code=None, category=Category.TOOL_UNAVAILABLE, http=422,
    bucket=None, ran=True,
)  # fmt: skip
TIMEOUT = Fault(
    name="timeout", call_code=None, boundary_code=None, category=Category.DOWNSTREAM_ERROR, http=504,
    bucket=None, ran=True,
)  # fmt: skip
CANCELLED = Fault(
    name="cancelled", call_code=None, boundary_code=None, category=Category.DOWNSTREAM_ERROR, http=499,
    bucket=None, ran=True,
)  # fmt: skip
LEDGER = Fault(
    name="ledger", call_code=None, boundary_code=None, category=Category.TOOL_UNAVAILABLE, http=503, bucket=None
)
TOOL_FAILED = Fault(
    name="tool_failed", call_code=None, boundary_code=None, category=Category.DOWNSTREAM_ERROR, http=502,
    bucket=None, ran=True,
)  # fmt: skip

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        FORMAT, MULTIPLE, TOOL_SYNTAX, COT, NONCE, UNKNOWN_TOOL, NOT_ALLOWED, BAD_ARGS, DENIED, NO_TOKEN, NO_ROLE,
        HELD, STALE, RATE, BUDGET, OUTPUT_BUDGET, NO_PROVENANCE, CANONICAL_WRITE, BAD_RESULT, BAD_INPUT, SPENT,
        PART_MISSING, TIMEOUT, CANCELLED, LEDGER, TOOL_FAILED,
    )
}  # fmt: skip
