"""Verify records one by one: complete, in sequence, signed with the active key, payload matching its digest.

The verifier keeps only the state it needs from earlier records (active key, last leaf, erased payloads); nothing grows
with the log except the lists of erased receipts and notes.
"""

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any

import orjson

from tallystick.gate.decide.approvals import MISMATCH
from tallystick.gate.record.journal import ZERO
from tallystick.gate.record.payload import BLOB, ERASED, SALT, blob_column, flat_line
from tallystick.gate.record.record_signer import seq_of
from tallystick.gate.record.report import MAX_PROBLEMS, AuditProblem
from tallystick.gate.record.signing import HmacKey, Keys, key_named
from tallystick.gate.session import valid_session_id

_PAYLOADS = (("inputs_digest", 1), ("outputs_digest", 2))
_MAX_SHOWN = 80
"""Characters of an untrusted value that a message shows."""
_NOTHING: dict[str, Any] = {}
_is_session_id = lru_cache(maxsize=4096)(valid_session_id)


class RecordInvalid(Exception):  # noqa: N818 - a finding, caught where the log is read
    """The log cannot be verified beyond this record."""

    def __init__(self, code: str, reason: str, receipt_id: Any = None) -> None:
        super().__init__(reason)
        self.code = code
        # Untrusted: the id may not have been checked yet when the fault is raised.
        self.receipt_id = receipt_id[:_MAX_SHOWN] if isinstance(receipt_id, str) else None


class RecordVerifier:
    """Verifies records in log order."""

    def __init__(self, keys: Keys, blob: Callable[[str], bytes | None]) -> None:
        self.keys = keys
        self._blob = blob
        self._key: HmacKey | None = None
        self.seq = 0
        self.leaf = ZERO
        self.last_rotation: dict[str, Any] | None = None
        """Context of the last record, if it was a key rotation."""
        self.retired_log_keys: dict[str, int] = {}
        """Verifier line of a retired key → largest log size for which it may sign a checkpoint."""
        self.problems: list[AuditProblem] = []
        self.notes: list[AuditProblem] = []
        self.erased: dict[int, str] = {}
        """Erased payloads whose erasure record has not been seen yet: seq → receipt id."""
        self.policies: set[Any] = set()
        """Digests of the policies that the records name."""
        self.tools: set[Any] = set()
        """Versions of the tools that the records name."""
        self._gone: set[int] = set()
        self._losses: dict[str, AuditProblem | None] = {}
        """Losses by name; None: the loss was accepted."""

    def verify_next(self, line: bytes) -> tuple[str, bytes]:
        """Verify the next record.

        Returns:
            Its session id, and the line that the session's own file (its view) must contain.

        Raises:
            RecordInvalid: It is not a record, out of sequence, or not correctly signed.
        """
        try:
            return self._verify(line)
        except (TypeError, AttributeError, KeyError, ValueError):
            # A changed field may have another type; where that raises depends on the field.
            raise RecordInvalid("record_malformed", "a header field has the wrong type") from None

    def _verify(self, line: bytes) -> tuple[str, bytes]:
        parts = line.split(b"\t")
        if len(parts) != 3:  # noqa: PLR2004 - header, inputs, outputs
            raise RecordInvalid("record_malformed", "not a record")
        stored, inputs, outputs = parts
        header = _parse(stored)
        if header.get("seq") != self.seq:
            raise RecordInvalid(
                "sequence_broken",
                f"the record has sequence number {_shown(header.get('seq'))} instead of {self.seq}",
                header.get("receipt_id"),
            )
        if header.get("prev") != self.leaf.hex():
            raise RecordInvalid(
                "chain_broken", "its `prev` is not the hash of the previous record", header.get("receipt_id")
            )
        self._check_signature(header, stored)
        self.leaf = sha256(b"\0" + stored).digest()
        inputs_digest = sha256(inputs).hexdigest() if inputs else None
        outputs_digest = sha256(outputs).hexdigest() if outputs else None
        # Nearly every record passes this fast check; the others get the full one.
        if inputs_digest != header.get("inputs_digest") or outputs_digest != header.get("outputs_digest"):
            self._check_payload(header, parts)
        self.last_rotation = None
        if header["kind"] != "outcome" or "clock_jump" in header:
            self._apply(header)
        elif header.get("outcome", _NOTHING).get("reason") == MISMATCH.reason:
            self.note(MISMATCH.reason, "a held call was not run: its stored request had been changed", header)
        self.policies.add(header.get("policy_digest"))
        self.tools.add(header.get("tool_version"))
        session_id = header["session_id"]
        if not _is_session_id(session_id):
            raise RecordInvalid("record_malformed", "its session id is invalid", header["receipt_id"])
        flat = flat_line(stored, inputs, outputs, header.get("excerpt_bytes"))
        self.seq += 1
        return session_id, flat

    def active_key_id(self) -> str:
        """Return the id of the key that may sign the next record."""
        return "" if self._key is None else self._key.key_id

    def problem(self, code: str, reason: str, header: dict[str, Any]) -> None:
        """Add a problem with this record's payload to the report."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(
                AuditProblem(code=code, reason=reason, seq=self.seq, receipt_id=header.get("receipt_id"))
            )

    def note(self, code: str, reason: str, header: dict[str, Any]) -> None:
        """Add a note, which is not an error, to the report."""
        if len(self.notes) < MAX_PROBLEMS:
            self.notes.append(AuditProblem(code=code, reason=reason, seq=self.seq, receipt_id=header.get("receipt_id")))

    def _check_signature(self, header: dict[str, Any], stored: bytes) -> None:
        key_id, receipt_id = header.get("key_id"), header.get("receipt_id")
        key = self._key
        if key is None:
            key = self._key = key_named(header, self.keys)
        if key is None or key.key_id != key_id:
            if key_named(header, self.keys) is None:
                reason = f"signed with key {_shown(key_id)}, which this workspace does not have"
                raise RecordInvalid("key_unknown", reason, receipt_id)
            raise RecordInvalid("key_retired", f"signed with key {key_id}, which was not the active key", receipt_id)
        if not key.signed(stored):
            raise RecordInvalid("signature_invalid", "the signature does not match the header", receipt_id)
        if not isinstance(receipt_id, str) or seq_of(receipt_id) != self.seq:
            raise RecordInvalid("receipt_id_invalid", "the receipt id does not match the sequence number", receipt_id)

    def _check_payload(self, header: dict[str, Any], parts: list[bytes]) -> None:
        erased = False
        for name, at in _PAYLOADS:
            column, digest = parts[at], header.get(name)
            if column[:1] == ERASED:
                erased = True
                if column[1:].strip(b" "):
                    self.problem("payload_differs", "part of an erased payload remains; erase it again", header)
            elif column[:1] == BLOB:
                self._check_blob(header, name, column)
            elif (sha256(column).hexdigest() if column else None) != digest:
                self.problem("payload_differs", f"{name.removesuffix('_digest')} do not match their digest", header)
        if erased:
            self.erased[self.seq] = header["receipt_id"]
            self.note("payload_erased", "payload erased", header)

    def _check_blob(self, header: dict[str, Any], name: str, column: bytes) -> None:
        what = name.removesuffix("_digest")
        whole = self._blob(header.get(name, ""))
        if whole is None:
            self.problem("blob_missing", f"the blob of its {what} is missing", header)
        elif sha256(whole).hexdigest() != header.get(name):
            self.problem("payload_differs", f"the blob of its {what} does not match its digest", header)
        elif column != blob_column(whole[SALT:], header.get("excerpt_bytes") if what == "outputs" else None):
            self.problem("payload_differs", f"the excerpt of its {what} does not match the blob", header)

    def _apply(self, header: dict[str, Any]) -> None:
        """Process a rotation, erasure, recovery or clock jump, which affect other records or the report."""
        kind, context = header["kind"], header.get("context", {})
        if kind == "key_rotation":
            self._rotate(header, context)
        elif kind == "erasure":
            self._settle_erasure(header, _erased_by(header))
        elif kind == "recovery":
            self._recovered(header, context)
        if "clock_jump" in header:
            self.note("clock_jump", f"the clock was set {header['clock_jump']} before this record", header)

    def _recovered(self, header: dict[str, Any], context: dict[str, Any]) -> None:
        what, receipt_id = context.get("incident", ""), header["receipt_id"]
        reason = RECOVERIES.get(what, "repaired by the journal")
        if what == "loss_accepted":
            self._losses[context["accepted"]] = None
        elif what in MIRROR_ALARMS:
            name = context["mirror"]
            self._losses.setdefault(
                name, AuditProblem(code=what, reason=reason, seq=self.seq, receipt_id=receipt_id, loss=name)
            )
            return
        elif what == "acknowledged_lost" or (what == "earlier_log" and context.get("records") != 0):
            name = context["mirror"] if what == "earlier_log" else receipt_id
            lost = AuditProblem(code=what, reason=reason, seq=self.seq, receipt_id=receipt_id, loss=name)
            self._losses.setdefault(name, lost)
            return
        self.note(what, reason, header)

    def losses(self, earlier: list[str]) -> list[AuditProblem]:
        """Return the losses not accepted: those in recovery records, and earlier logs.

        Of an earlier log, only the head remains in the mirror (the copy of the head outside the workspace).
        """
        reason = RECOVERIES["earlier_log"]
        known = {name: AuditProblem(code="earlier_log", reason=reason, loss=name) for name in earlier}
        return [problem for problem in (known | self._losses).values() if problem is not None]

    def _rotate(self, header: dict[str, Any], context: dict[str, Any]) -> None:
        key = self.keys.find(context.get("new_key", ""))
        if key is None:
            raise RecordInvalid(
                "key_unknown", "rotates to a key that this workspace does not have", header["receipt_id"]
            )
        self._key = key
        self.last_rotation = context
        self.retired_log_keys[context.get("old_log_key", "")] = self.seq + 1
        self.note("key_rotated", f"key {key.key_id} signs from the next record on", header)

    def apply_later_record(self, line: bytes) -> None:
        """Check a record appended after the audit began: it may be the missing erasure record of a payload."""
        stored = line.partition(b"\t")[0]
        try:
            header = _parse(stored)
        except RecordInvalid:
            return
        key, seq = key_named(header, self.keys), _erased_by(header)
        if seq is not None and header.get("kind") == "erasure" and key is not None and key.signed(stored):
            self.erased.pop(seq, None)

    def _settle_erasure(self, header: dict[str, Any], seq: int | None) -> None:
        if seq in self.erased:
            self._gone.add(seq)
            del self.erased[seq]
        elif seq is not None and seq < self.seq and seq not in self._gone:
            self.note("erasure_unfinished", "the erasure was recorded but not completed; repeat it", header)


RECOVERIES = {
    "acknowledged_lost": "an acknowledged record is lost: its line was incomplete",
    "torn_tail": "an incomplete last line was moved to a separate file",
    "head_missing": "the head file (size and last leaf of the log) was missing",
    "fsync_failed": "the last segment was rewritten after a failed fsync",
    "mirror_unwritable": "the mirror of the head could not be written",
    "witness_unreachable": "a checkpoint could not be sent to a witness",
    "mirror_missing": "the mirror of the head was gone: deleted, or the workspace was moved, copied or restored",
    "mirror_behind": "the mirror of the head was older than the log: put back, or not written for a time",
    "earlier_log": "a new log was begun; the mirror (copy outside the workspace) has the head of the earlier log",
    "loss_accepted": "a person accepted a reported loss of records",
}


MIRROR_ALARMS = frozenset({"mirror_missing", "mirror_behind"})
"""Incidents after which a rolled-back journal would not show; a person accepts them."""


def mirror_alarm(leaf: bytes) -> str:
    """Return the name under which a person accepts that the mirror of a log with this last leaf was of no use."""
    return f"mirror-{leaf.hex()[:16]}"


def _parse(stored: bytes) -> dict[str, Any]:
    try:
        header = orjson.loads(stored)
    except orjson.JSONDecodeError:
        raise RecordInvalid("record_malformed", "the header is not JSON") from None
    if not isinstance(header, dict):
        raise RecordInvalid("record_malformed", "the header is not an object")
    return header


def _erased_by(header: dict[str, Any]) -> int | None:
    """Return the sequence number of the receipt that this erasure record names."""
    links = header.get("links")
    erased = links.get("erased") if isinstance(links, dict) else None
    return seq_of(erased) if isinstance(erased, str) else None


def _shown(value: Any) -> str:
    """Return an untrusted value as text for a message, truncated."""
    return str(value)[:_MAX_SHOWN]
