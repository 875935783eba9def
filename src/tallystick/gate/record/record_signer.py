"""Prepare a draft, then sign the record.

These are steps 2 (prepare) and 5 (sign) of the list in the package docstring, `gate/record/__init__.py`.

`prepare` does all work that does not depend on the sequence number: checks, digests, payload columns. It returns a
`RecordFactory`, which completes and signs the header under the journal's lock, where sequence number, time and active
key are known. `docs/protocol.md` specifies the header field by field.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any

from tallystick.errors import LedgerError
from tallystick.gate.record.canonical import SCALARS, canonical_plain, check_plain
from tallystick.gate.record.clock import ClockMonitor
from tallystick.gate.record.journal import Place, SignedRecord
from tallystick.gate.record.payload import SALT, SALT_BYTES, flat_tail, make_column
from tallystick.gate.record.random_pool import RandomPool
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.signing import ALGORITHM, Keys
from tallystick.gate.session import Session, valid_session_id

ID_BYTES = 6
ID = 2 * ID_BYTES
"""Hex digits of a receipt id's random half; the other half is the sequence number, for sorting and lookup."""

RESERVED = frozenset(
    {
        "agent_id",
        "approval",
        "audit",
        "caller",
        "clock_jump",
        "conference_id",
        "context",
        "duration_us",
        "erased",
        "excerpt",
        "excerpt_bytes",
        "file_refs",
        "full_size",
        "inputs",
        "inputs_digest",
        "key_id",
        "kind",
        "links",
        "outcome",
        "outputs",
        "outputs_digest",
        "policy_digest",
        "prev",
        "receipt_id",
        "round_id",
        "run_id",
        "seq",
        "session_id",
        "sha256",
        "signature",
        "signature_alg",
        "task_id",
        "ticket_id",
        "timestamp",
        "tool_id",
        "tool_version",
        "turn_id",
    }
)
"""Names that the extra header fields of a session may not use."""

_signed_record: Callable[[tuple[Any, ...]], SignedRecord] = partial(tuple.__new__, SignedRecord)
"""Makes the named tuple from a tuple, without the Python-level call of its own constructor."""
_is_session_id = lru_cache(maxsize=4096)(valid_session_id)


def seq_of(receipt: str) -> int | None:
    """Return the sequence number in a receipt id; None if it is not a well-formed receipt id."""
    if len(receipt) != 29 or receipt[:5] != "rcpt_" or receipt[5:].strip("0123456789abcdef"):  # noqa: PLR2004 - 5 + 24
        return None
    return int(receipt[5:17], 16)


class RecordSigner:
    """Prepares and signs records; one instance per ledger. Code that runs for every call is inlined for speed."""

    def __init__(self, keys: Keys, clock: ClockMonitor, random: Callable[[int], bytes], *, inline: int) -> None:
        self.keys = keys
        self.clock = clock
        self._stamp = clock.stamp
        self._draw = RandomPool(random, 2 * SALT_BYTES + ID_BYTES).draw
        self._inline = inline

    def prepare(self, draft: Draft) -> tuple[dict[str, Any], partial[SignedRecord]]:
        """Check a draft and do all work that does not depend on its sequence number.

        Returns:
            The header, which is complete once the factory has been called, and the factory.

        Raises:
            TypeError: A float or another value that a header cannot hold.
            LedgerError: The session id cannot be a folder name.
        """
        header = _session_fields(draft.session)
        _add_call_fields(draft, header)
        salts = self._draw().hex().encode()
        inputs = outputs = b""
        blobs: tuple[tuple[str, bytes], ...] = ()
        cut = None
        if draft.inputs is not None:
            inputs, header["inputs_digest"], blobs = make_column(draft.inputs, salts[:SALT], self._inline)
        if draft.outputs is not None:
            cut = draft.excerpt_bytes
            outputs, header["outputs_digest"], blob = make_column(draft.outputs, salts[SALT:-ID], self._inline, cut)
            header["full_size"] = len(draft.outputs)
            blobs += blob
            if cut is not None:
                header["excerpt_bytes"] = cut
        columns = inputs, outputs, flat_tail(inputs, outputs, cut)
        return header, partial(self.sign, header, columns, blobs, salts[-ID:].decode())

    def sign(
        self,
        header: dict[str, Any],
        columns: tuple[bytes, bytes, bytes],
        blobs: tuple[tuple[str, bytes], ...],
        suffix: str,
        place: Place,
        stamped: tuple[str, str | None] | None = None,
    ) -> SignedRecord:
        """Add place, time (the given one, or now) and key, and sign (step 5); called under the journal's lock."""
        seq, prev = place
        inputs, outputs, tail = columns
        key = self.keys.active()
        header["key_id"] = key.key_id
        header["prev"] = prev.hex()
        header["receipt_id"] = receipt = "rcpt_%012x%s" % (seq, suffix)  # noqa: UP031 - faster than a width in an f-string
        header["seq"] = seq
        header["signature_alg"] = ALGORITHM
        header["timestamp"], jump = stamped or self._stamp()
        if jump is not None:
            header["clock_jump"] = jump
        body = canonical_plain(header)
        if not body.isascii():
            check_plain("header", header)  # only a non-ASCII header can have a key that sorts differently
        stored, header["signature"] = key.sign(body)
        leaf = sha256(b"\0" + stored).digest()
        return _signed_record(
            (stored, inputs, outputs, leaf, receipt, header["session_id"], stored[:-1] + tail, blobs, None)
        )


def _session_fields(session: Session) -> dict[str, Any]:  # noqa: C901 - one line for each field, twice as fast as a loop
    """Build the header fields for the caller and the session."""
    session_id, caller = session.session_id, session.caller
    if not _is_session_id(session_id):
        message = "a session id is 1 to 128 letters, digits, dots, dashes or underscores; a letter or digit comes first"
        raise LedgerError(message, code="session_id_invalid")
    header: dict[str, Any] = {
        "caller": {"channel": caller.channel, "roles": sorted(caller.roles), "subject": caller.subject},
        "session_id": session_id,
    }
    if session.agent_id is not None:
        header["agent_id"] = session.agent_id
    if session.conference_id is not None:
        header["conference_id"] = session.conference_id
    if session.round_id is not None:
        header["round_id"] = session.round_id
    if session.run_id is not None:
        header["run_id"] = session.run_id
    if session.task_id is not None:
        header["task_id"] = session.task_id
    if session.ticket_id is not None:
        header["ticket_id"] = session.ticket_id
    if session.turn_id is not None:
        header["turn_id"] = session.turn_id
    if session.extra:
        _add_extra(header, session.extra)
    return header


def _add_extra(header: dict[str, Any], extra: Mapping[str, str]) -> None:
    for name, value in extra.items():
        # Only flat text with an ASCII name that does not start with "signature": inserting the signature relies on it.
        if name in RESERVED or not name.isascii() or name.startswith("signature") or not isinstance(value, str):
            raise TypeError(f"'{name}' cannot be an extra header field")
        header[name] = value


def _add_call_fields(draft: Draft, header: dict[str, Any]) -> None:  # noqa: C901 - as above
    """Add the header fields for the tool, the outcome and the context of the decision."""
    if type(draft.duration_us) is not int:
        raise TypeError("'duration_us' must be an integer")
    header["duration_us"] = draft.duration_us
    header["kind"] = draft.kind
    if draft.tool_id is not None:
        header["tool_id"] = draft.tool_id
    if draft.tool_version is not None:
        header["tool_version"] = draft.tool_version
    if draft.policy_digest is not None:
        header["policy_digest"] = draft.policy_digest
    if draft.outcome is not None:
        _add_object(header, "outcome", draft.outcome)
    if draft.context is not None:
        _add_object(header, "context", draft.context)
    if draft.links:
        _add_object(header, "links", draft.links)
    if draft.approval is not None:
        _add_object(header, "approval", draft.approval)
    if draft.audit is not None:
        _add_object(header, "audit", draft.audit)
    if draft.file_refs:
        header["file_refs"] = [dict(ref) for ref in draft.file_refs]
        check_plain("file_refs", header["file_refs"])


def _add_object(header: dict[str, Any], name: str, value: Mapping[str, Any]) -> None:
    """Add an object after checking its values (its keys are checked when the header is serialised)."""
    if type(value) is not dict:
        value = dict(value)
    if not SCALARS.issuperset(map(type, value.values())):
        check_plain(name, value)
    header[name] = value
