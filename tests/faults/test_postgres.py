"""PostgreSQL that fails at every single message: approvals, and the desk's tables.

At each message to the server, one after the other, either the message or the server's answer to it is lost, and the
server comes back at once or after three further tries. Whoever asks repeats what failed, as a person or a client would.
"""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tallystick import Gate, Tool, tool
from tallystick.errors import TallyError
from tallystick.rooms.desk.store import DATABASE_ERRORS
from tallystick.rooms.desk.trial import DeskRunner
from tallystick.settings import parse_settings
from tests.faults.proxy import Lost, Proxy
from tests.postgres import new_postgres
from tests.sizes import size
from tests.verifying import verify

T = TypeVar("T")
TRIES = 4
"""The last try finds the server back."""


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy(new_postgres()) as made:
        yield made


def opened(folder: Path, proxy: Proxy, *rooms: str) -> Gate:
    settings = parse_settings({"ledger": {"durability": "os"}, "storage": {"database_url": proxy.url}})
    return Gate.open(folder / "work", settings=settings, rooms=list(rooms))


def repeated(proxy: Proxy, act: Callable[[], T | None], codes: set[str]) -> T:
    """Do it until it gives something; every error on the way has its code."""
    for number in range(TRIES):
        if number == TRIES - 1:
            proxy.back()
        try:
            done = act()
        except TallyError as error:
            codes.add(error.code)
            continue
        if done is not None:
            return done
    raise AssertionError("the server is back and it still does not work")


def sends(ran: list[str]) -> Tool:
    @tool(effect="external")
    def send(to: str) -> str:
        """Send."""
        ran.append(to)
        return to

    return send


@pytest.mark.promise("decide.approval-once", "decide.approvals-away")
@pytest.mark.parametrize("away", [False, True], ids=["for a moment", "for a while"])
@pytest.mark.parametrize("lost", ["message", "answer"])
def test_an_approved_call_runs_at_most_once_and_never_unapproved_whatever_message_is_lost(
    tmp_path: Path, proxy: Proxy, lost: Lost, *, away: bool
) -> None:
    ran: list[str] = []
    codes: set[str] = set()
    nth, never = 1, 0
    with opened(tmp_path, proxy) as gate:
        gate.register(sends(ran))
        while True:
            to = f"{nth}@shop.example"
            proxy.cut(nth, lost, away=away)
            approval_id = repeated(proxy, lambda to=to: held(gate, to, codes), codes)
            assert to not in ran, "nobody has said yes"
            repeated(
                proxy, lambda name=approval_id: gate.approvals.approve(name, person="eve", channel="terminal"), codes
            )
            outcome = repeated(proxy, lambda name=approval_id: asyncio.run(gate.resume(name)), codes)
            hit = proxy.cuts
            proxy.back()
            # If the answer to taking the grant is lost, it is used up: the call has not run, and says so.
            used = outcome.rejection is not None and outcome.rejection.reason == "approval_used"
            assert outcome.status == "accepted" or used, outcome
            assert ran.count(to) == (0 if used else 1), nth
            assert len(gate.approvals.list(state="held")) == 0
            never += used
            if not hit:
                break
            nth += size(3, 1) if nth > 3 else 1
        assert nth > 20, "the proxy counts too little"
        assert never <= size(1, 2)
        runs = [
            one
            for one in gate.ledger.read()
            if one.header["kind"] == "outcome" and one.header["outcome"]["status"] == "accepted"
        ]
        assert [one.inputs["args"]["to"] for one in runs] == ran, "each run has its record, in order"
    assert codes <= {"approvals_unavailable"}
    assert verify(tmp_path / "work").ok


def held(gate: Gate, to: str, codes: set[str]) -> str | None:
    outcome = gate.call_sync("send", {"to": to}, session="s")
    if outcome.held is None:
        assert outcome.rejection is not None
        codes.add(outcome.rejection.reason)
        return None
    return outcome.held.approval_id


@pytest.mark.promise("desk.events")
@pytest.mark.parametrize("lost", ["message", "answer"])
def test_a_message_of_a_customer_becomes_one_ticket_whatever_message_to_the_database_is_lost(
    tmp_path: Path, proxy: Proxy, lost: Lost
) -> None:
    nth = 1
    with opened(tmp_path, proxy, "desk") as gate:
        intake = DeskRunner(gate).service.intake
        intake.take(event(0))
        while True:
            proxy.cut(nth, lost)
            received = repeated(proxy, lambda number=nth: taken(intake, event(number)), set())
            hit = proxy.cuts
            proxy.back()
            again = intake.take(event(nth))
            assert again.ticket_id == received.ticket_id
            if not hit:
                break
            nth += size(2, 1)
        assert nth > 5, "the proxy counts too little"
        with DeskRunner(gate).service.store.reading() as tx:
            tickets = [one.content for one in tx.waiting(kind=None, limit=500, lock=False)]
    assert len(tickets) == len(set(tickets)), "no message has two tickets"


def event(number: int) -> dict[str, Any]:
    return {
        "id": f"m-{number}",
        "type": "m",
        "thread_id": f"t-{number}",
        "content": f"Where is parcel {number}?",
        "actor": "customer",
    }


def taken(intake: Any, one: dict[str, Any]) -> Any:
    try:
        return intake.take(one)
    except DATABASE_ERRORS:
        return None
