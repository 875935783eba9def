r"""Payload columns: inputs and outputs of a call, erasable, and bound to the header by a salted digest.

A record is one line, `HEADER \t INPUTS \t OUTPUTS \n`. A payload column is one of

    (empty)                    no payload
    SALT JSON                  32 hex digits of salt, then the bytes as received
    @{"excerpt",…}             too large, or contains line breaks or tabs: SALT JSON is in a blob named by its digest
    ~ and spaces               erased; same length as before, so that no other byte of the log moves

The digest in the header is SHA-256 over SALT JSON. The salt prevents guessing a short payload from its digest after
erasure.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import orjson

from tallystick.gate.record.journal import JustWritten
from tallystick.gate.record.receipt import Receipt

SALT_BYTES = 16
SALT = 2 * SALT_BYTES
EXCERPT_BYTES = 2_000
"""Bytes of a blob that the session view (the session's own file with its records) contains: enough to recognise it."""

BLOB = b"@"
ERASED = b"~"
_ELSEWHERE = frozenset({BLOB, ERASED})
_TAB, _NEWLINE, _RETURN = b"\t\n\r"


Column = tuple[bytes, str, tuple[tuple[str, bytes], ...]]
"""The column in the log line, the digest, and the blob (digest and bytes) if there is one."""


Followed = tuple[int, Receipt | None]
"""A record's sequence number, and the record; None: the filter skipped it."""


def make_column(payload: bytes, salt: bytes, inline: int, cut: int | None = None) -> Column:
    """Make the column of a payload from its bytes and a salt.

    Args:
        payload: JSON bytes, stored unchanged.
        salt: 32 hex digits.
        inline: Payloads larger than this become blobs.
        cut: Number of bytes shown to the model, if not all.
    """
    whole = salt + payload
    digest = sha256(whole).hexdigest()
    # Search by integer: seven times as fast as searching for a bytes object of length one.
    if len(payload) <= inline and not (_NEWLINE in payload or _TAB in payload or _RETURN in payload):
        return whole, digest, ()
    # A payload passed on from another server may contain line breaks. Its bytes are evidence and must not change, so
    # store it as a blob.
    return blob_column(payload, cut), digest, ((digest, whole),)


def blob_column(payload: bytes, cut: int | None) -> bytes:
    """Return the column for a payload that is stored as a blob."""
    return BLOB + orjson.dumps(excerpt_of(payload, cut))


def excerpt_of(payload: bytes, cut: int | None) -> dict[str, Any]:
    """Return the beginning of a payload, with digest and size of the whole."""
    text = payload[: EXCERPT_BYTES if cut is None else cut].decode("utf-8", "ignore")
    return {"excerpt": text, "full_size": len(payload), "sha256": sha256(payload).hexdigest()}


def flat_line(header: bytes, inputs: bytes, outputs: bytes, cut: int | None) -> bytes:
    """Return the record as one line of the session view: header and payload joined as bytes."""
    return header[:-1] + flat_tail(inputs, outputs, cut)


def flat_tail(inputs: bytes, outputs: bytes, cut: int | None) -> bytes:
    """Return the end of a line of the session view, after the header's fields; it does not depend on the header."""
    kinds = inputs[:1], outputs[:1]
    if ERASED in kinds:
        return b',"erased":true}\n'
    asked = b',"inputs":' + inputs[1 if kinds[0] == BLOB else SALT :] if inputs else b""
    if kinds[1] == BLOB or (outputs and cut is not None):
        return asked + _shown(outputs, cut) + b"}\n"
    return b'%b,"outputs":%b}\n' % (asked, outputs[SALT:]) if outputs else asked + b"}\n"


def _shown(outputs: bytes, cut: int | None) -> bytes:
    """Return the part of the line for an output that is not shown in full; `full_size` is in the header."""
    try:
        shown = orjson.loads(outputs[1:]) if outputs[:1] == BLOB else excerpt_of(outputs[SALT:], cut)
        return b',"excerpt":%b,"sha256":%b' % (orjson.dumps(shown["excerpt"]), orjson.dumps(shown["sha256"]))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return b""  # tampered; the audit reports it, so the view need not


def read_receipt(
    columns: tuple[bytes, bytes, bytes], header: dict[str, Any], blob: Callable[[str], bytes | None]
) -> Receipt | None:
    """Build a receipt from columns and parsed header; None if a payload does not match its digest or lacks its blob."""
    inputs, outputs = columns[1:]
    line = flat_line(*columns, header.get("excerpt_bytes"))
    if inputs[:1] == ERASED or outputs[:1] == ERASED:
        return Receipt(header=header, erased=True, full_size=header.get("full_size"), line=line)
    asked, came = _whole(inputs, header, "inputs_digest", blob), _whole(outputs, header, "outputs_digest", blob)
    if asked is None or came is None:
        return None
    cut = header.get("excerpt_bytes")
    shown = excerpt_of(came[SALT:], cut) if came and (cut is not None or outputs[:1] == BLOB) else {}
    return Receipt(
        header=header,
        inputs=orjson.loads(asked[SALT:]) if asked else None,
        outputs=orjson.loads(came[SALT:]) if came else None,
        excerpt=shown.get("excerpt"),
        sha256=shown.get("sha256"),
        full_size=header.get("full_size"),
        line=line,
    )


def just_made(
    records: Sequence[JustWritten] | None, start: int, wanted: Callable[[bytes], bool]
) -> list[Followed] | None:
    """Build receipts of records that this process has just signed and written, without verifying them.

    They hold the arguments and the header. For a record with a `HeaderSummary`, the header consists of the summary's
    fields, sequence number, receipt id and timestamp: digests and signature are missing.

    Args:
        records: The records; None: not available in memory.
        start: Sequence number of the first.
        wanted: Filter on the bytes of a header (sorted keys, no white space); a record is skipped unparsed if False.
            The first record of the log is never skipped.

    Returns:
        One item per record; None if there are no such records, or the inputs of one are in a blob or erased.
    """
    if records is None:
        return None
    made: list[Followed] = []
    for seq, (stored, inputs, receipt_id, summary) in enumerate(records, start):
        if not wanted(stored) and seq:
            made.append((seq, None))
            continue
        if inputs[:1] in _ELSEWHERE:
            return None
        if summary is None:
            header = orjson.loads(stored)
        else:
            header = {**summary[0], "seq": seq, "receipt_id": receipt_id, "timestamp": summary[1]}
        made.append((seq, Receipt.with_arguments(header, orjson.loads(inputs[SALT:]) if inputs else None)))
    return made


def _whole(column: bytes, header: dict[str, Any], name: str, blob: Callable[[str], bytes | None]) -> bytes | None:
    """Return salt and payload of a column, verified against the header; empty if there is none, None if invalid."""
    digest = header.get(name)
    if not column:
        return b"" if digest is None else None
    whole = blob(digest or "") if column[:1] == BLOB else column
    if whole is None or sha256(whole).hexdigest() != digest:
        return None
    cut = header.get("excerpt_bytes") if name == "outputs_digest" else None
    return None if column[:1] == BLOB and column != blob_column(whole[SALT:], cut) else whole
