"""The approval store in SQL.

A grant is single-use because it is taken by one UPDATE that requires the expected state: of any number of concurrent
threads, processes and machines, the database lets one change the row. `live_digest` identifies call, session and agent
while a request is live and is NULL afterwards; its unique constraint allows one live request per exact call of one
agent in one session.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from tallystick.errors import TallyError
from tallystick.gate.decide.approvals import LIVE, Grant, Hold, State, Unmoved, sources
from tallystick.gate.decide.bindings import storable_text
from tallystick.gate.session import Caller, Session
from tallystick.storage.database import writing

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_PAGE = 1000

REQUESTS = sa.Table(
    "tally_approvals",
    sa.MetaData(),
    sa.Column("approval_id", sa.String(64), primary_key=True),
    sa.Column("live_digest", sa.String(64), unique=True),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("tool_version", sa.String(64), nullable=False),
    sa.Column("session", sa.LargeBinary, nullable=False),
    sa.Column("args", sa.LargeBinary, nullable=False),
    sa.Column("shown", sa.LargeBinary, nullable=False),
    sa.Column("dry_run", sa.Boolean, nullable=False),
    sa.Column("policy_digest", sa.String(64), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("pointer", sa.Text),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("expires", sa.BigInteger, nullable=False),
    sa.Column("person", sa.Text),
    sa.Column("channel", sa.Text),
    sa.Column("answered", sa.BigInteger),
    sa.Column("note", sa.Text),
    sa.Column("edited", sa.Boolean, nullable=False),
)
_C = REQUESTS.c
UNREADABLE = "approvals"
"""Session id for a request whose own session is unreadable; attempts to use it are recorded there."""
_OVER: dict[str, Any] = {"live_digest": None, "args": b""}
"""Values written when a request ends: they free the digest and delete the arguments, which are no longer needed."""


class SqlApprovalStore:
    """Implements `ApprovalStore` on SQLite and PostgreSQL. The database must have been migrated."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def hold(self, wanted: Hold) -> Hold:
        """Store a new request, or return the live one for the same call."""
        # One iteration is enough unless the conflicting request ends in between; then the next insert succeeds.
        while True:
            with self._writing() as connection:
                # Expire old requests first, so that their digests are free and they are not found as live.
                _expire(connection, wanted.created)
                if _insert(connection, wanted):
                    return wanted
                row = connection.execute(sa.select(REQUESTS).where(_C.live_digest == wanted.live_digest)).first()
            if row is not None:
                return _hold_from(row)

    def find(self, live_digest: str, now: int) -> Hold | None:
        """Return the live request for exactly this call of this agent in this session."""
        wanted = sa.select(REQUESTS).where(_C.live_digest == live_digest, _C.expires > now)
        with self._reading() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else _hold_from(row)

    def take(self, live_digest: str, now: int) -> Grant | None:
        """Consume the grant for exactly this call; None if there is none or it was already used."""
        statement = (
            sa.update(REQUESTS)
            .where(_C.live_digest == live_digest, _C.state.in_(sources(State.TAKEN)), _C.expires > now)
            .values(state=State.TAKEN, **_OVER)
            .returning(_C.approval_id, _C.person, _C.channel, _C.edited)
        )
        with self._writing() as connection:
            row = connection.execute(statement).first()
        if row is None:
            return None
        return Grant(approval_id=row.approval_id, person=row.person, channel=row.channel, edited=row.edited)

    def grant(self, approval_id: str, *, person: str, channel: str, now: int) -> Hold | Unmoved:
        """Approve a request."""
        return self._answer(approval_id, State.GRANTED, now, _who(person, channel, now))

    def refuse(self, approval_id: str, *, person: str, channel: str, now: int, reason: str) -> Hold | Unmoved:
        """Deny a request with a reason."""
        values = {**_who(person, channel, now), **_OVER, "note": storable_text(reason)}
        return self._answer(approval_id, State.REFUSED, now, values)

    def edit(self, edited: Hold, *, person: str, channel: str, now: int) -> Hold | Unmoved:
        """Approve a request with edited arguments: the grant is bound to these instead of the requested ones."""
        values = {
            **_who(person, channel, now),
            "digest": edited.digest,
            "live_digest": edited.live_digest,
            "args": edited.args,
            "shown": edited.shown,
            "edited": True,
        }
        try:
            return self._answer(edited.approval_id, State.EDITED, now, values)
        except IntegrityError:
            # Another live request already has the new digest.
            return Unmoved(why="same_call_waits", hold=self.get(edited.approval_id, now))

    def get(self, approval_id: str, now: int) -> Hold | None:
        """Return one request in its current state; None if there is no such request."""
        if _ID.fullmatch(approval_id) is None:
            return None
        with self._reading() as connection:
            row = connection.execute(sa.select(REQUESTS).where(_C.approval_id == approval_id)).first()
        return None if row is None else _as_of(_hold_from(row), now)

    def list(self, now: int, *, state: State | None = None, limit: int = 50, offset: int = 0) -> tuple[Hold, ...]:
        """Return requests, newest first; at most a thousand per page."""
        statement = sa.select(REQUESTS).order_by(_C.created.desc(), _C.approval_id.desc())
        if state is not None:
            statement = statement.where(_stands_at(state, now))
        with self._reading() as connection:
            rows = connection.execute(statement.limit(min(max(limit, 0), _MAX_PAGE)).offset(max(offset, 0))).all()
        return tuple(_as_of(_hold_from(row), now) for row in rows)

    def count(self, now: int, *, state: State | None = None) -> int:
        """Return the number of requests."""
        statement = sa.select(sa.func.count()).select_from(REQUESTS)
        if state is not None:
            statement = statement.where(_stands_at(state, now))
        with self._reading() as connection:
            return int(connection.execute(statement).scalar_one())

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with _outages_named(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with _outages_named(), writing(self._engine) as connection:
            yield connection

    def _answer(self, approval_id: str, target: State, now: int, values: dict[str, Any]) -> Hold | Unmoved:
        if _ID.fullmatch(approval_id) is None:
            return Unmoved(why="not_found")
        statement = (
            sa.update(REQUESTS)
            .where(_C.approval_id == approval_id, _C.state.in_(sources(target)), _C.expires > now)
            .values(state=target, **values)
            .returning(*_C)
        )
        with self._writing() as connection:
            _expire(connection, now)
            row = connection.execute(statement).first()
        if row is not None:
            return _hold_from(row)
        hold = self.get(approval_id, now)
        if hold is None:
            return Unmoved(why="not_found")
        return Unmoved(why="expired" if hold.state is State.EXPIRED else "not_waiting", hold=hold)


@contextmanager
def _outages_named() -> Iterator[None]:
    """Translate database errors to a fixed code, without the server's address."""
    try:
        yield
    except IntegrityError:
        raise
    except SQLAlchemyError as error:
        message = (
            f"The approvals cannot be reached now ({type(error).__name__}). Check that the database runs; then repeat."
        )
        raise TallyError(message, code="approvals_unavailable") from error


def _insert(connection: Connection, hold: Hold) -> bool:
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    values = {
        "approval_id": hold.approval_id,
        "live_digest": hold.live_digest,
        "digest": hold.digest,
        "state": hold.state,
        "tool": hold.tool,
        "tool_version": hold.tool_version,
        "session": _session_bytes(hold.session),
        "args": hold.args,
        "shown": hold.shown,
        "dry_run": hold.dry_run,
        "policy_digest": hold.policy_digest,
        "reason": storable_text(hold.reason),
        "pointer": None if hold.pointer is None else storable_text(hold.pointer),
        "created": hold.created,
        "expires": hold.expires,
        "edited": False,
    }
    statement = insert(REQUESTS).values(values).on_conflict_do_nothing(index_elements=[_C.live_digest])
    return connection.execute(statement.returning(_C.approval_id)).first() is not None


def _expire(connection: Connection, now: int) -> None:
    """Mark expired requests, freeing their digests and deleting their arguments."""
    stale = sa.update(REQUESTS).where(_C.state.in_(LIVE), _C.expires <= now)
    connection.execute(stale.values(state=State.EXPIRED, **_OVER))


def _stands_at(state: State, now: int) -> sa.ColumnElement[bool]:
    """Return the SQL condition for a state as of now, including expiry that is not yet stored."""
    if state in LIVE:
        return sa.and_(_C.state == state, _C.expires > now)
    if state is State.EXPIRED:
        return sa.or_(_C.state == state, sa.and_(_C.state.in_(LIVE), _C.expires <= now))
    return _C.state == state


def _as_of(hold: Hold, now: int) -> Hold:
    return hold if hold.at(now) is hold.state else replace(hold, state=State.EXPIRED, args=b"")


def _who(person: str, channel: str, now: int) -> dict[str, Any]:
    return {"person": storable_text(person), "channel": storable_text(channel), "answered": now}


def _hold_from(row: Any) -> Hold:
    """Convert a row to a request. Unreadable fields are left empty, so they do not match the signed record."""
    fields = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for a row as a mapping
    fields["state"] = State(fields["state"]) if fields["state"] in set(State) else State.EXPIRED
    fields["session"] = _session_from(fields["session"])
    fields["args"] = fields["args"] if _is_object(fields["args"]) else b""
    fields["shown"] = fields["shown"] if _is_object(fields["shown"]) else b"{}"
    return Hold(**fields)


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(orjson.loads(data), dict)
    except orjson.JSONDecodeError:
        return False


def _session_bytes(session: Session) -> bytes:
    return orjson.dumps(session, default=sorted)


def _session_from(data: bytes) -> Session:
    try:
        fields = orjson.loads(data)
        caller = fields.pop("caller")
        return Session(caller=Caller(**{**caller, "roles": frozenset(caller["roles"])}), **fields)
    except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
        return Session(session_id=UNREADABLE, caller=Caller())
