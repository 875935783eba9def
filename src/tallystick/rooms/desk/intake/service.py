"""Intake of events and tickets; each is stored once, however often it is delivered.

An event is the customer's words and becomes a TRIAGE ticket. A ticket is stored as it was given, with whatever outputs
it brings: they are somebody's claim, and nothing follows from them before the server's own verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from tallystick.gate.session import LOCAL_OWNER, Caller
from tallystick.records import record
from tallystick.rooms.desk.intake.warnings import warnings_of
from tallystick.rooms.desk.model import FLOWS, STATUSES, TICKET_ID, TYPE, Ticket, digest, is_ours, kind_of
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.ports import ServicePorts
from tallystick.rooms.desk.store import Store, Transaction

DAY_S = 86_400


@record
class RejectedEvent:
    """An event that was rejected."""

    status: str
    """skipped: there is nothing to do. rejected: it cannot be taken as it is."""
    reason: str
    message: str
    heard: bool = False
    """Whether the customer has written something all the same, so that an answer on its way may have come too late."""


HOUR_MS = 3_600_000
TICKET_FIELDS = frozenset({"metadata", "flow_id", "status"})
"""An object with one of these, or with an event inside, is a ticket, and no bare event."""
ENTERED = frozenset({"done", "failed", "blocked"})
"""What a ticket may be besides pending when it comes; the others are states of work that is under way here."""


@record
class IntakeResult:
    """The result of an intake."""

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
            "status": self.status,
            "ticket_id": self.ticket_id,
            "reason": self.reason,
            "message": self.message,
            "warnings": list(self.warnings) or None,
        }
        return {name: value for name, value in said.items() if value is not None}


class Intake:
    """Accepts events and tickets for one desk."""

    def __init__(self, store: Store, options: Options, around: ServicePorts) -> None:
        self._store = store
        self._options = options
        self._around = around

    def take(self, item: Any, *, caller: Caller = LOCAL_OWNER) -> IntakeResult:
        """Take one event or ticket."""
        return self.take_all([item], caller=caller)[0]

    def take_all(self, items: Iterable[Any], *, caller: Caller = LOCAL_OWNER) -> list[IntakeResult]:
        """Take several; each for itself, so one that cannot be taken keeps no other out.

        Args:
            items: Events and tickets.
            caller: Who posts them; outputs that a ticket already has rest on calls of this subject.
        """
        taken: list[IntakeResult] = []
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

    def _take(self, tx: Transaction, item: Any, caller: Caller) -> IntakeResult:
        if not isinstance(item, Mapping):
            return _turned(
                RejectedEvent(status="rejected", reason="not_an_object", message="Give an event or a ticket.")
            )
        inner = item.get("event")
        if TICKET_FIELDS.isdisjoint(item) and not isinstance(inner, Mapping):
            return self._event(tx, item)
        if isinstance(inner, Mapping) and item.keys() <= {"event"}:
            return self._event(tx, inner)
        return self._ticket(tx, item, caller)

    # -- events --------------------------------------------------------------------------------------------------------

    def _event(self, tx: Transaction, event: Mapping[str, Any]) -> IntakeResult:
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
            "id": ticket_id,
            "type": TYPE,
            "status": "pending",
            "flow_id": FLOWS["TRIAGE"],
            "event": dict(event),
            "metadata": {"kind": "TRIAGE", "created_at": self._around.now()},
        }
        tx.add(Ticket(body=body))
        mark_heard(tx, thread, ticket_id)
        return IntakeResult(status="queued", ticket_id=ticket_id)

    def _again(self, tx: Transaction, event: Mapping[str, Any], earlier: str) -> IntakeResult:
        found = tx.get(earlier)
        if found is not None and found.event.get("content") != event.get("content"):
            message = "This id was used for other words. Give every event an id of its own."
            return IntakeResult(status="rejected", reason="event_id_reused", message=message, ticket_id=earlier)
        return IntakeResult(status="skipped", reason="duplicate", ticket_id=earlier)

    # -- tickets -------------------------------------------------------------------------------------------------------

    def _ticket(self, tx: Transaction, given: Mapping[str, Any], caller: Caller) -> IntakeResult:
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
                return IntakeResult(status="skipped", reason="duplicate", ticket_id=ticket.ticket_id)
            message = "Another ticket has this id. Give it an id of its own, or none."
            return IntakeResult(status="rejected", reason="id_taken", message=message, ticket_id=ticket.ticket_id)
        tx.first_time(same, ticket.ticket_id)
        if ticket.kind == "TRIAGE":
            mark_heard(tx, ticket.thread_id, ticket.ticket_id)
        return IntakeResult(status="queued", ticket_id=ticket.ticket_id, warnings=warnings)

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
    """The ticket of the customer's last message; empty: it was rejected; None: unknown."""
    return tx.seen(digest("thread", thread_id))


def _check_ticket(given: Mapping[str, Any], options: Options) -> RejectedEvent | None:
    ticket_id = given.get("id")
    if "id" in given and (not isinstance(ticket_id, str) or TICKET_ID.fullmatch(ticket_id) is None):
        message = "An id is 1 to 120 letters, digits and ._:- and begins with a letter or digit."
        return RejectedEvent(status="rejected", reason="id_invalid", message=message)
    if isinstance(ticket_id, str) and is_ours(ticket_id):
        message = "Ids of this form are made by the desk alone. Leave the id out, or give another."
        return RejectedEvent(status="rejected", reason="id_reserved", message=message)
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


def _turned(turned: RejectedEvent) -> IntakeResult:
    return IntakeResult(status=turned.status, reason=turned.reason, message=turned.message)


def check_event(event: Mapping[str, Any], options: Options, now: str) -> RejectedEvent | None:
    """Why an event is not taken; None: it is.

    Args:
        event: As it was given.
        options: How long, how old.
        now: RFC 3339.
    """
    content = event.get("content")
    if not isinstance(content, str) or not content.strip():
        return RejectedEvent(
            status="rejected", reason="content_missing", message="Give the customer's words as 'content'."
        )
    too_long = check_length(content, options)
    if too_long is not None:
        return too_long
    if len(content.strip()) < options.min_chars:
        message = f"Shorter than {options.min_chars} characters; nothing to answer."
        return RejectedEvent(status="skipped", reason="too_short", message=message, heard=True)
    written = moment_of(event.get("timestamp"))
    if written is not None and (age_s(written, now) or 0) > options.max_age_days * DAY_S:
        message = f"Older than {options.max_age_days} days; not answered any more."
        return RejectedEvent(status="skipped", reason="too_old", message=message)
    return None


def check_length(content: Any, options: Options) -> RejectedEvent | None:
    """Whether words are too many; whole tickets are asked this alone."""
    if not isinstance(content, str) or len(content) <= options.max_chars:
        return None
    message = f"Longer than {options.max_chars} characters. Shorten it, or attach it elsewhere and name the place."
    return RejectedEvent(status="rejected", reason="content_too_long", message=message, heard=True)


def moment_of(value: Any) -> datetime | None:
    """Parse a time of the contract; None if it is not a time. Without a zone it is UTC."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def age_s(written: datetime, now: str) -> float | None:
    """The age in seconds; None if the time is unknown."""
    present = moment_of(now)
    return None if present is None else (present - written).total_seconds()
