"""Key rotation: the rotation record is signed with the old key and stored before the new keys sign anything."""

from typing import Any

from tallystick.errors import LedgerUnwritable
from tallystick.gate.record.journal import Journal, Place, SignedRecord
from tallystick.gate.record.receipt import Draft, Receipt
from tallystick.gate.record.seal import Sealer
from tallystick.gate.record.signing import Keys, signed_header
from tallystick.gate.session import Session


def rotate(keys: Keys, journal: Journal, sealer: Sealer, session: Session) -> Receipt:
    """Activate new keys."""
    header: dict[str, Any] = {}

    def seal(place: Place) -> SignedRecord:
        """Seal under the journal's lock, so no other process rotates or takes this for an interrupted rotation."""
        rotation = keys.begin_rotation(place[0])
        made, seal = sealer.prepare(Draft(kind="key_rotation", session=session, context=rotation.as_dict()))
        sealed = seal(place)
        header.update(made)
        return sealed

    try:
        # Finish under the same lock, so that no other process signs with the old key in between.
        sealed = journal.append((seal,), after=keys.finish_rotation)[0]
    except OSError as error:
        raise LedgerUnwritable(f"The new keys cannot be stored ({error.strerror}). Free some space.") from error
    return Receipt.just_written(header, sealed.flat)


def settle_rotation(keys: Keys, journal: Journal) -> None:
    """Finish an interrupted rotation if its record is in the log, else abandon it."""
    if keys.pending_rotation() is not None:
        journal.append((), after=lambda: _settle(keys, journal))


def _settle(keys: Keys, journal: Journal) -> None:
    pending = keys.pending_rotation()
    if pending is None:
        return  # another process finished it before this one got the lock
    rotation, since = pending
    for columns in journal.read(since):
        header = signed_header(columns[0], keys) or {}
        if header.get("kind") == "key_rotation" and header.get("context") == rotation.as_dict():
            keys.finish_rotation()
            return
    keys.abandon_rotation()
