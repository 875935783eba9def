"""Ticket rows inside a transaction: inserted once, changed only along the state table."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Row

from tallystick.rooms.desk.model import Judgement, Ticket, may_move
from tallystick.rooms.desk.store.tables import SEEN, TICKETS, TransactionRows, storable


class TicketConflict(Exception):  # noqa: N818 - not a fault: somebody else was quicker
    """The ticket changed since it was read, or the state table does not allow the move. Nothing was written."""


class TicketRows(TransactionRows):
    """Tickets."""

    def add(self, ticket: Ticket) -> bool:
        """Add a ticket; False: one of this id is there already, and stays as it is."""
        now = self.clock()
        row = {
            "id": ticket.ticket_id,
            "version": 0,
            "created": now,
            "updated": now,
            "lease_until": 0,
            **_columns(ticket),
        }
        insert = self.insert(TICKETS).values(**row).on_conflict_do_nothing().returning(TICKETS.c.id)
        return self.connection.execute(insert).first() is not None

    def first_time(self, digest: str, ticket_id: str, *, lasts_ms: int | None = None) -> str | None:
        """Note that something was seen; None: it is new (or longer ago than it lasts), else the ticket it became."""
        insert = self.insert(SEEN).values(digest=digest, ticket_id=ticket_id, at=self.clock())
        if self.connection.execute(insert.on_conflict_do_nothing().returning(SEEN.c.digest)).first() is not None:
            return None
        if lasts_ms is not None:
            old = sa.update(SEEN).where(SEEN.c.digest == digest, SEEN.c.at <= self.clock() - lasts_ms)
            if self.connection.execute(old.values(ticket_id=ticket_id, at=self.clock())).rowcount:
                return None
        return self.seen(digest)

    def seen(self, digest: str) -> str | None:
        """Which ticket was noted with this; None: nothing was."""
        found: str | None = self.connection.execute(sa.select(SEEN.c.ticket_id).where(SEEN.c.digest == digest)).scalar()
        return found

    def mark_latest(self, digest: str, ticket_id: str) -> None:
        """Note which is the latest of its kind, in the place of the one before."""
        values = {"ticket_id": ticket_id, "at": self.clock()}
        insert = self.insert(SEEN).values(digest=digest, **values)
        self.connection.execute(insert.on_conflict_do_update(index_elements=["digest"], set_=values))

    def get(self, ticket_id: str, *, lock: bool = True) -> Ticket | None:
        """A ticket, locked until the end of the transaction where the database can do that."""
        query = sa.select(TICKETS).where(TICKETS.c.id == storable(ticket_id))
        row = self.connection.execute(query.with_for_update() if lock and self.postgres else query).first()
        return None if row is None else ticket_of(row)

    def save(self, ticket: Ticket, *, was: Ticket) -> Ticket:
        """Write a ticket in the place of what was read.

        Raises:
            TicketConflict: It is another by now, or its state does not lead there.
        """
        if ticket.status != was.status and not may_move(was.status, ticket.status):
            raise TicketConflict
        c = TICKETS.c
        values = {**_columns(ticket), "version": was.version + 1, "updated": self.clock()}
        if ticket.status != "running":
            values |= {"lease_owner": None, "lease_hash": None, "lease_until": 0}
        changed = sa.update(TICKETS).where(c.id == was.ticket_id, c.version == was.version).values(**values)
        if self.connection.execute(changed).rowcount != 1:
            raise TicketConflict
        saved = self.get(ticket.ticket_id)
        if saved is None:
            raise TicketConflict
        return saved

    def lease(self, ticket: Ticket, *, owner: str, token_hash: str | None, lasts_ms: int | None) -> Ticket:
        """Give a ticket to a worker for a while, by the database's clock; None: until it ends it.

        Raises:
            TicketConflict: Another has it by now.
        """
        c = TICKETS.c
        body = {**ticket.body, "status": "running"}
        values = {
            "status": "running",
            "body": orjson.dumps(body),
            "lease_owner": owner,
            "lease_hash": token_hash,
            "lease_until": 0 if lasts_ms is None else self.clock() + lasts_ms,
            "version": ticket.version + 1,
            "updated": self.clock(),
            "beside": _beside(ticket),
        }
        changed = sa.update(TICKETS).where(c.id == ticket.ticket_id, c.version == ticket.version).values(**values)
        if self.connection.execute(changed).rowcount != 1:
            raise TicketConflict
        leased = self.get(ticket.ticket_id)
        if leased is None:
            raise TicketConflict
        return leased

    def lease_hash(self, ticket_id: str) -> str | None:
        """What the proof of the present lease must hash to."""
        found: str | None = self.connection.execute(
            sa.select(TICKETS.c.lease_hash).where(TICKETS.c.id == storable(ticket_id))
        ).scalar()
        return found

    def waiting(self, *, kind: str | None, limit: int, lock: bool = True) -> list[Ticket]:
        """Tickets that may begin now, oldest first; PostgreSQL skips rows that others have locked."""
        c = TICKETS.c
        query = sa.select(TICKETS).where(c.status == "pending", c.not_before <= self.clock(), c.kind.is_not(None))
        if kind is not None:
            query = query.where(c.kind == kind)
        query = query.order_by(c.created, c.id).limit(limit)
        if self.postgres and lock:
            query = query.with_for_update(skip_locked=True)
        return [ticket_of(row) for row in self.connection.execute(query)]

    def overdue(self, *, limit: int = 100) -> list[Ticket]:
        """Tickets whose lease has ended."""
        c = TICKETS.c
        late = sa.select(TICKETS).where(c.status == "running", c.lease_until > 0, c.lease_until <= self.clock())
        query = late.order_by(c.lease_until).limit(limit)
        if self.postgres:
            query = query.with_for_update(skip_locked=True)
        return [ticket_of(row) for row in self.connection.execute(query)]

    def children(self, parent_id: str) -> list[Ticket]:
        """Tickets that were derived from one."""
        query = sa.select(TICKETS).where(TICKETS.c.parent_id == storable(parent_id)).order_by(TICKETS.c.created)
        return [ticket_of(row) for row in self.connection.execute(query)]

    def newest_in_thread(self, thread_id: str, *, kind: str | None = None) -> Ticket | None:
        """What came last in a conversation."""
        c = TICKETS.c
        query = sa.select(TICKETS).where(c.thread_id == storable(thread_id))
        if kind is not None:
            query = query.where(c.kind == kind)
        row = self.connection.execute(query.order_by(c.created.desc(), c.id.desc()).limit(1)).first()
        return None if row is None else ticket_of(row)

    def list(
        self,
        *,
        status: Sequence[str] = (),
        kind: str | None = None,
        thread_id: str | None = None,
        limit: int = 50,
        offset: int = 0,
        last: bool = False,
    ) -> tuple[list[Ticket], int]:
        """Tickets, newest first, and how many there are in all; `last`: only those that no other was derived from."""
        c = TICKETS.c
        wanted: list[Any] = []
        if status:
            wanted.append(c.status.in_(status))
        if kind is not None:
            wanted.append(c.kind == kind)
        if thread_id is not None:
            wanted.append(c.thread_id == storable(thread_id))
        if last:
            child = TICKETS.alias("child")
            wanted.append(~sa.exists().where(child.c.parent_id == c.id))
        total = self.connection.execute(sa.select(sa.func.count()).select_from(TICKETS).where(*wanted)).scalar_one()
        query = sa.select(TICKETS).where(*wanted).order_by(c.created.desc(), c.id.desc()).limit(limit).offset(offset)
        return [ticket_of(row) for row in self.connection.execute(query)], int(total)

    def tally(self) -> dict[tuple[str, str], int]:
        """(kind, status) → how many."""
        c = TICKETS.c
        query = sa.select(c.kind, c.status, sa.func.count().label("many")).group_by(c.kind, c.status)
        return {(str(row.kind or ""), row.status): int(row.many) for row in self.connection.execute(query)}


def _columns(ticket: Ticket) -> dict[str, Any]:
    metadata: Mapping[str, Any] = ticket.metadata
    parent = metadata.get("parent_ticket_id") or metadata.get("triage_reference_id")
    return {
        "kind": ticket.kind,
        "status": ticket.status,
        "thread_id": storable(ticket.thread_id),
        "parent_id": storable(parent) if isinstance(parent, str) else None,
        "attempts": ticket.attempts,
        "not_before": ticket.not_before,
        "body": orjson.dumps(ticket.body),
        "beside": _beside(ticket),
    }


def _beside(ticket: Ticket) -> bytes:
    judged = None if ticket.judged is None else ticket.judged.as_dict()
    kept = {"warnings": ticket.warnings, "judged": judged, "holder": ticket.holder, "held_from": ticket.held_from}
    return orjson.dumps(kept)


def ticket_of(row: Row[Any]) -> Ticket:
    """A row of the table, read."""
    beside = orjson.loads(row.beside)
    judged = beside.get("judged")
    return Ticket(
        body=orjson.loads(row.body),
        version=row.version,
        attempts=row.attempts,
        not_before=row.not_before,
        lease_owner=row.lease_owner,
        lease_until=row.lease_until,
        warnings=tuple(beside.get("warnings", ())),
        holder=beside.get("holder"),
        held_from=beside.get("held_from", 0),
        judged=None if judged is None else Judgement.read(judged),
        created=row.created,
        updated=row.updated,
    )
