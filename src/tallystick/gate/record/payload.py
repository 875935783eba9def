r"""Payload columns: what was asked and what came back, bound to the header by a salted digest, and erasable.

A record is one line, `HEADER \t INPUTS \t OUTPUTS \n`. A payload column is one of

    (empty)                    there was none
    SALT JSON                  32 hex digits of salt, then the bytes as received
    @{"excerpt",…}             too large for the line, or not on one line: SALT JSON lies in a blob named by its digest
    ~ and spaces               erased; as long as what stood there, so that no other byte of the log moves

The digest in the header is SHA-256 over SALT JSON. The salt keeps a short payload from being guessed from its digest
after it was erased.
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
"""How much of a blob the session views show: enough to recognise it by."""

BLOB = b"@"
ERASED = b"~"
_ELSEWHERE = frozenset({BLOB, ERASED})
_TAB, _NEWLINE, _RETURN = b"\t\n\r"


Column = tuple[bytes, str, tuple[tuple[str, bytes], ...]]
"""What stands in the line, the digest, and the blob (its digest and bytes) if there is one."""


Followed = tuple[int, Receipt | None]
"""A record's place in the log, and the record; None: it is none of those that were asked for."""


def make_column(payload: bytes, salt: bytes, inline: int, cut: int | None = None) -> Column:
    """Bind a payload to a salt.

    Args:
        payload: JSON bytes, kept exactly.
        salt: 32 hex digits.
        inline: Payloads larger than this become blobs.
        cut: How many bytes the model saw, if not all.
    """
    whole = salt + payload
    digest = sha256(whole).hexdigest()
    # By number: looking for a byte is seven times as fast as looking for a text of one byte.
    if len(payload) <= inline and not (_NEWLINE in payload or _TAB in payload or _RETURN in payload):
        return whole, digest, ()
    # A relayed payload may be laid out over lines; its bytes are evidence, so it goes aside rather than be re-written.
    return blob_column(payload, cut), digest, ((digest, whole),)


def blob_column(payload: bytes, cut: int | None) -> bytes:
    """What stands in the line for a payload that lies beside the log."""
    return BLOB + orjson.dumps(excerpt_of(payload, cut))


def excerpt_of(payload: bytes, cut: int | None) -> dict[str, Any]:
    """The beginning of a payload, with the digest and size of the whole."""
    text = payload[: EXCERPT_BYTES if cut is None else cut].decode("utf-8", "ignore")
    return {"excerpt": text, "full_size": len(payload), "sha256": sha256(payload).hexdigest()}


def flat_line(header: bytes, inputs: bytes, outputs: bytes, cut: int | None) -> bytes:
    """The record as one line of the session view: the header with the payload put in, by bytes."""
    return header[:-1] + flat_tail(inputs, outputs, cut)


def flat_tail(inputs: bytes, outputs: bytes, cut: int | None) -> bytes:
    """What follows the header's fields in that line: known before the header is."""
    kinds = inputs[:1], outputs[:1]
    if ERASED in kinds:
        return b',"erased":true}\n'
    asked = b',"inputs":' + inputs[1 if kinds[0] == BLOB else SALT :] if inputs else b""
    if kinds[1] == BLOB or (outputs and cut is not None):
        return asked + _shown(outputs, cut) + b"}\n"
    return b'%b,"outputs":%b}\n' % (asked, outputs[SALT:]) if outputs else asked + b"}\n"


def _shown(outputs: bytes, cut: int | None) -> bytes:
    """The part of the line that stands for an output which is not shown whole; `full_size` is in the header."""
    try:
        shown = orjson.loads(outputs[1:]) if outputs[:1] == BLOB else excerpt_of(outputs[SALT:], cut)
        return b',"excerpt":%b,"sha256":%b' % (orjson.dumps(shown["excerpt"]), orjson.dumps(shown["sha256"]))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return b""  # somebody changed it: the audit says so, and a view needs no second alarm


def read_receipt(
    columns: tuple[bytes, bytes, bytes], header: dict[str, Any], blob: Callable[[str], bytes | None]
) -> Receipt | None:
    """A receipt from its columns and parsed header; None if a payload does not fit its digest or its blob is gone."""
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
    """Receipts of records that this process sealed a moment ago, so that there is nothing to check.

    Only what the header says of the call is told, and the arguments: of a plain record no digests and no signature.

    Args:
        records: The records; None: there are none at hand.
        start: The sequence number of the first.
        wanted: Tells from the bytes of a header (sorted keys, no white space) that it is surely none of those that are
            asked for; such a record is left unread. The first of the log never is.

    Returns:
        None: there are no such records, or some lie elsewhere than in their lines.
    """
    if records is None:
        return None
    made: list[Followed] = []
    for seq, (stored, inputs, receipt_id, told) in enumerate(records, start):
        if not wanted(stored) and seq:
            made.append((seq, None))
            continue
        if inputs[:1] in _ELSEWHERE:
            return None
        if told is None:
            header = orjson.loads(stored)
        else:
            header = {**told[0], "seq": seq, "receipt_id": receipt_id, "timestamp": told[1]}
        made.append((seq, Receipt.with_arguments(header, orjson.loads(inputs[SALT:]) if inputs else None)))
    return made


def _whole(column: bytes, header: dict[str, Any], name: str, blob: Callable[[str], bytes | None]) -> bytes | None:
    """Salt and payload of a column, checked against the header; empty if the header names none."""
    digest = header.get(name)
    if not column:
        return b"" if digest is None else None
    whole = blob(digest or "") if column[:1] == BLOB else column
    if whole is None or sha256(whole).hexdigest() != digest:
        return None
    cut = header.get("excerpt_bytes") if name == "outputs_digest" else None
    return None if column[:1] == BLOB and column != blob_column(whole[SALT:], cut) else whole
