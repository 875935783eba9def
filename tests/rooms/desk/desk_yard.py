"""A workspace with documents, tickets on the durable port, and worker processes of their own that can be killed."""

import multiprocessing
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa

from tallystick.app.flows import register_flows
from tallystick.app.gate import Gate
from tallystick.rooms.desk.flows.ticket import join_tickets
from tallystick.rooms.desk.flows.worker import Worker
from tallystick.rooms.desk.model import Ticket
from tallystick.rooms.desk.room import Desk
from tallystick.rooms.desk.store.tables import OUTBOX, TICKETS
from tallystick.settings import Settings, parse_settings
from tallystick.storage.durable.flow_registry import Intervals
from tallystick.storage.durable.stored import run_worker

PRELOADED = (join_tickets, Worker)
"""Named so that the imports stand: a fresh process then need not load them again."""
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.rooms.desk.desk_yard"])
PATIENCE_S = 240.0
DOCUMENTS = {
    "hours.md": "# Opening hours\n\nOur shop in Leeds is open from 9 to 17 on working days.\n",
    "refunds.md": "# Refunds\n\nA refund for a returned item is paid within 14 days of its arrival.\n",
}
ANSWERED = "When is the shop in Leeds open?"
DEFERRED = "When is the refund for a returned item paid?"
UNKNOWN = "Which trombone suits a giraffe?"
SURE = 0.35
"""What these few sentences are found with, by their words alone."""
HASTY = Intervals(heartbeat_s=0.2, stale_after_s=1.5, poll_s=0.05, grace_s=5.0)
"""Workers that find each other dead within seconds, for tests that kill them."""


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a worker process is told."""

    workspace: Path
    state: Path
    worker_id: str
    database_url: str | None
    timing: Intervals


def settings(state: Path, database_url: str | None, **desk: Any) -> Settings:
    storage = {"state_dir": str(state), **({"database_url": database_url} if database_url else {})}
    rooms = {"desk": {"send": "auto", "kb_meaning": False, "verdict": {"threshold": SURE}, **desk}}
    return parse_settings({"ledger": {"durability": "os"}, "storage": storage, "rooms": rooms})


def work(orders: Orders) -> None:
    """Work until SIGTERM, or until killed."""
    log = os.open(orders.state / f"{orders.worker_id}.err", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 2)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with Gate.open(orders.workspace, settings=settings(orders.state, orders.database_url), rooms=["desk"]) as gate:
        register_flows(gate)
        run_worker(gate.durable, stop, worker_id=orders.worker_id, timing=orders.timing)


class Yard:
    """The desk of one workspace, from outside its workers."""

    def __init__(self, folder: Path, database_url: str | None = None, **desk: Any) -> None:
        self.state = folder / "state"
        self.state.mkdir()
        self.workspace = folder / "work"
        (self.workspace / "kb").mkdir(parents=True)
        for name, text in DOCUMENTS.items():
            (self.workspace / "kb" / name).write_text(text, encoding="utf-8")
        self.database_url = database_url
        self.gate = Gate.open(self.workspace, settings=settings(self.state, database_url, **desk), rooms=["desk"])
        register_flows(self.gate)
        room = self.gate.room("desk")
        assert isinstance(room, Desk)
        self.room, self.service = room, room.service
        self.workers: list[BaseProcess] = []

    # -- in and out ----------------------------------------------------------------------------------------------------

    def event(self, content: str, thread: str, **more: Any) -> str:
        received = self.service.intake.take({"type": "m", "thread_id": thread, "content": content, **more})
        assert received.ticket_id is not None, received
        return received.ticket_id

    def ticket(self, ticket_id: str) -> Ticket:
        with self.service.store.reading() as tx:
            found = tx.get(ticket_id, lock=False)
        assert found is not None
        return found

    def chain(self, ticket_id: str) -> list[Ticket]:
        """A ticket and those that followed from it, in order."""
        found = [self.ticket(ticket_id)]
        with self.service.store.reading() as tx:
            while children := tx.children(found[-1].ticket_id):
                (child,) = [one for one in children if one.metadata["parent_ticket_id"] == found[-1].ticket_id]
                found.append(child)
        return found

    def tally(self) -> dict[str, int]:
        """Status → tickets."""
        query = sa.select(TICKETS.c.status, sa.func.count()).group_by(TICKETS.c.status)
        with self.service.store.reading() as tx:
            return {str(status): int(many) for status, many in tx.connection.execute(query)}

    def messages(self, state: str | None = None) -> list[Any]:
        with self.service.store.reading() as tx:
            return tx.outbox(state=state, limit=100_000)[0]

    def files(self) -> list[dict[str, Any]]:
        """What went out."""
        folder = self.workspace / ".control-room" / "desk" / "outbox"
        return [orjson.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]

    def be_patient_no_longer(self) -> None:
        """Let back-offs, and the time after which a message counts as left lying, have passed."""
        with self.service.store.transaction() as tx:
            tx.connection.execute(sa.update(TICKETS).values(not_before=0))
            tx.connection.execute(sa.update(OUTBOX).where(OUTBOX.c.state == "sending").values(updated=1))
            tx.connection.execute(sa.update(OUTBOX).values(not_before=0))

    # -- workers -------------------------------------------------------------------------------------------------------

    def worker(self, timing: Intervals = HASTY) -> BaseProcess:
        orders = Orders(
            workspace=self.workspace,
            state=self.state,
            worker_id=f"w-{secrets.token_hex(4)}",
            database_url=self.database_url,
            timing=timing,
        )
        process = FORKS.Process(target=work, args=(orders,))
        process.start()
        self.workers.append(process)
        return process

    def kill(self, process: BaseProcess) -> None:
        process.kill()
        process.join()
        self.workers.remove(process)

    def until(self, found: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> None:
        end = time.monotonic() + patience_s
        while not found():
            assert time.monotonic() < end, f"never came: {what}; {self.tally()}"
            time.sleep(0.05)

    def close(self) -> None:
        for process in self.workers:
            process.kill()
            process.join()
        self.gate.close()
