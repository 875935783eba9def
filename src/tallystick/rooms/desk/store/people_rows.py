"""Rows of reviews, outgoing messages and counters, inside a transaction."""

from collections.abc import Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Row

from tallystick.rooms.desk.model import Outgoing, Review
from tallystick.rooms.desk.store.tables import COUNTS, OUTBOX, REVIEWS, TransactionRows, storable


class QueueRows(TransactionRows):
    """Reviews, the outbox, counts."""

    def put_review(self, review: Review) -> None:
        """Put a ticket before people, or change what is there."""
        said = {"rule_id": review.rule_id, "reason": review.reason, "draft": review.draft}
        body = orjson.dumps(said | ({} if review.owner is None else {"owner": review.owner}))
        values = {
            "state": review.state,
            # Who has it in hand, else whose it is.
            "person": review.person or review.owner,
            "taken_until": review.taken_until,
            "updated": self.clock(),
            "body": body,
        }
        insert = self.insert(REVIEWS).values(ticket_id=review.ticket_id, created=self.clock(), **values)
        self.connection.execute(insert.on_conflict_do_update(index_elements=["ticket_id"], set_=values))

    def review(self, ticket_id: str, *, lock: bool = True) -> Review | None:
        """What people are asked about a ticket, locked where the database can do that."""
        query = sa.select(REVIEWS).where(REVIEWS.c.ticket_id == ticket_id)
        row = self.connection.execute(query.with_for_update() if self.postgres and lock else query).first()
        return None if row is None else _review(row)

    def reviews(
        self, *, state: str | None = None, owner: str | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[list[Review], int]:
        """What waits for people, oldest first, and how many there are in all."""
        wanted = [] if state is None else [REVIEWS.c.state == state]
        if owner is not None:
            wanted.append(REVIEWS.c.person == owner)
        total = self.connection.execute(sa.select(sa.func.count()).select_from(REVIEWS).where(*wanted)).scalar_one()
        query = sa.select(REVIEWS).where(*wanted).order_by(REVIEWS.c.created, REVIEWS.c.ticket_id)
        rows = self.connection.execute(query.limit(limit).offset(offset))
        return [_review(row) for row in rows], int(total)

    def reviews_since(self, moment: int, *, limit: int) -> list[Review]:
        """What came before people since a moment, the latest first, decided or not."""
        query = sa.select(REVIEWS).where(REVIEWS.c.created >= moment).order_by(REVIEWS.c.created.desc())
        return [_review(row) for row in self.connection.execute(query.limit(limit))]

    def late_reviews(self, before: int) -> int:
        """How many reviews that came before a moment are still open."""
        c = REVIEWS.c
        late = sa.select(sa.func.count()).where(c.state.in_(("waiting", "taken")), c.created < before)
        return int(self.connection.execute(late).scalar_one())

    def waits(self) -> tuple[int, int]:
        """How long what waits for people has waited, in milliseconds: on average, and the oldest; 0: nothing waits."""
        c = REVIEWS.c
        query = sa.select(sa.func.count(), sa.func.sum(c.created), sa.func.min(c.created)).where(c.state == "waiting")
        many, added, first = self.connection.execute(query).one()
        return (self.clock() - int(added) // many, self.clock() - int(first)) if many else (0, 0)

    def put_outgoing(self, message: Outgoing) -> bool:
        """Put a message in the outbox; False: it is there already."""
        values = {
            "key": message.key,
            "ticket_id": message.ticket_id,
            "thread_id": storable(message.thread_id),
            "channel": message.channel,
            "state": message.state,
            "attempts": 0,
            "not_before": 0,
            "created": self.clock(),
            "updated": self.clock(),
            "body": _outgoing_body(message),
        }
        insert = self.insert(OUTBOX).values(**values).on_conflict_do_nothing().returning(OUTBOX.c.key)
        return self.connection.execute(insert).first() is not None

    def outgoing(self, key: str) -> Outgoing | None:
        """One message."""
        query = sa.select(OUTBOX).where(OUTBOX.c.key == key)
        row = self.connection.execute(query.with_for_update() if self.postgres else query).first()
        return None if row is None else _outgoing(row)

    def change_outgoing(self, message: Outgoing, *, was: str, not_before: int = 0) -> bool:
        """Write a message's state, if it is still what it was; False: it is another by now."""
        values = {
            "state": message.state,
            "attempts": message.attempts,
            "not_before": not_before,
            "updated": self.clock(),
            "ticket_id": message.ticket_id,
            "body": _outgoing_body(message),
        }
        changed = sa.update(OUTBOX).where(OUTBOX.c.key == message.key, OUTBOX.c.state == was).values(**values)
        return self.connection.execute(changed).rowcount == 1

    def outbox(
        self,
        *,
        state: str | None = None,
        ticket_id: str | None = None,
        thread_id: str | None = None,
        due: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[list[Outgoing], int]:
        """Messages, oldest first, and how many there are in all."""
        c = OUTBOX.c
        wanted: list[Any] = []
        if state is not None:
            wanted.append(c.state == state)
        if ticket_id is not None:
            wanted.append(c.ticket_id == ticket_id)
        if thread_id is not None:
            wanted.append(c.thread_id == storable(thread_id))
        if due:
            wanted.append(c.not_before <= self.clock())
        total = self.connection.execute(sa.select(sa.func.count()).select_from(OUTBOX).where(*wanted)).scalar_one()
        query = sa.select(OUTBOX).where(*wanted).order_by(c.created, c.key).limit(limit).offset(offset)
        return [_outgoing(row) for row in self.connection.execute(query)], int(total)

    def latest_outgoing(self, *, states: Sequence[str], limit: int) -> list[Outgoing]:
        """Messages in one of these states, the latest first."""
        c = OUTBOX.c
        query = sa.select(OUTBOX).where(c.state.in_(states)).order_by(c.created.desc(), c.key).limit(limit)
        return [_outgoing(row) for row in self.connection.execute(query)]

    def count(self, name: str, by: int = 1) -> None:
        """Count something, for ever."""
        insert = self.insert(COUNTS).values(name=name, value=by)
        added = insert.on_conflict_do_update(index_elements=["name"], set_={"value": COUNTS.c.value + by})
        self.connection.execute(added)

    def counts(self) -> dict[str, int]:
        """All that was counted."""
        return {row.name: int(row.value) for row in self.connection.execute(sa.select(COUNTS))}


def _review(row: Row[Any]) -> Review:
    body = orjson.loads(row.body)
    return Review(
        ticket_id=row.ticket_id,
        state=row.state,
        person=None if row.state == "waiting" else row.person,
        taken_until=row.taken_until,
        created=row.created,
        updated=row.updated,
        **body,
    )


def _outgoing(row: Row[Any]) -> Outgoing:
    body = orjson.loads(row.body)
    return Outgoing(
        key=row.key,
        ticket_id=row.ticket_id,
        thread_id=row.thread_id,
        channel=row.channel,
        state=row.state,
        attempts=row.attempts,
        created=row.created,
        updated=row.updated,
        **body,
    )


def _outgoing_body(message: Outgoing) -> bytes:
    return orjson.dumps({"payload": dict(message.payload), "note": message.note})
