"""Plain records: the outcome, and the `started` record, of an allowed call without special header fields.

Most receipts are plain. Within a session and a tool their headers differ in only nine places, so the rest is cached as
text with placeholders (`HeaderTemplate`). The bytes equal those of `seal.py`, at a third of the cost; a template is
made from a header that `seal.py` built, and a record that fits no template takes the general path.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from tallystick.gate.record.canonical import canonical_plain
from tallystick.gate.record.journal import Place, Seal, SignedRecord
from tallystick.gate.record.payload import SALT, SALT_BYTES
from tallystick.gate.record.random_pool import RandomPool
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.seal import ID, ID_BYTES, Sealer
from tallystick.gate.record.signing import ALGORITHM, HmacKey
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.records import record

REMEMBERED = 1024
"""Maximum number of cached templates; when it is reached, the cache is cleared."""
BEGINNING, OUTCOME, END = "started", "outcome", "outcome of a beginning"
_PLACE = (("prev", '"%s"'), ("receipt_id", '"rcpt_%012x%s"'), ("seq", "%d"), ("timestamp", '"%s"'))
_RAN = (("duration_us", "%d"), ("full_size", "%d"), ("inputs_digest", '"%s"'))
_HOLES = {
    BEGINNING: (_RAN[2], *_PLACE),
    OUTCOME: (*_RAN, ("outputs_digest", '"%s"'), *_PLACE),
    END: (*_RAN, ("links", '{"started":"%s"}'), ("outputs_digest", '"%s"'), *_PLACE),
}
"""Placeholders in the order of canonical JSON; only `timestamp` comes after the signature."""
_ACCEPTED = {"status": "accepted"}
_MARK = '"signature_alg":'
_TAB, _NEWLINE, _RETURN = b"\t\n\r"
_sealed: Callable[[tuple[Any, ...]], SignedRecord] = partial(tuple.__new__, SignedRecord)


@record
class HeaderTemplate:
    """The header template of plain records of one kind, session, tool, policy and key."""

    empty: Draft
    """The draft of such a record with an empty payload."""
    card: Card
    """Referenced, as the draft references the session, so that no other object can get the same `id()`."""
    key: HmacKey
    first: str
    """The text before the signature."""
    second: str
    """The text from `signature_alg` on."""
    said: dict[str, Any]
    """The header fields that all these records share."""


class PlainRecords:
    """Seals plain records; one instance per ledger."""

    def __init__(self, sealer: Sealer, random: Callable[[int], bytes], *, inline: int) -> None:
        self._sealer = sealer
        self._active = sealer.keys.active
        self._stamp = sealer.watch.stamp
        self._draw = RandomPool(random, 2 * SALT_BYTES + ID_BYTES).draw
        self._inline = inline
        self._forms: dict[tuple[int, int, str, str | None], HeaderTemplate | None] = {}

    def beginning(self, session: Session, card: Card, policy_digest: str, inputs: bytes, process: str) -> Seal | None:
        """Return the seal of a plain `started` record of a process; None: no template fits, use the general path."""
        form = self._forms.get((id(session), id(card), BEGINNING, None))
        if form is None or form.empty.policy_digest is not policy_digest or form.empty.links["process"] != process:
            form = self._form(BEGINNING, session, card, policy_digest, {"process": process})
        if form is None or len(inputs) > self._inline or _NEWLINE in inputs:
            return None
        return partial(self._seal, form, inputs, None, 0, None)

    def outcome(
        self, session: Session, card: Card, policy_digest: str, inputs: bytes, outputs: bytes, duration_us: int,
        started: str | None, snapshot: str | None = None,
    ) -> Seal | None:  # fmt: skip
        """Return the seal of a plain outcome, with its `started` id and snapshot digest if any; None: as above."""
        kind = OUTCOME if started is None else END
        # Keyed by identity, not value: comparing ten fields would cost more than serialising them again.
        form = self._forms.get((id(session), id(card), kind, snapshot))
        if form is None or form.empty.policy_digest is not policy_digest:
            links = {} if started is None else {"started": started}
            form = self._form(kind, session, card, policy_digest, links, snapshot)
        if form is None or len(inputs) + len(outputs) > self._inline:
            return None
        # Search by integer: seven times as fast as searching for a bytes object of length one.
        if _NEWLINE in outputs or _TAB in outputs or _RETURN in outputs or _NEWLINE in inputs:
            return None
        return partial(self._seal, form, inputs, outputs, duration_us, started)

    def _seal(
        self,
        form: HeaderTemplate,
        asked: bytes,
        came: bytes | None,
        duration_us: int,
        started: str | None,
        place: Place,
    ) -> SignedRecord:
        """Fill in the template and sign; called under the journal's lock."""
        seq, prev = place
        key, stamped, chance = self._active(), self._stamp(), self._draw().hex()
        if key is not form.key or stamped[1] is not None:
            # The key was rotated or the clock was set: the header must say so, and this template does not.
            links = form.empty.links if started is None else {"started": started}
            draft = replace(form.empty, inputs=asked, outputs=came, duration_us=duration_us, links=links)
            return self._sealer.prepare(draft)[1](place, stamped)
        salts, tail = chance.encode(), chance[-ID:]
        inputs, outputs, shown = salts[:SALT] + asked, b"", b"}\n"
        holes: tuple[Any, ...] = (sha256(inputs).hexdigest(),)
        if came is not None:
            outputs, shown = salts[SALT:-ID] + came, b',"outputs":%b}\n' % came
            named = () if started is None else (started,)
            holes = (duration_us, len(came), *holes, *named, sha256(outputs).hexdigest())
        first = (form.first % (*holes, prev.hex(), seq, tail, seq)).encode()
        second = (form.second % stamped[0]).encode()
        stored = b'%b"signature":"%b",%b' % (first, key.mac(first + second).hex().encode(), second)
        return _sealed((
            stored, inputs, outputs, sha256(b"\0" + stored).digest(), "rcpt_%012x%s" % (seq, tail),  # noqa: UP031
            form.empty.session.session_id, b'%b,"inputs":%b%b' % (stored[:-1], asked, shown), (),
            (form.said, stamped[0]),
        ))  # fmt: skip

    def _form(
        self, kind: str, session: Session, card: Card, policy_digest: str, links: dict[str, str],
        snapshot: str | None = None,
    ) -> HeaderTemplate | None:  # fmt: skip
        """Return a template on the second use; making one for a session or snapshot with a single call costs more."""
        place = id(session), id(card), kind, snapshot
        if place not in self._forms or session.extra:
            if len(self._forms) >= REMEMBERED:
                self._forms.clear()
            self._forms[place] = None
            return None
        ran = kind != BEGINNING
        empty = Draft(
            kind="outcome" if ran else "started", session=session, tool_id=card.name, tool_version=card.version,
            outcome=_ACCEPTED if ran else None, policy_digest=policy_digest, links=links,
            inputs=b"", outputs=b"" if ran else None, context=None if snapshot is None else {"snapshot": snapshot},
        )  # fmt: skip
        form = self._forms[place] = make_form(self._sealer, kind, card, empty, self._draw().hex())
        return form


def make_form(sealer: Sealer, kind: str, card: Card, empty: Draft, nonce: str) -> HeaderTemplate:
    """Make a template from the header that the general path builds for an empty call."""
    header, _ = sealer.prepare(empty)
    key = sealer.keys.active()
    header |= {"key_id": key.key_id, "signature_alg": ALGORITHM}
    holes = {name for name, _ in _HOLES[kind]}
    said = {name: value for name, value in header.items() if name not in holes}
    # The nonce was drawn just now, so no text from a caller can contain a placeholder.
    header |= {name: nonce + name for name, _ in _HOLES[kind]}
    text = canonical_plain(header).decode().replace("%", "%%")
    for name, hole in _HOLES[kind]:
        text = text.replace(f'"{nonce}{name}"', hole)
    cut = text.rindex(_MARK)
    return HeaderTemplate(empty=empty, card=card, key=key, first=text[:cut], second=text[cut:], said=said)
