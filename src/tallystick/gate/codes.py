"""The fault table: every way a call can fail, with its code for each consumer.

One row per fault. The agent turn, the tool boundary (the outcome that a caller of a tool receives), the problem
payload, HTTP and telemetry each read their own column, so their codes stay consistent.
"""

from dataclasses import dataclass
from enum import StrEnum


class CallCode(StrEnum):
    """Rejection codes returned to the model in an agent turn, as the line `STOP_HOOK: tool_call_rejected` + code."""

    INVALID_FORMAT = "tool_call_invalid_format"
    MULTIPLE = "tool_call_multiple"
    NONCE_INVALID = "tool_call_nonce_invalid"
    UNKNOWN_TOOL = "tool_call_unknown_tool"
    INVALID_ARGS = "tool_call_invalid_args"
    OUTPUT_LIMIT = "tool_call_output_limit"


class BoundaryCode(StrEnum):
    """The five fixed rejection codes of the tool boundary: `rejection.code` in the outcome of a call."""

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
    """Whether the tool may have started before the call failed; the outcome's `status` is then not `rejected`."""


_POLICY = BoundaryCode.POLICY_VIOLATION
_PAYLOAD = BoundaryCode.INVALID_PAYLOAD


def _rejection(
    name: str,
    call_code: CallCode,
    boundary_code: BoundaryCode,
    bucket: Bucket | None,
    *,
    category: Category = Category.VALIDATION_ERROR,
    http: int = 400,
) -> Fault:
    """Build the row of a call that was rejected before it ran."""
    return Fault(
        name=name, call_code=call_code, boundary_code=boundary_code, category=category, http=http, bucket=bucket
    )


def _failure(name: str, category: Category, http: int, *, ran: bool = True) -> Fault:
    """Build the row of a failure that is not a rejection: of the tool (`ran`), or of the ledger."""
    return Fault(name=name, call_code=None, boundary_code=None, category=category, http=http, bucket=None, ran=ran)


FORMAT = _rejection("format", CallCode.INVALID_FORMAT, _PAYLOAD, Bucket.FORMAT_ERROR)
MULTIPLE = _rejection("multiple", CallCode.MULTIPLE, _PAYLOAD, Bucket.TOOL_SYNTAX)
TOOL_SYNTAX = _rejection("tool_syntax", CallCode.INVALID_FORMAT, _PAYLOAD, Bucket.TOOL_SYNTAX)
COT = _rejection("cot_leak", CallCode.INVALID_FORMAT, _PAYLOAD, Bucket.COT_LEAK)
NONCE = _rejection("nonce", CallCode.NONCE_INVALID, _POLICY, Bucket.TOOL_SYNTAX)
UNKNOWN_TOOL = _rejection("unknown_tool", CallCode.UNKNOWN_TOOL, BoundaryCode.INVALID_TOOL_NAME, Bucket.TOOL_SYNTAX)
NOT_ALLOWED = _rejection("not_allowed", CallCode.UNKNOWN_TOOL, _POLICY, Bucket.TOOL_SYNTAX)
BAD_ARGS = _rejection("bad_args", CallCode.INVALID_ARGS, _PAYLOAD, Bucket.FORMAT_ERROR)
DENIED = _rejection("denied", CallCode.INVALID_ARGS, _POLICY, Bucket.TOOL_SYNTAX)
NO_TOKEN = _rejection(
    "no_token", CallCode.INVALID_ARGS, _POLICY, Bucket.TOOL_SYNTAX, category=Category.RBAC_DENIED, http=401
)
NO_ROLE = _rejection(
    "no_role", CallCode.INVALID_ARGS, _POLICY, Bucket.TOOL_SYNTAX, category=Category.RBAC_DENIED, http=403
)
HELD = Fault(name="held", call_code=None, boundary_code=_POLICY, category=None, http=202, bucket=None)
STALE = _rejection("stale", CallCode.INVALID_ARGS, _POLICY, None, category=Category.DOWNSTREAM_ERROR, http=409)
RATE = _rejection(
    "rate", CallCode.OUTPUT_LIMIT, _POLICY, Bucket.FORMAT_ERROR, category=Category.BUDGET_EXCEEDED, http=429
)
BUDGET = _rejection(
    "budget", CallCode.OUTPUT_LIMIT, _POLICY, Bucket.FORMAT_ERROR, category=Category.BUDGET_EXCEEDED, http=429
)
OUTPUT_BUDGET = _rejection(
    "output_budget", CallCode.OUTPUT_LIMIT, _POLICY, Bucket.FORMAT_ERROR, category=Category.BUDGET_EXCEEDED, http=429
)
NO_PROVENANCE = _rejection("no_provenance", CallCode.INVALID_ARGS, BoundaryCode.MISSING_PROVENANCE, Bucket.FORMAT_ERROR)
CANONICAL_WRITE = _rejection(
    "canonical_write", CallCode.INVALID_ARGS, BoundaryCode.DIRECT_CANONICAL_WRITE_FORBIDDEN, Bucket.FORMAT_ERROR
)
BAD_RESULT = _failure("bad_result", Category.VALIDATION_ERROR, 502)
BAD_INPUT = _failure("bad_input", Category.VALIDATION_ERROR, 400)
SPENT = _failure("spent", Category.BUDGET_EXCEEDED, 429)
PART_MISSING = _failure("part_missing", Category.TOOL_UNAVAILABLE, 422)
TIMEOUT = _failure("timeout", Category.DOWNSTREAM_ERROR, 504)
CANCELLED = _failure("cancelled", Category.DOWNSTREAM_ERROR, 499)
LEDGER = _failure("ledger", Category.TOOL_UNAVAILABLE, 503, ran=False)
TOOL_FAILED = _failure("tool_failed", Category.DOWNSTREAM_ERROR, 502)

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        FORMAT,
        MULTIPLE,
        TOOL_SYNTAX,
        COT,
        NONCE,
        UNKNOWN_TOOL,
        NOT_ALLOWED,
        BAD_ARGS,
        DENIED,
        NO_TOKEN,
        NO_ROLE,
        HELD,
        STALE,
        RATE,
        BUDGET,
        OUTPUT_BUDGET,
        NO_PROVENANCE,
        CANONICAL_WRITE,
        BAD_RESULT,
        BAD_INPUT,
        SPENT,
        PART_MISSING,
        TIMEOUT,
        CANCELLED,
        LEDGER,
        TOOL_FAILED,
    )
}
"""Every row by its name."""
