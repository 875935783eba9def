"""What the journal asks about records, answered with the workspace's keys.

The journal keeps bytes; the notary knows what they mean. It signs heads and checkpoints, says whether a header was
signed here, learns from other processes' records, and reports what the journal had to put right.
"""

from collections.abc import Mapping
from contextlib import suppress
from hmac import compare_digest
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.gate.record.checkpoint import Checkpoint, open_note, parse_checkpoint
from tallystick.gate.record.clock import Watch
from tallystick.gate.record.journal import Incident, Seal
from tallystick.gate.record.payload import flat_line
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.seal import Sealer
from tallystick.gate.record.signing import Keys
from tallystick.gate.session import Caller, Session

HOUSEKEEPING = Session(session_id="ledger", caller=Caller(subject="tallystick", channel="ledger"))
"""The session of records that the ledger makes about itself."""


class KeyNotary:
    """Answers from keys; satisfies `journal.Notary`."""

    def __init__(self, keys: Keys, watch: Watch, sealer: Sealer) -> None:
        self._keys = keys
        self._watch = watch
        self._sealer = sealer
        self._head_of = keys.active()
        self._head_mac = self._head_of.derive("head").mac

    def renew(self) -> None:
        """Read the keys again: another process may have rotated them. Those that cannot be read stay as they were."""
        with suppress(ConfigError):
            self._keys.refresh()

    def signed(self, header: bytes) -> bool:
        """Whether a key of this workspace signed this header."""
        key = self._keys.find(_text(header, "key_id"))
        return key is not None and key.signed(header)

    def witness(self, header: Mapping[str, Any]) -> None:
        """Take note of the time of another process's record, and of a rotated key."""
        self._watch.seen(str(header.get("timestamp", "")))
        if header.get("kind") == "key_rotation":
            self.settle_rotation(header)

    def settle_rotation(self, header: Mapping[str, Any]) -> None:
        """A rotation is in the log: see to it that its keys are in force, also if its process died before that."""
        pending = self._keys.pending_rotation()
        if pending is None:
            self._keys.refresh()
        elif header.get("context") == pending[0].as_dict():
            self._keys.finish_rotation()

    def recovery(self, incident: Incident) -> Seal:
        """The record that reports an incident."""
        context = {"incident": incident.what, **incident.details}
        return self._sealer.prepare(Draft(kind="recovery", session=HOUSEKEEPING, context=context))[1]

    def flat(self, header: bytes, inputs: bytes, outputs: bytes) -> tuple[str, bytes]:
        """Session id and view line of a stored record."""
        fields = orjson.loads(header)
        return fields["session_id"], flat_line(header, inputs, outputs, fields.get("excerpt_bytes"))

    def head_mac(self, data: bytes) -> tuple[bytes, bytes, bytes]:
        """Key id, head and MAC of a head."""
        key = self._keys.active()
        if key is not self._head_of:
            self._head_of, self._head_mac = key, key.derive("head").mac
        key_id = key.raw_id
        return key_id, data, self._head_mac(key_id + data)

    def head_holds(self, key_id: bytes, data: bytes, mac: bytes) -> bool:
        """Whether a head was written with a key of this workspace."""
        key = self._keys.find(key_id.hex())
        return key is not None and compare_digest(key.derive("head").mac(key_id + data), mac)

    def checkpoint(self, size: int, root: bytes) -> bytes:
        """The signed note for a tree of this size."""
        signer = self._keys.log_signer()
        return signer.sign(Checkpoint(origin=signer.verifier.name, size=size, root=root).text())

    def checkpoint_holds(self, note: bytes) -> tuple[int, bytes] | None:
        """Size and root of a note that this log signed."""
        opened = open_note(note, self._keys.log_verifiers())
        checkpoint = None if opened is None else parse_checkpoint(opened[0])
        if opened is None or checkpoint is None or checkpoint.origin != opened[1].name:
            return None
        return checkpoint.size, checkpoint.root


def _text(header: bytes, name: str) -> str:
    try:
        value = orjson.loads(header).get(name)
    except (orjson.JSONDecodeError, AttributeError):
        return ""
    return value if isinstance(value, str) else ""
