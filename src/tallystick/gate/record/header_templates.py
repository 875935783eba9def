"""Prepare and sign plain records, which most records are, from a header template.

This is the fast path of steps 2 (prepare) and 5 (sign) of the list in the package docstring, `gate/record/__init__.py`.

A record is plain if it is the outcome or the `started` record of an allowed call and needs no special header fields.
Within a session and a tool, the headers of plain records differ in only nine places, so the rest is cached as text with
placeholders (`HeaderTemplate`). The bytes equal those of `record_signer.py`, at a third of the cost: a template is made
from a header that `record_signer.py` built, and a record that fits no template is prepared there.
"""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any

from tallystick.gate.record.canonical import canonical_plain
from tallystick.gate.record.journal import Place, RecordFactory, SignedRecord
from tallystick.gate.record.payload import SALT, SALT_BYTES
from tallystick.gate.record.random_pool import RandomPool
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.record_signer import ID, ID_BYTES, RecordSigner
from tallystick.gate.record.signing import ALGORITHM, HmacKey
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.records import record

MAX_TEMPLATES = 1024
"""Maximum number of cached templates; when it is reached, the cache is cleared."""
STARTED, OUTCOME, LINKED_OUTCOME = "started", "outcome", "outcome with a link to its started record"
_PLACE = (("prev", '"%s"'), ("receipt_id", '"rcpt_%012x%s"'), ("seq", "%d"), ("timestamp", '"%s"'))
_CALL = (("duration_us", "%d"), ("full_size", "%d"), ("inputs_digest", '"%s"'))
_PLACEHOLDERS = {
    STARTED: (_CALL[2], *_PLACE),
    OUTCOME: (*_CALL, ("outputs_digest", '"%s"'), *_PLACE),
    LINKED_OUTCOME: (*_CALL, ("links", '{"started":"%s"}'), ("outputs_digest", '"%s"'), *_PLACE),
}
"""Header fields that vary, in the order of canonical JSON; only `timestamp` comes after the signature."""
_ACCEPTED = {"status": "accepted"}
_MARK = '"signature_alg":'
_TAB, _NEWLINE, _RETURN = b"\t\n\r"
_signed_record: Callable[[tuple[Any, ...]], SignedRecord] = partial(tuple.__new__, SignedRecord)


@record
class HeaderTemplate:
    """The header template of plain records of one kind, session, tool, policy and key."""

    draft: Draft
    """The draft of such a record with an empty payload."""
    card: Card
    """Referenced, as the draft references the session, so that no other object can get the same `id()`."""
    key: HmacKey
    kind: str
    before: str
    """The header's text before the signature."""
    after: str
    """The header's text from `signature_alg` on."""
    fields: dict[str, Any]
    """The header fields that all these records share."""


class TemplateSigner:
    """Prepares plain records; one instance per ledger."""

    def __init__(self, signer: RecordSigner, random: Callable[[int], bytes], *, inline: int) -> None:
        self._signer = signer
        self._active = signer.keys.active
        self._stamp = signer.clock.stamp
        self._draw = RandomPool(random, 2 * SALT_BYTES + ID_BYTES).draw
        self._inline = inline
        self._templates: dict[tuple[int, int, str, str | None], HeaderTemplate | None] = {}

    def started(
        self, session: Session, card: Card, policy_digest: str, inputs: bytes, process: str
    ) -> RecordFactory | None:
        """Prepare a plain `started` record of a process; None: no template fits, so the record needs a draft."""
        template = self._templates.get((id(session), id(card), STARTED, None))
        if (
            template is None
            or template.draft.policy_digest is not policy_digest
            or template.draft.links["process"] != process
        ):
            template = self._template(STARTED, session, card, policy_digest, {"process": process})
        if template is None or len(inputs) > self._inline or _NEWLINE in inputs:
            return None
        return partial(self._sign, template, inputs, None, 0, None)

    def outcome(
        self,
        session: Session,
        card: Card,
        policy_digest: str,
        inputs: bytes,
        outputs: bytes,
        duration_us: int,
        started: str | None,
        snapshot: str | None = None,
    ) -> RecordFactory | None:
        """Prepare a plain outcome, with its `started` id and the digest of the data that the tool's rule read, if any.

        None: not plain, so it must be prepared from a `Draft`.
        """
        kind = OUTCOME if started is None else LINKED_OUTCOME
        # Keyed by identity, not value: comparing ten fields would cost more than serialising them again.
        template = self._templates.get((id(session), id(card), kind, snapshot))
        if template is None or template.draft.policy_digest is not policy_digest:
            links = {} if started is None else {"started": started}
            template = self._template(kind, session, card, policy_digest, links, snapshot)
        if template is None or len(inputs) + len(outputs) > self._inline:
            return None
        # Search by integer: seven times as fast as searching for a bytes object of length one.
        if _NEWLINE in outputs or _TAB in outputs or _RETURN in outputs or _NEWLINE in inputs:
            return None
        return partial(self._sign, template, inputs, outputs, duration_us, started)

    def _sign(
        self,
        template: HeaderTemplate,
        inputs: bytes,
        outputs: bytes | None,
        duration_us: int,
        started: str | None,
        place: Place,
    ) -> SignedRecord:
        """Fill in the template and sign (step 5); called under the journal's lock."""
        seq, prev = place
        key, stamped, random = self._active(), self._stamp(), self._draw().hex()
        salts, suffix = random.encode(), random[-ID:]
        inputs_column, outputs_column, tail = salts[:SALT] + inputs, b"", b',"inputs":%b}\n' % inputs
        values: tuple[Any, ...] = (sha256(inputs_column).hexdigest(),)
        if outputs is not None:
            outputs_column, tail = salts[SALT:-ID] + outputs, b',"inputs":%b,"outputs":%b}\n' % (inputs, outputs)
            links = () if started is None else (started,)
            values = (duration_us, len(outputs), *values, *links, sha256(outputs_column).hexdigest())
        if key is not template.key or stamped[1] is not None:
            # The key was rotated or the clock was set: the header must say so, and this template does not.
            header_fields = template.fields | _named(template.kind, values)
            return self._signer.sign(header_fields, (inputs_column, outputs_column, tail), (), suffix, place, stamped)
        before = (template.before % (*values, prev.hex(), seq, suffix, seq)).encode()
        after = (template.after % stamped[0]).encode()
        header = b'%b"signature":"%b",%b' % (before, key.mac(before + after).hex().encode(), after)
        return _signed_record(
            (
                header,
                inputs_column,
                outputs_column,
                sha256(b"\0" + header).digest(),
                "rcpt_%012x%s" % (seq, suffix),  # noqa: UP031 - faster than a width in an f-string
                template.draft.session.session_id,
                header[:-1] + tail,
                (),
                (template.fields, stamped[0]),
            )
        )

    def _template(
        self,
        kind: str,
        session: Session,
        card: Card,
        policy_digest: str,
        links: dict[str, str],
        snapshot: str | None = None,
    ) -> HeaderTemplate | None:
        """Return a template on the second use; for a session or snapshot with one call, it costs more than it saves."""
        key = id(session), id(card), kind, snapshot
        if key not in self._templates or session.extra:
            if len(self._templates) >= MAX_TEMPLATES:
                self._templates.clear()
            self._templates[key] = None
            return None
        is_outcome = kind != STARTED
        draft = Draft(
            kind="outcome" if is_outcome else "started",
            session=session,
            tool_id=card.name,
            tool_version=card.version,
            outcome=_ACCEPTED if is_outcome else None,
            policy_digest=policy_digest,
            links=links,
            inputs=b"",
            outputs=b"" if is_outcome else None,
            context=None if snapshot is None else {"snapshot": snapshot},
        )
        template = self._templates[key] = make_template(self._signer, kind, card, draft, self._draw().hex())
        return template


def make_template(signer: RecordSigner, kind: str, card: Card, draft: Draft, nonce: str) -> HeaderTemplate:
    """Make a template from the header that `RecordSigner` builds for a call with an empty payload."""
    header, _ = signer.prepare(draft)
    key = signer.keys.active()
    header |= {"key_id": key.key_id, "signature_alg": ALGORITHM}
    varying = {name for name, _ in _PLACEHOLDERS[kind]}
    fields = {name: value for name, value in header.items() if name not in varying}
    # The nonce was drawn just now, so no text from a caller can contain a placeholder.
    header |= {name: nonce + name for name, _ in _PLACEHOLDERS[kind]}
    text = canonical_plain(header).decode().replace("%", "%%")
    for name, placeholder in _PLACEHOLDERS[kind]:
        text = text.replace(f'"{nonce}{name}"', placeholder)
    cut = text.rindex(_MARK)
    return HeaderTemplate(
        draft=draft, card=card, key=key, kind=kind, before=text[:cut], after=text[cut:], fields=fields
    )


def _named(kind: str, values: tuple[Any, ...]) -> dict[str, Any]:
    """Return the values of a template's placeholders before `prev` as header fields."""
    fields = dict(zip((name for name, _ in _PLACEHOLDERS[kind]), values, strict=False))
    return fields | ({"links": {"started": fields["links"]}} if "links" in fields else {})
