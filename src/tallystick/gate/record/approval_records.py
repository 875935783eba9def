"""What the ledger says about a held call, and whether what the database stores of it is the same.

The database is no witness: whoever can write it could change what was approved, who approved it, or that anyone did.
The signed records of the hold and of the answer are; a request that differs from them runs nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallystick.gate.decide.approvals import LIVE, Hold, State, rfc3339
from tallystick.gate.decide.bindings import storable_text
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.secrets import mask

_EARLIER_MS = 60_000
"""How far the clock may have been set back between the hold and its record; beyond that, all records are read."""
_ANSWERS = {
    State.GRANTED: ("granted",),
    State.EDITED: ("edited",),
    State.TAKEN: ("granted", "edited"),
    State.REFUSED: ("refused",),
}
"""The answers of which one must be recorded where a request stands so."""


@dataclass(kw_only=True, slots=True)
class ApprovalRecords:
    """The signed headers about one request, as they were met."""

    held: Mapping[str, Any] | None = None
    """The first record of the hold: what was asked for later under its id does not change it."""
    answers: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    used: bool = False
    """A call ran, or was about to, on this grant."""

    def add(self, header: Mapping[str, Any]) -> None:
        """Take in one verified header that names the request."""
        kind, approval = header["kind"], header["approval"]
        if kind == "held":
            self.held = self.held or header
        elif kind == "approval":
            self.answers.append(approval)
        else:
            self.used = True


def is_proved(hold: Hold, ledger: Ledger) -> bool:
    """Whether the signed records say what is stored of a request."""
    about = hold.approval_id.encode()
    # Nothing about a request is recorded before it was made. Who stored another time finds no record of it there.
    since = _first_after(ledger, rfc3339(max(hold.created - _EARLIER_MS, 0)))
    records = records_of(hold.approval_id, (one.header for one in ledger.read(since, about=about)))
    if records.held is None and since:
        records = records_of(hold.approval_id, (one.header for one in ledger.read(about=about)))
    return mismatch(hold, records) is None


def records_of(approval_id: str, headers: Iterable[Mapping[str, Any]]) -> ApprovalRecords:
    """Gather what some verified headers say about one request."""
    records = ApprovalRecords()
    for header in headers:
        if header.get("approval", {}).get("approval_id") == approval_id:
            records.add(header)
    return records


def mismatch(hold: Hold, records: ApprovalRecords) -> str | None:
    """What of a stored request is not as its signed records say; None: it may be believed."""
    if records.held is None:
        return "the ledger has no record of this request"
    if hold.state in LIVE and not hold.is_bound():
        return "the stored call is not the one its digest names"
    if hold.state in LIVE and records.used:
        return "its grant was used before"
    return _answer_mismatch(hold, records.answers) or _held_mismatch(hold, records.held)


def _answer_mismatch(hold: Hold, answers: Sequence[Mapping[str, str]]) -> str | None:
    """Compare with the records of the answers, where one is said to have been given."""
    wanted = _ANSWERS.get(hold.state)
    if wanted is None:
        return None
    if hold.state is not State.REFUSED and any(one["answer"] == "refused" for one in answers):
        return "a person refused it"
    given = any(one["answer"] in wanted and _is_answer(hold, one) for one in answers)
    return None if given else "the ledger has no such answer to this request"


def _held_mismatch(hold: Hold, held: Mapping[str, Any]) -> str | None:
    """Compare with the record of the hold; after an edit the call itself is that of the edit's record."""
    session = hold.session
    approval: Mapping[str, str] = held["approval"]
    where = (held["session_id"], held.get("agent_id"), held["caller"]["subject"], held.get("tool_id"))
    if where != (session.session_id, session.agent_id, hold.caller, hold.tool):
        return "session, agent, caller or tool is not the one that was held"
    if approval["expires_at"] != hold.expires_at:
        return "its expiry is not the one that was held"
    asked = hold.state is State.HELD or not hold.edited
    if asked and not _is_bound_to(hold, approval):
        return "the stored request is not the one that was held"
    return None


def _is_answer(hold: Hold, answer: Mapping[str, str]) -> bool:
    """Whether a recorded answer is the one that is stored."""
    edited = answer["answer"] == "edited"
    said = (storable_text(answer["person"]), storable_text(answer["channel"]), answer.get("reason", ""))
    if said != (hold.person, hold.channel, mask(hold.note or "")) or hold.edited is not edited:
        return False
    if "answered_at" in answer and (hold.answered is None or answer["answered_at"] != rfc3339(hold.answered)):
        return False
    # Records of earlier versions do not say what was answered; a yes to what was asked is bound by the hold's.
    return _is_bound_to(hold, answer) if "digest" in answer else not edited


def _is_bound_to(hold: Hold, record: Mapping[str, str]) -> bool:
    return record["digest"] == hold.digest and record.get("request", "") in {"", hold.request_digest()}


def _first_after(ledger: Ledger, timestamp: str) -> int:
    """Place of the first record from a time on, as far as the clock was not set."""
    low, high = 0, ledger.size()
    while low < high:
        middle = (low + high) // 2
        found = next(ledger.read(middle), None)
        if found is not None and found.header["timestamp"] < timestamp:
            low = middle + 1
        else:
            high = middle
    return low
