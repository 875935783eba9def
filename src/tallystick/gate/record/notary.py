"""Signs and verifies for the journal with the workspace's keys.

The journal stores bytes; the notary interprets them. It signs checkpoints, verifies headers, processes records of other
processes, and prepares records of the journal's own repairs.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.gate.record.checkpoint import Checkpoint, open_checkpoint
from tallystick.gate.record.clock import ClockMonitor
from tallystick.gate.record.journal import Incident, RecordFactory
from tallystick.gate.record.payload import flat_line
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.record_signer import RecordSigner
from tallystick.gate.record.signing import Keys
from tallystick.gate.session import Caller, Session

HOUSEKEEPING = Session(session_id="ledger", caller=Caller(subject="tallystick", channel="ledger"))
"""Session of the records that the ledger writes about itself."""


class KeyNotary:
    """Implements `journal.Notary` with the workspace's keys."""

    def __init__(self, keys: Keys, clock: ClockMonitor, signer: RecordSigner) -> None:
        self.keys = keys
        self._clock = clock
        self._signer = signer

    def renew(self) -> None:
        """Reload the keys: another process may have rotated them. If that fails, the old ones stay."""
        with suppress(ConfigError):
            self.keys.refresh()

    def signed(self, header: bytes) -> bool:
        """Return whether a key of this workspace signed this header."""
        key = self.keys.find(_text(header, "key_id"))
        return key is not None and key.signed(header)

    def witness(self, header: Mapping[str, Any]) -> None:
        """Note the time of a record that another process wrote; if it is a key rotation, activate the new keys."""
        self._clock.seen(str(header.get("timestamp", "")))
        if header.get("kind") == "key_rotation":
            self.settle_rotation(header)

    def settle_rotation(self, header: Mapping[str, Any]) -> None:
        """Activate the keys of a recorded rotation, even if the rotating process died before doing so."""
        pending = self.keys.pending_rotation()
        if pending is None:
            self.keys.refresh()
        elif header.get("context") == pending[0].as_dict():
            self.keys.finish_rotation()

    def recovery(self, incident: Incident) -> RecordFactory:
        """Build the record that reports an incident."""
        context = {"incident": incident.what, **incident.details}
        return self._signer.prepare(Draft(kind="recovery", session=HOUSEKEEPING, context=context))[1]

    def flat(self, header: bytes, inputs: bytes, outputs: bytes) -> tuple[str, bytes]:
        """Return the session id of a stored record and its line in the session's own file (view)."""
        fields = orjson.loads(header)
        return fields["session_id"], flat_line(header, inputs, outputs, fields.get("excerpt_bytes"))

    def checkpoint(self, size: int, root: bytes) -> bytes:
        """Return the signed note for a tree of this size."""
        signer = self.keys.log_signer()
        return signer.sign(Checkpoint(origin=signer.verifier.name, size=size, root=root).text())

    def checkpoint_holds(self, note: bytes) -> tuple[int, bytes] | None:
        """Return size and root of a note that this log signed; None if it did not sign it."""
        opened = open_checkpoint(note, self.keys.log_verifiers())
        return None if opened is None else (opened[0].size, opened[0].root)


def _text(header: bytes, name: str) -> str:
    try:
        value = orjson.loads(header).get(name)
    except (orjson.JSONDecodeError, AttributeError):
        return ""
    return value if isinstance(value, str) else ""
