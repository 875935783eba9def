"""A workspace with thousands of everything, made quickly: through the stores, without a disk's confirmation for each."""

from pathlib import Path

from tallystick import Gate
from tallystick.gate.record.receipt import Draft
from tallystick.gate.session import Session
from tallystick.rooms.desk.model import Ticket
from tallystick.rooms.desk.room import Desk

CONFIG = '[ledger]\ndurability = "os"\n'
STATES = ("review", "done", "done", "blocked", "failed")
"""Where tickets stand that no worker takes up."""
NOW = "2026-01-01T00:00:00Z"


def write_many(workspace: Path, *, receipts: int, tickets: int, propositions: int) -> None:
    """Fill a workspace."""
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "tallystick.toml").write_text(CONFIG)
    with Gate.open(workspace) as gate:
        for number in range(propositions):
            remember(gate, number)
        for number in range(max(0, receipts - gate.ledger.size())):
            gate.ledger.record_sync(Draft(kind="note", session=Session(session_id=f"s{number % 97}"), inputs=b"{}"))
        add_tickets(gate, tickets)


def remember(gate: Gate, number: int) -> None:
    """One observation, and the proposition that rests on it."""
    source = {"id": f"source-{number % 40}", "class": "document"}
    told = {"text": f"Person {number} lives in town {number % 300}.", "source": source, "observed_at": NOW}
    seen = gate.call_sync("record_observation", told, session="many").unwrap()["observation_id"]
    fact = {"subject": f"Person {number}", "predicate": "lives_in", "object": f"town {number % 300}"}
    gate.call_sync("propose_proposition", {**fact, "observation_ids": [seen]}, session="many").unwrap()


def add_tickets(gate: Gate, count: int, *, begin: int = 0) -> None:
    """Tickets as they stand when they have ended or wait for a person."""
    desk = gate.room("desk")
    assert isinstance(desk, Desk)
    with desk.store.transaction() as tx:
        for number in range(begin, begin + count):
            event = {"type": "message", "content": f"Customer {number} asks where the parcel is.", "actor": "many"}
            body = {
                "id": f"triage_{number:024x}", "type": "flow", "status": STATES[number % len(STATES)],
                "flow_id": "triage", "event": event, "metadata": {"kind": "TRIAGE"},
            }  # fmt: skip
            assert tx.add(Ticket(body=body))
