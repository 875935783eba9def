"""Check a stored approval request against the signed ledger records about it.

The database is not trusted: anyone with write access could change what was approved, who approved it, or whether it
was approved. The signed records of the hold and of the answer are trusted; a request that differs from them never runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallystick.gate.decide.approvals import LIVE, Hold, State, rfc3339
from tallystick.gate.decide.bindings import storable_text
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.secrets import mask

_EARLIER_MS = 60_000
"""How far the clock may have been set back between hold and record (ms); if no record is found, all are read."""
_ANSWERS = {
    State.GRANTED: ("granted",),
    State.EDITED: ("edited",),
    State.TAKEN: ("granted", "edited"),
    State.REFUSED: ("refused",),
}
"""For each state of a request: one of these answers must be in the ledger."""


@dataclass(kw_only=True, slots=True)
class ApprovalRecords:
    """The signed headers about one request, in log order."""

    held: Mapping[str, Any] | None = None
    """The first record of the hold; later `held` records under the same id are ignored."""
    answers: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    used: bool = False
    """Whether a call ran, or was started, on this grant."""

    def add(self, header: Mapping[str, Any]) -> None:
        """Add one verified header that names the request."""
        kind, approval = header["kind"], header["approval"]
        if kind == "held":
            self.held = self.held or header
        elif kind == "approval":
            self.answers.append(approval)
        else:
            self.used = True


def is_proved(hold: Hold, ledger: Ledger) -> bool:
    """Return whether the signed records match the stored request."""
    about = hold.approval_id.encode()
    # No record about a request precedes its creation, so reading starts there. If the stored creation time is wrong,
    # no `held` record is found, and the whole log is read.
    since = _first_after(ledger, rfc3339(max(hold.created - _EARLIER_MS, 0)))
    records = records_of(hold.approval_id, (one.header for one in ledger.read(since, about=about)))
    if records.held is None and since:
        records = records_of(hold.approval_id, (one.header for one in ledger.read(about=about)))
    return mismatch(hold, records) is None


def records_of(approval_id: str, headers: Iterable[Mapping[str, Any]]) -> ApprovalRecords:
    """Collect the headers about one request from some verified headers."""
    records = ApprovalRecords()
    for header in headers:
        if header.get("approval", {}).get("approval_id") == approval_id:
            records.add(header)
    return records


def mismatch(hold: Hold, records: ApprovalRecords) -> str | None:
    """Say how a stored request differs from its signed records; None if it matches."""
    if records.held is None:
        return "the ledger has no record of this request"
    if hold.state in LIVE and not hold.is_bound():
        return "the stored call does not match its digest"
    if hold.state in LIVE and records.used:
        return "its grant has already been used"
    return _answer_mismatch(hold, records.answers) or _held_mismatch(hold, records.held)


def _answer_mismatch(hold: Hold, answers: Sequence[Mapping[str, str]]) -> str | None:
    """Compare with the recorded answers, if the stored state requires one."""
    wanted = _ANSWERS.get(hold.state)
    if wanted is None:
        return None
    if hold.state is not State.REFUSED and any(one["answer"] == "refused" for one in answers):
        return "a person refused this request"
    given = any(one["answer"] in wanted and _is_answer(hold, one) for one in answers)
    return None if given else "the ledger has no answer to this request that matches the stored one"


def _held_mismatch(hold: Hold, held: Mapping[str, Any]) -> str | None:
    """Compare with the record of the hold; after an edit, the digest of the call is checked with the answer instead."""
    session = hold.session
    approval: Mapping[str, str] = held["approval"]
    where = (held["session_id"], held.get("agent_id"), held["caller"]["subject"], held.get("tool_id"))
    if where != (session.session_id, session.agent_id, hold.caller, hold.tool):
        return "session, agent, caller or tool differs from the recorded request"
    if approval["expires_at"] != hold.expires_at:
        return "the stored expiry differs from the recorded one"
    asked = hold.state is State.HELD or not hold.edited
    if asked and not _is_bound_to(hold, approval):
        return "the stored request differs from the recorded one"
    return None


def _is_answer(hold: Hold, answer: Mapping[str, str]) -> bool:
    """Return whether a recorded answer matches the stored one."""
    edited = answer["answer"] == "edited"
    said = (storable_text(answer["person"]), storable_text(answer["channel"]), answer.get("reason", ""))
    if said != (hold.person, hold.channel, mask(hold.note or "")) or hold.edited is not edited:
        return False
    if "answered_at" in answer and (hold.answered is None or answer["answered_at"] != rfc3339(hold.answered)):
        return False
    # Records of earlier versions have no digest; a grant without an edit is bound by the digest in the hold's record.
    return _is_bound_to(hold, answer) if "digest" in answer else not edited


def _is_bound_to(hold: Hold, record: Mapping[str, str]) -> bool:
    return record["digest"] == hold.digest and record.get("request", "") in {"", hold.request_digest()}


def _first_after(ledger: Ledger, timestamp: str) -> int:
    """Find the sequence number of the first record at or after a time by binary search; exact if no clock jumped."""
    low, high = 0, ledger.size()
    while low < high:
        middle = (low + high) // 2
        found = next(ledger.read(middle), None)
        if found is not None and found.header["timestamp"] < timestamp:
            low = middle + 1
        else:
            high = middle
    return low
