"""How the tables are looked at: all that one question reads is of one stand, whoever writes meanwhile."""

from contextlib import AbstractContextManager, nullcontext

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tallystick.rooms.memory.cached import Overtaken
from tallystick.rooms.memory.store.tables import HEAD

Stand = tuple[int, bytes]
"""How far of the log the tables go, and what was noted with that. Another process may have built them again as far as
they went, under another policy: then they are not what was read here before, and only the note tells."""
_STAND = sa.select(HEAD.c.scanned, HEAD.c.body)


class Sight:
    """Reads at the stand that was last seen or written here. Not for several threads at once."""

    def __init__(self, engine: Engine) -> None:
        postgres = engine.dialect.name == "postgresql"
        # PostgreSQL would else show each statement what is committed by then. SQLite shows a transaction one stand.
        self._engine = engine.execution_options(isolation_level="REPEATABLE READ") if postgres else engine
        self.stand: Stand | None = None
        """None: the tables are empty."""
        self._depth = 0
        """How many stay, one within the other."""
        self._open: Connection | None = None

    def __enter__(self) -> None:
        """What is looked at inside is looked at once: one transaction for all that is read, compared when it begins."""
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        """Whoever was first to stay lets go of what was seen."""
        self._depth -= 1
        if not self._depth:
            self.look_away()

    def look_anew(self) -> Stand | None:
        """See how far the tables go now, and read at that stand from here on."""
        self.look_away()
        connection = self._engine.connect()
        with self._kept(connection):
            self.stand = _sees(connection)
        return self.stand

    def look(self) -> None:
        """Look at the tables now, where one stays: whoever writes from here on overtakes nobody.

        Raises:
            Overtaken: They stand elsewhere than was known.
        """
        with self.at_stand():
            pass

    def look_away(self) -> None:
        """Let go of what was seen; who reads next begins again."""
        if self._open is not None:
            opened, self._open = self._open, None
            opened.close()

    def at_stand(self) -> AbstractContextManager[Connection]:
        """A connection that sees the tables at the known stand, and at no other.

        Raises:
            Overtaken: They stand elsewhere.
        """
        if self._open is not None:
            return nullcontext(self._open)
        connection = self._engine.connect()
        known = False
        try:
            known = _sees(connection) == self.stand
        finally:
            if not known:
                connection.close()
        if not known:
            raise Overtaken
        return self._kept(connection)

    def _kept(self, connection: Connection) -> AbstractContextManager[Connection]:
        """For as long as this stays; else until it has been read from."""
        if not self._depth:
            return connection
        self._open = connection
        return nullcontext(connection)


def _sees(connection: Connection) -> Stand | None:
    row = connection.execute(_STAND).first()
    return None if row is None else (row.scanned, bytes(row.body))
