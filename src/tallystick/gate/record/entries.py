"""Build the ledger draft for each kind of event.

The header fields of a draft are only strings, integers and booleans, so that implementations in any programming
language produce the same signed bytes.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.decide.approvals import Grant, Hold, rfc3339
from tallystick.gate.decide.context_record import context_record
from tallystick.gate.decide.verdict import ALLOW, Context, Decision
from tallystick.gate.execute.outcome import Failure
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.secrets import Redactor, mask
from tallystick.gate.session import Caller, Session
from tallystick.gate.tool import Card
from tallystick.records import record

MAX_TEXT = 65_536
"""Characters of a rejected message that are stored. A valid message of a model (envelope) has at most as many bytes."""
MAX_SECRET = 8_192
"""Longer than all known tokens and keys."""
MAX_POINTER = 200
"""Characters of a pointer that are kept in the header; limited because the caller chose the keys in it."""


@record
class DecidedCall:
    """A decided proposal: the data that every entry about it needs."""

    session: Session
    proposal: Proposal
    decision: Decision
    context: Context
    policy_digest: str
    inputs: bytes
    redacted: bool = False
    grant: Grant | None = None


def is_plain(case: DecidedCall) -> bool:
    """Whether the header of an allowed call needs only tool, policy, payload and the digest of the rule's snapshot."""
    proposal, decision = case.proposal, case.decision
    card = proposal.card
    return (
        decision.verdict == "allow"
        and decision.would is None
        and not (proposal.transformed or proposal.cot_leak or card.audited)
        and case.grant is None
        and card.origin != "client"
        and not context_record(case.context, redacted=case.redacted, caller_roles=case.session.caller.roles)
    )


def started(case: DecidedCall) -> Draft:
    """Build the entry written before a call that may have side effects; it remains if the process dies."""
    return Draft(
        kind="started",
        session=case.session,
        tool_id=case.proposal.card.name,
        tool_version=case.proposal.card.version,
        approval=None if case.grant is None else case.grant.as_dict(),
        policy_digest=case.policy_digest,
        inputs=case.inputs,
    )


def outcome(
    case: DecidedCall,
    *,
    duration_us: int,
    failure: Failure | None = None,
    rejection: Rejection | None = None,
    outputs: bytes | None = None,
    excerpt_bytes: int | None = None,
    file_refs: tuple[Mapping[str, Any], ...] = (),
    links: Mapping[str, str] | None = None,
    audit: Mapping[str, Any] | None = None,
) -> Draft:
    """Build the single outcome entry of a decided submission."""
    proposal, decision = case.proposal, case.decision
    refused = None if rejection is None else _refused(rejection, cot_leak=proposal.cot_leak)
    context = context_record(
        case.context,
        redacted=case.redacted,
        snapshot_digest=decision.snapshot_digest,
        caller_roles=case.session.caller.roles,
    )
    return Draft(
        kind="outcome",
        session=case.session,
        tool_id=proposal.card.name,
        tool_version=proposal.card.version,
        outcome=refused or _accepted(proposal, decision, failure),
        approval=None if case.grant is None else case.grant.as_dict(),
        file_refs=file_refs,
        context=context or None,
        audit=audit,
        policy_digest=case.policy_digest,
        duration_us=duration_us,
        links=links or {},
        inputs=case.inputs,
        outputs=outputs,
        excerpt_bytes=excerpt_bytes,
    )


def undecided(
    session: Session, rejection: Rejection, inputs: bytes, *, policy_digest: str, duration_us: int, cot_leak: bool
) -> Draft:
    """Build the outcome entry of a submission that was not a valid proposal."""
    return Draft(
        kind="outcome",
        session=session,
        tool_id=rejection.proposed_tool,
        outcome=_refused(rejection, cot_leak=cot_leak),
        policy_digest=policy_digest,
        duration_us=duration_us,
        inputs=inputs,
    )


def finished(session: Session, *, policy_digest: str, duration_us: int, cot_leak: bool) -> Draft:
    """Build the outcome entry of `{"action":"final"}`."""
    said: dict[str, Any] = {"status": "accepted", "action": "final"}
    if cot_leak:
        said["cot_leak"] = True
    return Draft(kind="outcome", session=session, outcome=said, policy_digest=policy_digest, duration_us=duration_us)


def held(case: DecidedCall, hold: Hold, outcome_id: str) -> Draft:
    """Build the entry of a call that waits for approval; it links to the outcome that reported the hold."""
    return Draft(
        kind="held",
        session=case.session,
        tool_id=case.proposal.card.name,
        tool_version=case.proposal.card.version,
        approval={"approval_id": hold.approval_id, "expires_at": hold.expires_at, **_bound(hold)},
        policy_digest=case.policy_digest,
        links={"outcome": outcome_id},
    )


def answered(hold: Hold, *, answer: str, person: str, channel: str, at: int, reason: str | None = None) -> Draft:
    """Build the entry of a person's answer to a held call: granted, edited (`hold` is the edited call) or refused."""
    approval = {
        "approval_id": hold.approval_id,
        "answer": answer,
        "answered_at": rfc3339(at),
        "person": person,
        "channel": channel,
        **_bound(hold),
    }
    if reason:
        approval["reason"] = mask(reason)
    return Draft(
        kind="approval",
        session=hold.session,
        tool_id=hold.tool,
        tool_version=hold.tool_version or None,
        approval=approval,
        policy_digest=hold.policy_digest,
    )


def revealed(hold: Hold, field: str, *, person: str, channel: str) -> Draft:
    """Build the entry for revealing a masked argument of a held call: the person and the field, never the value."""
    return Draft(
        kind="note",
        session=hold.session,
        tool_id=hold.tool,
        tool_version=hold.tool_version or None,
        audit={
            "subject": person,
            "action": "approval.reveal",
            "resource": f"approval:{hold.approval_id}",
            "metadata": {"channel": channel, "field": mask(field)[:MAX_POINTER]},
        },
        policy_digest=hold.policy_digest,
    )


def call_inputs(proposal: Proposal, redactor: Redactor, secrets: frozenset[str]) -> tuple[bytes, bool]:
    """Return the payload of a proposal with secrets replaced, and whether there were any."""
    data = orjson.dumps({"tool": proposal.proposed_tool, "args": proposal.proposed_args})
    clean, redacted = redactor.redact(proposal.proposed_args, secrets)
    if redacted:
        data = orjson.dumps({"tool": proposal.proposed_tool, "args": clean})
    if proposal.transformed:
        # Aliases are resolved in `args` only, and the resolved name may be one that marks a secret.
        clean, more = redactor.redact(proposal.args, secrets)
        normalised = orjson.dumps({"tool": proposal.card.name, "args": clean})
        return data[:-1] + b',"normalised":' + normalised + b"}", redacted or more
    return data, redacted


def attempt_inputs(tool: object, args: object, redactor: Redactor, secrets: frozenset[str]) -> bytes:
    """Return the payload of a structured call that was not a valid proposal, as far as it can be written as JSON."""
    try:
        data = orjson.dumps({"tool": tool, "args": args})
        clean, redacted = redactor.redact({"tool": tool, "args": args}, secrets)
    except (TypeError, ValueError, RecursionError):
        return text_inputs(f"{tool!r:.200} {type(args).__name__}: not JSON", redactor, secrets)
    if redacted:
        data = orjson.dumps(clean)
    return data if len(data) <= MAX_TEXT else text_inputs(data, redactor, secrets)


def text_inputs(text: str | bytes, redactor: Redactor, secrets: frozenset[str]) -> bytes:
    """Return the payload of a message that was not a valid proposal: the text, truncated, with secrets masked."""
    # Mask more text than is kept, so that no secret is cut in two before it is recognised.
    most = MAX_TEXT + MAX_SECRET
    if isinstance(text, bytes):
        text = text[:most].decode(errors="backslashreplace")
    plain = text[:most].encode(errors="backslashreplace").decode()
    return orjson.dumps({"text": redactor.mask(plain, secrets)[:MAX_TEXT]})


def audit_record(card: Card, caller: Caller, args: Mapping[str, Any], result: Any) -> dict[str, Any]:
    """Build the audit record of a successful call: subject, action, resource, and the values of `card.audit_keys`.

    Text is copied unchanged, so the author of the tool must list only keys of ids and parameters there.
    """
    known: dict[str, Any] = {**args, **result} if isinstance(result, dict) else dict(args)
    record: dict[str, Any] = {"subject": caller.subject, "action": card.audit_action}
    if card.resource is not None:
        record["resource"] = _PLACE.sub(lambda place: str(known.get(place[1], "?")), card.resource)
    metadata = {key: _plain(known[key]) for key in card.audit_keys if known.get(key) is not None}
    if metadata:
        record["metadata"] = metadata
    return record


def _accepted(proposal: Proposal, decision: Decision, failure: Failure | None) -> dict[str, Any]:
    said: dict[str, Any] = {"status": "transformed" if proposal.transformed else "accepted"}
    if proposal.cot_leak:
        said["cot_leak"] = True
    if decision.would is not None:
        said["shadow"] = decision.would
    if decision.args is not None and decision.reason != ALLOW.reason:
        # The reason why the rule of the tool's plugin (room) changed the arguments.
        said["reason"] = decision.reason
        if decision.pointer is not None:
            said["pointer"] = decision.pointer[:MAX_POINTER]
    if proposal.card.origin == "client" and failure is None:
        said["handed_back"] = True
    if failure is not None:
        said |= {"fault": failure.fault.name, "category": str(failure.fault.category), "reason": failure.message}
    return said


def _refused(rejection: Rejection, *, cot_leak: bool) -> dict[str, Any]:
    fault = rejection.fault
    said: dict[str, Any] = {"status": "rejected", "fault": fault.name, "reason": rejection.reason}
    for name, value in (("code", fault.boundary_code), ("call_code", fault.call_code), ("category", fault.category)):
        if value is not None:
            said[name] = str(value)
    if rejection.pointer is not None:
        said["pointer"] = rejection.pointer[:MAX_POINTER]
    if cot_leak:
        said["cot_leak"] = True
    return said


def _bound(hold: Hold) -> dict[str, str]:
    """Return the digests that bind a record to a request: of the exact call, and of the whole stored request."""
    return {"digest": hold.digest, "request": hold.request_digest()}


_PLACE = re.compile(r"\{(\w+)\}")


def _plain(value: Any) -> str | int | bool:
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict):
        return ",".join(sorted(str(key) for key in value))
    return str(value)
