"""From Draft to Sealed: the header is built, signed and bound to its payload.

A draft is prepared where it comes from (checks, digests, columns) and sealed under the journal's lock, where its place,
its time and the key that signs now are known. Field by field the header is described in `docs/protocol.md`.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from tallystick.errors import LedgerError
from tallystick.gate.record.canonical import canonical_plain, check_plain
from tallystick.gate.record.clock import Watch
from tallystick.gate.record.journal import Place, Sealed
from tallystick.gate.record.payload import SALT_BYTES, Column, flat_line, make_column
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.signing import ALGORITHM, Keys
from tallystick.gate.session import Session, valid_session_id

ID_BYTES = 6
"""Random part of a receipt id; the other half is the sequence number, so that ids sort and can be looked up."""

_SURROUNDINGS = ("agent_id", "conference_id", "round_id", "run_id", "task_id", "ticket_id", "turn_id")
_NESTED = ("approval", "audit", "context", "outcome")
RESERVED = frozenset(
    {
        "caller", "clock_jump", "duration_us", "erased", "excerpt", "excerpt_bytes", "file_refs", "full_size", "inputs",
        "inputs_digest", "key_id", "kind", "links", "outputs", "outputs_digest", "policy_digest", "prev", "receipt_id",
        "seq", "session_id", "sha256", "signature", "signature_alg", "timestamp", "tool_id", "tool_version",
        *_SURROUNDINGS, *_NESTED,
    }
)  # fmt: skip
"""Names that a room's extra header fields may not take."""

_known_session = lru_cache(maxsize=4096)(valid_session_id)


def receipt_id(seq: int, random: bytes) -> str:
    """`rcpt_`, 12 hex digits of the sequence number, 12 of chance."""
    return f"rcpt_{seq:012x}{random.hex()}"


def seq_of(receipt: str) -> int | None:
    """The place a receipt id names; None if it is not the form of one."""
    digits = receipt.removeprefix("rcpt_")
    if len(receipt) != 29 or len(digits) != 24 or digits.strip("0123456789abcdef"):  # noqa: PLR2004 - 5 + 12 + 12
        return None
    return int(digits[:12], 16)


class Sealer:
    """Makes sealed records; one for each ledger, used under its lock."""

    def __init__(self, keys: Keys, watch: Watch, random: Callable[[int], bytes], *, inline: int) -> None:
        self._keys = keys
        self._watch = watch
        self._random = random
        self._inline = inline

    def prepare(self, draft: Draft) -> "Prepared":
        """Check a draft and do all that does not depend on its place.

        Raises:
            TypeError: A float or other value that a header cannot hold.
            LedgerError: The session id cannot name a folder.
        """
        header = _surroundings(draft.session)
        _describe(draft, header)
        random = self._random(2 * SALT_BYTES + ID_BYTES)
        asked = came = None
        if draft.inputs is not None:
            asked = make_column(draft.inputs, random[:SALT_BYTES].hex().encode(), inline=self._inline)
            header["inputs_digest"] = asked.digest
        cut = draft.excerpt_bytes
        if draft.outputs is not None:
            salt = random[SALT_BYTES : 2 * SALT_BYTES].hex().encode()
            came = make_column(draft.outputs, salt, inline=self._inline, cut=cut)
            header["outputs_digest"] = came.digest
            header["full_size"] = len(draft.outputs)
            if cut is not None:
                header["excerpt_bytes"] = cut
        return Prepared(self, header, (asked, came), random[2 * SALT_BYTES :])

    def finish(self, header: dict[str, Any], place: Place, chance: bytes) -> bytes:
        """Put in place, time and key, and sign."""
        key = self._keys.active()
        header["key_id"] = key.key_id
        header["prev"] = place.prev.hex()
        header["receipt_id"] = receipt_id(place.seq, chance)
        header["seq"] = place.seq
        header["signature_alg"] = ALGORITHM
        header["timestamp"], jump = self._watch.stamp()
        if jump is not None:
            header["clock_jump"] = jump
        stored, header["signature"] = key.sign(canonical_plain(header))
        return stored


class Prepared:
    """A draft that only lacks its place."""

    __slots__ = ("_chance", "_columns", "_sealer", "header")

    def __init__(
        self, sealer: Sealer, header: dict[str, Any], columns: tuple[Column | None, Column | None], chance: bytes
    ) -> None:
        self._sealer = sealer
        self.header = header
        """Complete, signature included, once it was sealed."""
        self._columns = columns
        self._chance = chance

    def __call__(self, place: Place) -> Sealed:
        """Seal at this place."""
        header = self.header
        stored = self._sealer.finish(header, place, self._chance)
        asked, came = self._columns
        inputs = b"" if asked is None else asked.stored
        outputs = b"" if came is None else came.stored
        return Sealed(
            header=stored,
            inputs=inputs,
            outputs=outputs,
            leaf=sha256(b"\0" + stored).digest(),
            receipt_id=header["receipt_id"],
            session_id=header["session_id"],
            flat=flat_line(stored, inputs, outputs, header.get("excerpt_bytes")),
            blobs=tuple((c.digest, c.blob) for c in self._columns if c is not None and c.blob is not None),
        )


def _surroundings(session: Session) -> dict[str, Any]:
    """Who called, and where the call belongs."""
    if not _known_session(session.session_id):
        message = (
            "a session id is 1 to 128 letters, digits, dots, dashes or underscores, and begins with a letter or digit"
        )
        raise LedgerError(message, code="session_id_invalid")
    caller = session.caller
    header: dict[str, Any] = {
        "caller": {"channel": caller.channel, "roles": sorted(caller.roles), "subject": caller.subject},
        "session_id": session.session_id,
    }
    for name in _SURROUNDINGS:
        value = getattr(session, name)
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
    if type(draft.duration_us) is not int:
        raise TypeError("'duration_us' is an integer")
    header["kind"] = draft.kind
    header["duration_us"] = draft.duration_us
    for name in _NESTED:
        value = getattr(draft, name)
        if value is not None:
            header[name] = value = value if type(value) is dict else dict(value)
            check_plain(name, value)
    if draft.links:
        header["links"] = dict(draft.links)
        check_plain("links", header["links"])
    if draft.file_refs:
        header["file_refs"] = [dict(ref) for ref in draft.file_refs]
        check_plain("file_refs", header["file_refs"])
    for name in ("tool_id", "tool_version", "policy_digest"):
        value = getattr(draft, name)
        if value is not None:
            header[name] = value
