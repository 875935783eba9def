"""The journal's notary: signs and verifies with the workspace's keys.

The journal stores bytes; the notary interprets them. It signs heads and checkpoints, verifies headers, processes
records of other processes, and builds records of the journal's own repairs.
"""

from collections.abc import Mapping
from contextlib import suppress
from hmac import compare_digest
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.gate.record.checkpoint import Checkpoint, open_note, parse_checkpoint
from tallystick.gate.record.clock import ClockMonitor
from tallystick.gate.record.journal import Incident, Seal
from tallystick.gate.record.payload import flat_line
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.seal import Sealer
from tallystick.gate.record.signing import Keys
from tallystick.gate.session import Caller, Session

HOUSEKEEPING = Session(session_id="ledger", caller=Caller(subject="tallystick", channel="ledger"))
"""Session of the records that the ledger writes about itself."""


class KeyNotary:
    """Implements `journal.Notary` with the workspace's keys."""

    def __init__(self, keys: Keys, watch: ClockMonitor, sealer: Sealer) -> None:
        self._keys = keys
        self._watch = watch
        self._sealer = sealer
        self._head_of = keys.active()
        self._head_mac = self._head_of.derive("head").mac

    def renew(self) -> None:
        """Reload the keys: another process may have rotated them. If that fails, the old ones stay."""
        with suppress(ConfigError):
            self._keys.refresh()

    def signed(self, header: bytes) -> bool:
        """Return whether a key of this workspace signed this header."""
        key = self._keys.find(_text(header, "key_id"))
        return key is not None and key.signed(header)

    def witness(self, header: Mapping[str, Any]) -> None:
        """Process another process's record: its timestamp, and a key rotation."""
        self._watch.seen(str(header.get("timestamp", "")))
        if header.get("kind") == "key_rotation":
            self.settle_rotation(header)

    def settle_rotation(self, header: Mapping[str, Any]) -> None:
        """Activate the keys of a recorded rotation, even if the rotating process died before doing so."""
        pending = self._keys.pending_rotation()
        if pending is None:
            self._keys.refresh()
        elif header.get("context") == pending[0].as_dict():
            self._keys.finish_rotation()

    def recovery(self, incident: Incident) -> Seal:
        """Build the record that reports an incident."""
        context = {"incident": incident.what, **incident.details}
        return self._sealer.prepare(Draft(kind="recovery", session=HOUSEKEEPING, context=context))[1]

    def flat(self, header: bytes, inputs: bytes, outputs: bytes) -> tuple[str, bytes]:
        """Return session id and view line of a stored record."""
        fields = orjson.loads(header)
        return fields["session_id"], flat_line(header, inputs, outputs, fields.get("excerpt_bytes"))

    def head_mac(self, data: bytes) -> tuple[bytes, bytes, bytes]:
        """Return key id, head and MAC of a head."""
        key = self._keys.active()
        if key is not self._head_of:
            self._head_of, self._head_mac = key, key.derive("head").mac
        key_id = key.raw_id
        return key_id, data, self._head_mac(key_id + data)

    def head_holds(self, key_id: bytes, data: bytes, mac: bytes) -> bool:
        """Return whether a head has a valid MAC of this workspace."""
        key = self._keys.find(key_id.hex())
        return key is not None and compare_digest(key.derive("head").mac(key_id + data), mac)

    def checkpoint(self, size: int, root: bytes) -> bytes:
        """Return the signed note for a tree of this size."""
        signer = self._keys.log_signer()
        return signer.sign(Checkpoint(origin=signer.verifier.name, size=size, root=root).text())

    def checkpoint_holds(self, note: bytes) -> tuple[int, bytes] | None:
        """Return size and root of a note that this log signed; None if it did not sign it."""
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
