"""Taking events and tickets: each once, however often it comes.

An event is the customer's words and becomes a TRIAGE ticket. A ticket is stored as it was given, with whatever outputs
it brings: they are somebody's claim, and nothing follows from them before the server's own verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from tallystick.gate.session import LOCAL_OWNER, Caller
from tallystick.records import record
from tallystick.rooms.desk.intake.rules import Turned, check_event, check_length
from tallystick.rooms.desk.naming import TICKET_ID, digest, is_ours
from tallystick.rooms.desk.nouns import FLOWS, TYPE, Ticket, kind_of
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.ports import Surroundings
from tallystick.rooms.desk.shape import warnings_of
from tallystick.rooms.desk.states import STATUSES
from tallystick.rooms.desk.store import Store, Transaction

HOUR_MS = 3_600_000
TICKET_FIELDS = frozenset({"metadata", "flow_id", "status"})
"""An object with one of these, or with an event inside, is a ticket, and no bare event."""
ENTERED = frozenset({"done", "failed", "blocked"})
"""What a ticket may be besides pending when it comes; the others are states of work that is under way here."""


@record
class Received:
    """What became of something that came in."""

    status: str
    """queued, skipped, rejected."""
    ticket_id: str | None = None
    reason: str | None = None
    """A fixed code."""
    message: str | None = None
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        said = {
            "status": self.status, "ticket_id": self.ticket_id, "reason": self.reason, "message": self.message,
            "warnings": list(self.warnings) or None,
        }  # fmt: skip
        return {name: value for name, value in said.items() if value is not None}


class Intake:
    """The way into one desk."""

    def __init__(self, store: Store, options: Options, around: Surroundings) -> None:
        self._store = store
        self._options = options
        self._around = around

    def take(self, item: Any, *, caller: Caller = LOCAL_OWNER) -> Received:
        """Take one event or ticket."""
        return self.take_all([item], caller=caller)[0]

    def take_all(self, items: Iterable[Any], *, caller: Caller = LOCAL_OWNER) -> list[Received]:
        """Take several; each for itself, so one that cannot be taken keeps no other out.

        Args:
            items: Events and tickets.
            caller: Who brings them. Outputs that a ticket has already rest on his calls.
        """
        taken: list[Received] = []
        for together in self._grouped(list(items)):
            with self._store.transaction() as tx:
                taken += [self._take(tx, item, caller) for item in together]
        fresh = [one.ticket_id for one in taken if one.status == "queued" and one.ticket_id is not None]
        if fresh:
            self._around.wake(fresh)
        return taken

    def _grouped(self, items: Sequence[Any]) -> Iterable[Sequence[Any]]:
        """Where several write at once, two transactions with the same rows in another order would block each other."""
        return [items] if self._store.one_writer else [[item] for item in items]

    def _take(self, tx: Transaction, item: Any, caller: Caller) -> Received:
        if not isinstance(item, Mapping):
            return _turned(Turned(status="rejected", reason="not_an_object", message="Give an event or a ticket."))
        inner = item.get("event")
        if TICKET_FIELDS.isdisjoint(item) and not isinstance(inner, Mapping):
            return self._event(tx, item)
        if isinstance(inner, Mapping) and item.keys() <= {"event"}:
            return self._event(tx, inner)
        return self._ticket(tx, item, caller)

    # -- events --------------------------------------------------------------------------------------------------------

    def _event(self, tx: Transaction, event: Mapping[str, Any]) -> Received:
        thread = event.get("thread_id")
        turned = check_event(event, self._options, self._around.now())
        if turned is not None:
            if turned.heard:
                mark_heard(tx, thread, "")
            return _turned(turned)
        ticket_id = self._around.new_id("triage")
        named = _named(event)
        lasts = None if named or event.get("timestamp") else self._options.duplicate_hours * HOUR_MS
        earlier = tx.first_time(digest("event", *(named or _said(event))), ticket_id, lasts_ms=lasts)
        if earlier is not None:
            return self._again(tx, event, earlier)
        body = {
            "id": ticket_id, "type": TYPE, "status": "pending", "flow_id": FLOWS["TRIAGE"], "event": dict(event),
            "metadata": {"kind": "TRIAGE", "created_at": self._around.now()},
        }  # fmt: skip
        tx.add(Ticket(body=body))
        mark_heard(tx, thread, ticket_id)
        return Received(status="queued", ticket_id=ticket_id)

    def _again(self, tx: Transaction, event: Mapping[str, Any], earlier: str) -> Received:
        found = tx.get(earlier)
        if found is not None and found.event.get("content") != event.get("content"):
            message = "This id was used for other words. Give every event an id of its own."
            return Received(status="rejected", reason="event_id_reused", message=message, ticket_id=earlier)
        return Received(status="skipped", reason="duplicate", ticket_id=earlier)

    # -- tickets -------------------------------------------------------------------------------------------------------

    def _ticket(self, tx: Transaction, given: Mapping[str, Any], caller: Caller) -> Received:
        turned = _check_ticket(given, self._options)
        if turned is not None:
            return _turned(turned)
        body, said = self._settled(given)
        warnings = said + warnings_of(
            given, known_tools=self._around.known_tools(), validate=self._options.schema_validation
        )
        ticket = Ticket(body=body, warnings=warnings, holder=caller.subject)
        same = digest("ticket", ticket.ticket_id, canonical_text(given))
        if not tx.add(ticket):
            if tx.seen(same) is not None:
                return Received(status="skipped", reason="duplicate", ticket_id=ticket.ticket_id)
            message = "Another ticket has this id. Give it an id of its own, or none."
            return Received(status="rejected", reason="id_taken", message=message, ticket_id=ticket.ticket_id)
        tx.first_time(same, ticket.ticket_id)
        if ticket.kind == "TRIAGE":
            mark_heard(tx, ticket.thread_id, ticket.ticket_id)
        return Received(status="queued", ticket_id=ticket.ticket_id, warnings=warnings)

    def _settled(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The ticket as it is stored: as given, with an id and a status that can be meant."""
        body = dict(given)
        if "id" not in body:
            body = {"id": self._around.new_id((kind_of(given) or "triage").lower()), **body}
        status = body.get("status", "pending")
        if status == "pending" or status in ENTERED:
            return {**body, "status": status}, ()
        known = isinstance(status, str) and status in STATUSES
        reason = "work under way elsewhere is not under way here" if known else "there is no such status"
        return {**body, "status": "pending"}, (f"status_set: pending, since {reason}.",)


def mark_heard(tx: Transaction, thread_id: Any, ticket_id: str) -> None:
    """Note what a customer wrote last in a conversation; empty: something that became no ticket."""
    if isinstance(thread_id, str) and thread_id:
        tx.mark_latest(digest("thread", thread_id), ticket_id)


def last_heard(tx: Transaction, thread_id: str) -> str | None:
    """The ticket of what a customer wrote last; empty: it became none; None: nobody knows."""
    return tx.seen(digest("thread", thread_id))


def _check_ticket(given: Mapping[str, Any], options: Options) -> Turned | None:
    ticket_id = given.get("id")
    if "id" in given and (not isinstance(ticket_id, str) or TICKET_ID.fullmatch(ticket_id) is None):
        message = "An id is 1 to 120 letters, digits and ._:- and begins with a letter or digit."
        return Turned(status="rejected", reason="id_invalid", message=message)
    if isinstance(ticket_id, str) and is_ours(ticket_id):
        message = "Ids of this form are made by the desk alone. Leave the id out, or give another."
        return Turned(status="rejected", reason="id_reserved", message=message)
    event = given.get("event")
    return check_length(event.get("content"), options) if isinstance(event, Mapping) else None


def _named(event: Mapping[str, Any]) -> tuple[str, ...]:
    """What names an event, where it has an id; else nothing."""
    given = next((event[name] for name in ("event_id", "id", "message_id") if event.get(name)), None)
    if not isinstance(given, str | int):
        return ()
    return ("id", str(event.get("type", "")), str(event.get("thread_id", "")), str(given))


def _said(event: Mapping[str, Any]) -> tuple[str, ...]:
    """What makes an event without an id the same as another."""
    parts = (str(event.get(name, "")) for name in ("type", "thread_id", "actor", "timestamp", "content"))
    return ("said", *parts)


def canonical_text(value: Mapping[str, Any]) -> str:
    """A value as text that two equal values share."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _turned(turned: Turned) -> Received:
    return Received(status=turned.status, reason=turned.reason, message=turned.message)
