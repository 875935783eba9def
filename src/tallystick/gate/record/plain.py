"""The plain outcome: a call that was let through, ran, and of which there is nothing unusual to say.

Most receipts are of this kind. Their headers differ from one another, within a session and a tool, in nine places only,
so the rest is kept ready as text with holes (`Form`). The bytes are those that `seal.py` makes, at a third of the cost;
a form is made from a header that `seal.py` made, and whatever does not fit one goes the general way.
"""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any

from tallystick.gate.record.canonical import canonical_plain
from tallystick.gate.record.chance import Chance
from tallystick.gate.record.journal import Place, Seal, Sealed
from tallystick.gate.record.payload import SALT, SALT_BYTES
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.seal import ID, ID_BYTES, REMEMBERED, Sealer
from tallystick.gate.record.signing import ALGORITHM, HmacKey
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.records import record

_ACCEPTED = {"status": "accepted"}
_HOLES = (
    ("duration_us", "%d"), ("full_size", "%d"), ("inputs_digest", '"%s"'), ("outputs_digest", '"%s"'),
    ("prev", '"%s"'), ("receipt_id", '"rcpt_%012x%s"'), ("seq", "%d"), ("timestamp", '"%s"'),
)  # fmt: skip
"""In the order in which canonical JSON has them; `timestamp` alone stands behind the signature."""
_MARK = '"signature_alg":'
_TAB, _NEWLINE, _RETURN = b"\t\n\r"
_sealed: Callable[[tuple[Any, ...]], Sealed] = partial(tuple.__new__, Sealed)


@record
class Form:
    """The header of plain outcomes of one session and tool, under one policy and key."""

    session: Session
    card: Card
    """Held, so that nothing else can come to have their identity."""
    policy_digest: str
    key: HmacKey
    first: str
    """Up to the signature."""
    second: str
    """From `signature_alg` on."""


class PlainOutcomes:
    """Seals plain outcomes; one for each ledger."""

    def __init__(self, sealer: Sealer, random: Callable[[int], bytes], *, inline: int) -> None:
        self._sealer = sealer
        self._active = sealer.keys.active
        self._stamp = sealer.watch.stamp
        self._draw = Chance(random, 2 * SALT_BYTES + ID_BYTES).draw
        self._inline = inline
        self._forms: dict[tuple[int, int], Form | None] = {}

    def prepare(
        self, session: Session, card: Card, policy_digest: str, inputs: bytes, outputs: bytes, duration_us: int
    ) -> Seal | None:
        """The seal of a plain outcome; None: there is no form for it, so it has to go the general way."""
        # By identity, not by value: comparing ten fields would cost more than writing them down again.
        place = id(session), id(card)
        form = self._forms.get(place)
        if form is None or form.policy_digest is not policy_digest:
            form = self._form(place, session, card, policy_digest)
        if form is None or len(inputs) + len(outputs) > self._inline:
            return None
        # By number: looking for a byte is seven times as fast as looking for a text of one byte.
        if _NEWLINE in outputs or _TAB in outputs or _RETURN in outputs or _NEWLINE in inputs:
            return None
        return partial(self._seal, form, inputs, outputs, duration_us)

    def _seal(self, form: Form, asked: bytes, came: bytes, duration_us: int, place: Place) -> Sealed:
        """Fill in the form and sign; called under the journal's lock."""
        seq, prev = place
        key, stamped, chance = self._active(), self._stamp(), self._draw().hex()
        if key is not form.key or stamped[1] is not None:
            # The key was changed, or the clock: the header says so, and this form does not.
            draft = _draft(form.session, form.card, form.policy_digest, asked, came, duration_us)
            return self._sealer.prepare(draft)[1](place, stamped)
        salts, tail = chance.encode(), chance[-ID:]
        inputs, outputs = salts[:SALT] + asked, salts[SALT:-ID] + came
        digest_in, digest_out = sha256(inputs).hexdigest(), sha256(outputs).hexdigest()
        first = (form.first % (duration_us, len(came), digest_in, digest_out, prev.hex(), seq, tail, seq)).encode()
        second = (form.second % stamped[0]).encode()
        stored = b'%b"signature":"%b",%b' % (first, key.mac(first + second).hex().encode(), second)
        return _sealed((
            stored, inputs, outputs, sha256(b"\0" + stored).digest(), "rcpt_%012x%s" % (seq, tail),  # noqa: UP031
            form.session.session_id, b'%b,"inputs":%b,"outputs":%b}\n' % (stored[:-1], asked, came), (),
        ))  # fmt: skip

    def _form(self, place: tuple[int, int], session: Session, card: Card, policy_digest: str) -> Form | None:
        """The form of a session that comes a second time: to make one for a session of one call would not pay."""
        if place not in self._forms or session.extra:
            if len(self._forms) >= REMEMBERED:
                self._forms.clear()
            self._forms[place] = None
            return None
        form = make_form(self._sealer, session, card, policy_digest, self._draw().hex())
        self._forms[place] = form
        return form


def make_form(sealer: Sealer, session: Session, card: Card, policy_digest: str, nonce: str) -> Form:
    """A form, from the header that the general way makes of an empty call."""
    header, _ = sealer.prepare(_draft(session, card, policy_digest, b"", b"", 0))
    key = sealer.keys.active()
    header |= {"key_id": key.key_id, "signature_alg": ALGORITHM}
    # What stands for a hole cannot be in anything a caller wrote: it was drawn just now.
    header |= {name: nonce + name for name, _ in _HOLES}
    text = canonical_plain(header).decode().replace("%", "%%")
    for name, hole in _HOLES:
        text = text.replace(f'"{nonce}{name}"', hole)
    cut = text.rindex(_MARK)
    return Form(session=session, card=card, policy_digest=policy_digest, key=key, first=text[:cut], second=text[cut:])


def _draft(session: Session, card: Card, policy_digest: str, inputs: bytes, outputs: bytes, duration_us: int) -> Draft:
    return Draft(
        kind="outcome", session=session, tool_id=card.name, tool_version=card.version, outcome=_ACCEPTED,
        policy_digest=policy_digest, duration_us=duration_us, inputs=inputs, outputs=outputs,
    )  # fmt: skip
