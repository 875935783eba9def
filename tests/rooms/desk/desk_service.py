"""An office on an empty database, with a real ledger, a clock that is set, and a judge that says what it is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tallystick.app.gate import Gate
from tallystick.gate.record.receipt import Receipt
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.providers.net.mail import NetMailClient
from tallystick.rooms.desk.derivation import draft_of
from tallystick.rooms.desk.model import Judgement, Ticket
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.ports import CheckedReply
from tallystick.rooms.desk.service import DeskService, ServiceContext
from tallystick.rooms.desk.store import Store
from tallystick.rooms.desk.tickets.fill import FillResult
from tallystick.rooms.desk.tickets.proof import Proof
from tallystick.rooms.desk.triage.categories import MessageClassifier
from tallystick.settings import parse_settings

NOW = "2026-06-01T12:00:00.000Z"
APPROVED = {"decision": "APPROVE", "information_needs": [{"question": "How long?", "purpose": "to say it"}]}
PROCEED = {"tool_context": {"evidence": []}, "tool_verdict": {"status": "PROCEED", "reason": "found"}}
DRAFT = {"draft": "It takes three days."}
_numbers = count()


@dataclass
class ToldJudge:
    """Says what it is told; the desk's own judge is tried elsewhere."""

    status: str = "PROCEED"
    draft: str = "PROCEED"
    asked: list[str] = field(default_factory=list)

    def categories(self, content: str) -> tuple[str, ...]:
        return MessageClassifier().categories(content)

    def verdict(self, ticket: Ticket) -> Judgement:
        self.asked.append(ticket.ticket_id)
        return Judgement(status=self.status, rule_id=f"told.{self.status.lower()}", reason="told")  # type: ignore[arg-type]

    def reply(self, ticket: Ticket, tool: Ticket) -> CheckedReply:
        self.asked.append(ticket.ticket_id)
        judgement = Judgement(status=self.draft, rule_id=f"told.{self.draft.lower()}", reason="told")  # type: ignore[arg-type]
        return CheckedReply(judgement=judgement, text=draft_of(ticket.final_outputs))


@dataclass
class Desk:
    """The office and what it is joined with."""

    service: DeskService
    gate: Gate
    workspace: Path
    judge: ToldJudge
    woken: list[str]

    def notes(self, action: str | None = None) -> list[Receipt]:
        """What stands in the ledger of things tried."""
        found = [one for one in self.gate.ledger.read(0) if one.header["kind"] == "note"]
        return [one for one in found if action in {None, one.header["audit"]["action"]}]

    def ticket(self, ticket_id: str) -> Ticket:
        with self.service.store.reading() as tx:
            found = tx.get(ticket_id, lock=False)
        assert found is not None
        return found

    def event(self, content: str = "How long does it take?", **more: Any) -> str:
        """Take an event; gives the ticket's id."""
        received = self.service.intake.take(event(content, **more))
        assert received.status == "queued", received
        assert received.ticket_id is not None
        return received.ticket_id

    def hold(self, ticket_id: str, owner: str = "w1") -> Proof:
        """Lease a ticket; gives the proof."""
        leased = self.service.leases.lease_one(ticket_id, owner)
        return Proof(owner=owner, token=leased.token)  # type: ignore[union-attr]

    def fill(self, ticket_id: str, outputs: Any, owner: str = "w1") -> FillResult:
        """Lease and fill."""
        proof = self.hold(ticket_id, owner)
        filled = self.service.leases.fill(ticket_id, outputs, by=owner, proof=proof, caller=caller())
        assert isinstance(filled, FillResult), filled
        return filled

    def to_reply(self, **more: Any) -> tuple[str, str, str]:
        """Bring an event as far as its REPLY ticket; gives the three ids."""
        triage = self.event(**more)
        (tool,) = self.fill(triage, APPROVED).derived
        (reply,) = self.fill(tool, PROCEED).derived
        return triage, tool, reply

    def messages(self, state: str | None = None) -> list[Any]:
        with self.service.store.reading() as tx:
            return tx.outbox(state=state)[0]


def caller(subject: str = "worker") -> Any:
    from tallystick.gate.session import Caller  # noqa: PLC0415 - only here

    return Caller(subject=subject, channel="http")


def event(content: Any = "How long does it take?", **more: Any) -> dict[str, Any]:
    """An event; each has words of its own unless they are given."""
    return {"type": "thread_reply", "thread_id": f"th-{next(_numbers)}", "content": content, **more}


def open_desk(store: Store, folder: Path, *, known: Sequence[str] = ("kb.search",), **options: Any) -> Desk:
    """Open an office."""
    workspace = folder / "work"
    settings = parse_settings({"ledger": {"durability": "os"}, "storage": {"state_dir": str(folder / "state")}})
    gate = Gate.open(workspace, settings=settings, plugins=False)
    ids = count()
    service_context = ServiceContext(
        workspace=workspace,
        options=Options(**{"send": "auto", **options}),
        ledger=gate.ledger,
        http=PinnedHttpClient(),
        mail=NetMailClient,
        known_tools=lambda: frozenset(known),
        new_id=lambda kind: f"{kind}_{next(ids):024x}",
        now=lambda: NOW,
    )
    service = DeskService(store, service_context)
    judge, woken = ToldJudge(), []
    service.judge = judge
    service.woken = woken.extend
    return Desk(service=service, gate=gate, workspace=workspace, judge=judge, woken=woken)
