"""A workspace with a ledger, for the tests of the ledger."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from tallystick.gate.record.checkpoint import NoteVerifier
from tallystick.gate.record.clock import Clock
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.report import AuditReport
from tallystick.gate.record.tree import leaf_hash
from tallystick.gate.session import Caller, Session
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.settings import Settings, parse_settings
from tallystick.storage.ledger import audit_folder, open_ledger, verify_workspace
from tests.postgres import new_postgres

ON_POSTGRES = os.environ.get("TALLY_TEST_JOURNAL") == "postgres"
"""Whether every journal of the tests is in PostgreSQL."""
POLICY = b'[policy]\nread = "allow"\n'
POLICY_DIGEST = sha256(POLICY).hexdigest()
TOOL = b'{"name":"word_count"}'
TOOL_VERSION = sha256(TOOL).hexdigest()
"""What the drafts name, stored beside the log as the gate does."""
AUDITOR = Session(session_id="audit", caller=Caller(subject="ada", roles=frozenset({"auditor"}), channel="cli"))


@cache
def shared_database(root: Path) -> str | None:
    """The database of the workspace in a folder, if the journal is to be in PostgreSQL."""
    return new_postgres() if ON_POSTGRES else None


def psycopg_url(database: str) -> str:
    """The URL of a database as psycopg takes it."""
    return database.replace("+psycopg", "", 1)


class Workspace:
    """A folder with a ledger, and a state folder of its own."""

    def __init__(self, root: Path, **ledger: Any) -> None:
        self.root = root / "work"
        self.state = root / "state"
        self.ledger = {"durability": "os", **ledger}
        self.database: str | None = self.ledger.pop("database", None) or shared_database(root)

    @property
    def audit(self) -> Path:
        return audit_folder(self.root)

    @property
    def journal(self) -> Path:
        if self.database is not None:
            pytest.skip("left out: the files of a journal that is in PostgreSQL")
        return self.audit / "journal"

    def view(self, session: str) -> Path:
        return self.journal.parent / "sessions" / session / "tool_receipts.jsonl"

    @property
    def log(self) -> Path:
        return self.journal / "000000.log"

    @property
    def mirror(self) -> Path:
        return next((self.state / "heads").glob("*.head"))

    @property
    def settings(self) -> Settings:
        storage = {"state_dir": str(self.state)}
        if self.database is not None:
            storage |= {"journal": "postgres", "database_url": self.database}
        return parse_settings({"ledger": self.ledger, "storage": storage})

    def open(self, *, clock: Clock | None = None, random: Callable[[int], bytes] | None = None) -> Ledger:
        more = {} if random is None else {"random": random}
        ledger = open_ledger(self.root, self.settings, http=PinnedHttpClient(), clock=clock, **more)
        ledger.keep("policies", f"{POLICY_DIGEST}.toml", POLICY)
        ledger.keep("tools", f"{TOOL_VERSION}.json", TOOL)
        return ledger

    @contextmanager
    def opened(self, **more: Any) -> Iterator[Ledger]:
        ledger = self.open(**more)
        try:
            yield ledger
        finally:
            ledger.close()

    def verify(self, outside: Sequence[bytes] = (), verifier: NoteVerifier | None = None) -> AuditReport:
        return verify_workspace(self.root, self.settings, outside=outside, verifier=verifier)

    def codes(self, outside: Sequence[bytes] = ()) -> list[str]:
        """The codes of what an audit finds wrong."""
        return [problem.code for problem in self.verify(outside).problems]

    def stored(self) -> bytes:
        """The first segment, without the room that an open journal keeps behind it."""
        return self.log.read_bytes().rstrip(b"\0")

    def lines(self) -> list[bytes]:
        if self.database is None:
            return self.stored().splitlines(keepends=True)
        with psycopg.connect(psycopg_url(self.database)) as connection:
            rows = connection.execute("SELECT header, inputs, outputs FROM tally_records ORDER BY seq", binary=True)
            return [b"%b\t%b\t%b\n" % row for row in rows]

    def write_lines(self, lines: Sequence[bytes]) -> None:
        """Put other records in place of those that are stored, as who has the disk or the database could."""
        if self.database is None:
            self.log.write_bytes(b"".join(lines))
            return
        rows = [line.rstrip(b"\n").split(b"\t") for line in lines]
        if any(len(row) != 3 for row in rows):
            pytest.skip("left out: what is no record cannot be stored in PostgreSQL")
        with psycopg.connect(psycopg_url(self.database)) as connection:
            connection.execute("TRUNCATE tally_records")
            connection.cursor().executemany(
                "INSERT INTO tally_records VALUES (%s, 's1', %s, %s, %s, %s)",
                [(seq, leaf_hash(row[0]), *row) for seq, row in enumerate(rows)],
            )

    def copy(self, to: Path) -> "Workspace":
        """The same workspace elsewhere; a copy has a path, and so a mirror, of its own."""
        other = Workspace(to, **self.ledger)
        shutil.copytree(self.root, other.root)
        if (self.state / "heads").exists():
            other.ledger["mirror"] = str(to / "mirror.head")
            shutil.copy(self.mirror, to / "mirror.head")
            shutil.copy(self.mirror.with_suffix(".checkpoint"), to / "mirror.checkpoint")
        return other


def draft(number: int = 0, *, session: str | Session = "s1", kind: str = "outcome", **more: Any) -> Draft:
    """A draft like those the gate makes."""
    fields: dict[str, Any] = {
        "tool_id": "word_count",
        "tool_version": TOOL_VERSION,
        "outcome": {"status": "accepted"},
        "context": {"steps": number % 6, "bytes": 20, "rate": 1},
        "policy_digest": POLICY_DIGEST,
        "duration_us": 120 + number % 7,
        "inputs": orjson.dumps({"path": "Story/one.md", "n": number}),
        "outputs": orjson.dumps({"words": number, "text": "hello world"}),
    }
    where = Session(session_id=session, agent_id="chief", turn_id="turn_1") if isinstance(session, str) else session
    return Draft(kind=kind, **{"session": where, **fields, **more})


def fill(ledger: Ledger, number: int, *, session: str = "s1", start: int = 0) -> list[str]:
    """Record some drafts; their receipt ids."""
    return [ledger.record_sync(draft(start + at, session=session)).receipt_id for at in range(number)]
