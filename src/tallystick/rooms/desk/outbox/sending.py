"""Sending what waits: asked once more whether it may go, marked as on its way, sent, marked as sent.

A worker may die at any point. Before the mark nothing has gone out. After it nobody knows, so the message is tried
again with the same key where the receiver then takes it once, and is left to a person where he would not.
"""

from collections.abc import Mapping
from dataclasses import replace

from tallystick.gate.session import LOCAL_OWNER
from tallystick.records import record
from tallystick.rooms.desk.nouns import Outgoing
from tallystick.rooms.desk.outbox.channels import Channel
from tallystick.rooms.desk.outbox.standing import obstacle
from tallystick.rooms.desk.ports import Note
from tallystick.rooms.desk.store import Store, Transaction
from tallystick.storage.journal.posting import Undelivered

STUCK_MS = 120_000
"""A message on its way for longer was left there by a worker that is gone: one try takes ten seconds at most."""
FIRST_PAUSE_MS = 2_000
LONGEST_PAUSE_MS = 900_000
AT_ONCE = 20
UNCLEAR = "end_unclear"
NO_CHANNEL = "channel_unknown"


@record
class Sent:
    """What one round of sending came to."""

    sent: int = 0
    withheld: int = 0
    again: int = 0
    failed: int = 0


class Sending:
    """The way out of one desk. Several workers may send at once; each message is one worker's."""

    def __init__(self, store: Store, channels: Mapping[str, Channel], note: Note, *, attempts: int) -> None:
        self._store = store
        self._channels = channels
        self._note = note
        self._attempts = attempts

    def send_due(self, *, limit: int = AT_ONCE) -> Sent:
        """Send what is due."""
        self._free_stuck()
        with self._store.reading() as tx:
            due, _ = tx.outbox(state="queued", due=True, limit=limit)
        outcomes = [self.send(message.key) for message in due]
        return Sent(
            sent=outcomes.count("sent"), withheld=outcomes.count("withheld"), again=outcomes.count("queued"),
            failed=outcomes.count("failed"),
        )  # fmt: skip

    def send(self, key: str) -> str | None:
        """Send one message that is queued; gives its state then, None: it was not queued any more."""
        with self._store.transaction() as tx:
            message = tx.outgoing(key)
            if message is None or message.state != "queued":
                return None
            begun = self._begin(tx, message)
        if begun.state != "sending":
            return begun.state
        try:
            self._channels[begun.channel].deliver(begun)
        except Undelivered as error:
            return self._later(begun, str(error))
        with self._store.transaction() as tx:
            # Another may have taken it for stuck meanwhile; then it is his, and the key lets it arrive once.
            if tx.change_outgoing(replace(begun, state="sent", note=""), was="sending"):
                tx.count("sent")
                self._noted(begun, "sent")
        return "sent"

    def _begin(self, tx: Transaction, message: Outgoing) -> Outgoing:
        why = obstacle(tx, message)
        if why is not None:
            changed = replace(message, state="withheld", note=why)
            tx.count(f"withheld.{why}")
        elif message.channel not in self._channels:
            changed = replace(message, state="failed", note=NO_CHANNEL)
        else:
            changed = replace(message, state="sending", attempts=message.attempts + 1)
        tx.change_outgoing(changed, was="queued")
        # What goes out is in the ledger before it goes: a crash may cost the message its mark, never its record.
        self._noted(changed, changed.state)
        return changed

    def _later(self, message: Outgoing, why: str) -> str:
        over = message.attempts >= self._attempts
        state = "failed" if over else "queued"
        pause = min(FIRST_PAUSE_MS << min(message.attempts - 1, 20), LONGEST_PAUSE_MS)
        with self._store.transaction() as tx:
            changed = replace(message, state=state, note=why)
            tx.change_outgoing(changed, was="sending", not_before=0 if over else tx.clock() + pause)
            if over:
                tx.count("unsent")
        return state

    def _free_stuck(self) -> None:
        with self._store.transaction() as tx:
            on_their_way, _ = tx.outbox(state="sending", limit=AT_ONCE)
            for message in on_their_way:
                if message.updated > tx.clock() - STUCK_MS:
                    continue
                channel = self._channels.get(message.channel)
                again = channel is not None and channel.repeatable
                state, note = ("queued", "") if again else ("failed", UNCLEAR)
                tx.change_outgoing(replace(message, state=state, note=note), was="sending")

    def _noted(self, message: Outgoing, state: str) -> None:
        said = {"key": message.key, "state": state, "attempt": message.attempts, "note": message.note}
        self._note(LOCAL_OWNER, "desk.send", message.ticket_id, said)
