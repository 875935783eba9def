"""From Draft to Sealed: the header is built, signed and bound to its payload.

A draft is prepared where it comes from (checks, digests, columns) and sealed under the journal's lock, where its place,
its time and the key that signs now are known. Field by field the header is described in `docs/protocol.md`.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from hashlib import sha256
from operator import attrgetter
from typing import Any

from tallystick.errors import LedgerError
from tallystick.gate.record.canonical import SCALARS, canonical_plain, check_plain
from tallystick.gate.record.clock import Watch
from tallystick.gate.record.journal import Place, Seal, Sealed
from tallystick.gate.record.payload import SALT, SALT_BYTES, flat_line, make_column
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.signing import ALGORITHM, Keys
from tallystick.gate.session import Session, valid_session_id

ID_BYTES = 6
ID = 2 * ID_BYTES
"""Random part of a receipt id; the other half is the sequence number, so that ids sort and can be looked up."""

_SURROUNDINGS = ("agent_id", "conference_id", "round_id", "run_id", "task_id", "ticket_id", "turn_id")
_FIELDS = (
    "approval", "audit", "context", "duration_us", "file_refs", "kind", "links", "outcome", "policy_digest", "tool_id",
    "tool_version",
)  # fmt: skip
# All fields in one call: a receipt is made for every call of every tool.
_surroundings = attrgetter(*_SURROUNDINGS)
_fields = attrgetter(*_FIELDS)

RESERVED = frozenset(
    {
        "caller", "clock_jump", "erased", "excerpt", "excerpt_bytes", "full_size", "inputs", "inputs_digest", "key_id",
        "outputs", "outputs_digest", "prev", "receipt_id", "seq", "session_id", "sha256", "signature", "signature_alg",
        "timestamp", *_SURROUNDINGS, *_FIELDS,
    }
)  # fmt: skip
"""Names that a room's extra header fields may not take."""

_known_session = lru_cache(maxsize=4096)(valid_session_id)


def seq_of(receipt: str) -> int | None:
    """The place a receipt id names; None if it is not the form of one."""
    digits = receipt.removeprefix("rcpt_")
    if len(receipt) != 29 or len(digits) != 24 or digits.strip("0123456789abcdef"):  # noqa: PLR2004 - 5 + 12 + 12
        return None
    return int(digits[:12], 16)


class Sealer:
    """Makes sealed records; one for each ledger. What runs for every call is written out rather than divided up."""

    def __init__(self, keys: Keys, watch: Watch, random: Callable[[int], bytes], *, inline: int) -> None:
        self._keys = keys
        self._stamp = watch.stamp
        self._random = random
        self._inline = inline

    def prepare(self, draft: Draft) -> tuple[dict[str, Any], Seal]:
        """Check a draft and do all that does not depend on its place.

        Returns:
            The header, which is complete once the seal was called, and the seal.

        Raises:
            TypeError: A float or other value that a header cannot hold.
            LedgerError: The session id cannot name a folder.
        """
        header = _belonging(draft.session)
        _describe(draft, header)
        random = self._random(2 * SALT_BYTES + ID_BYTES)
        salts = random.hex().encode()
        inputs = outputs = b""
        blobs: tuple[tuple[str, bytes], ...] = ()
        if draft.inputs is not None:
            inputs, header["inputs_digest"], blob = make_column(draft.inputs, salts[:SALT], self._inline)
            blobs += blob
        if draft.outputs is not None:
            cut = draft.excerpt_bytes
            outputs, header["outputs_digest"], blob = make_column(draft.outputs, salts[SALT:-ID], self._inline, cut)
            header["full_size"] = len(draft.outputs)
            blobs += blob
            if cut is not None:
                header["excerpt_bytes"] = cut
        return header, partial(self._seal, header, inputs, outputs, blobs, salts[-ID:].decode())

    def _seal(  # noqa: PLR0913 - what `prepare` found, and the place
        self,
        header: dict[str, Any],
        inputs: bytes,
        outputs: bytes,
        blobs: tuple[tuple[str, bytes], ...],
        chance: str,
        place: Place,
    ) -> Sealed:
        """Put in place, time and key, and sign; called under the journal's lock."""
        seq, prev = place
        key = self._keys.active()
        header["key_id"] = key.key_id
        header["prev"] = prev.hex()
        header["receipt_id"] = receipt = "rcpt_%012x%s" % (seq, chance)  # noqa: UP031 - faster than a width in an f-string
        header["seq"] = seq
        header["signature_alg"] = ALGORITHM
        header["timestamp"], jump = self._stamp()
        if jump is not None:
            header["clock_jump"] = jump
        body = canonical_plain(header)
        if not body.isascii():
            check_plain("header", header)  # only here can a key be something that sorts differently
        stored, header["signature"] = key.sign(body)
        flat = flat_line(stored, inputs, outputs, header.get("excerpt_bytes"))
        leaf = sha256(b"\0" + stored).digest()
        return Sealed(stored, inputs, outputs, leaf, receipt, header["session_id"], flat, blobs)


def _belonging(session: Session) -> dict[str, Any]:
    """Who called, and where the call belongs."""
    session_id, caller = session.session_id, session.caller
    if not _known_session(session_id):
        message = "a session id is 1 to 128 letters, digits, dots, dashes or underscores; a letter or digit comes first"
        raise LedgerError(message, code="session_id_invalid")
    header: dict[str, Any] = {
        "caller": {"channel": caller.channel, "roles": sorted(caller.roles), "subject": caller.subject},
        "session_id": session_id,
    }
    for name, value in zip(_SURROUNDINGS, _surroundings(session), strict=True):
        if value is not None:
            header[name] = value
    if session.extra:
        _extend(header, session.extra)
    return header


def _extend(header: dict[str, Any], extra: Mapping[str, str]) -> None:
    for name, value in extra.items():
        # Flat ASCII-named text only: the place of the signature is found by relying on it.
        if name in RESERVED or not name.isascii() or not isinstance(value, str):
            raise TypeError(f"'{name}' cannot be an extra header field")
        header[name] = value


def _describe(draft: Draft, header: dict[str, Any]) -> None:
    """What was called, what came of it and what the decision read."""
    for name, value in zip(_FIELDS, _fields(draft), strict=True):
        if value is None:
            continue
        kind = type(value)
        if kind is str or kind is int:
            header[name] = value
        elif kind is dict and SCALARS.issuperset(map(type, value.values())):
            if value or name != "links":
                header[name] = value
        else:
            _nest(header, name, value)


def _nest(header: dict[str, Any], name: str, value: Any) -> None:
    """The less usual forms: other mappings, objects in objects, the list of files."""
    if isinstance(value, Mapping):
        value = dict(value)
    elif isinstance(value, tuple):
        value = [dict(ref) for ref in value]
    if value or name not in {"links", "file_refs"}:
        check_plain(name, value)
        header[name] = value
