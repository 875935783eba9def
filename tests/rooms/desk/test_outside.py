"""`workers = "outside"`: tickets are left to leases, and the clock's work is done all the same."""

from pathlib import Path

import pytest

from tallystick.rooms.desk.flows.ticket import SWEEP
from tallystick.rooms.desk.trial import DeskRunner
from tests.durable.conftest import InProcessWorker
from tests.rooms.desk.desk_yard import ANSWERED, Yard


@pytest.mark.promise("desk.outside")
def test_messages_go_out_and_late_leases_come_back_though_no_ticket_is_worked_on(tmp_path: Path) -> None:
    yard = Yard(tmp_path, workers="outside")
    answered = yard.event(ANSWERED, "t0")
    while waiting := [one for one in yard.chain(answered) if one.status == "pending"]:
        assert list(DeskRunner(yard.gate).work([waiting[0].ticket_id], run="here"))
    assert [one.state for one in yard.messages()] == ["queued"]
    left = yard.event("Where is my parcel?", "t1")
    late = yard.event("And where is the other one?", "t2")
    with yard.service.store.transaction() as tx:
        ticket = tx.get(late)
        assert ticket is not None
        tx.lease(ticket, owner="w", token_hash="h", lasts_ms=-1)
    with InProcessWorker(yard.gate.durable):
        yard.gate.durable.start(SWEEP, {}, run_id="sweep-1")
        ended = yard.gate.durable.wait("sweep-1", timeout_s=60)
    assert ended is not None
    assert ended.result["woken"] == 0
    # This sweep, or one by the clock before it, has done both.
    assert (yard.ticket(late).status, yard.ticket(late).attempts) == ("pending", 1)
    assert [one.state for one in yard.messages()] == ["sent"]
    assert (yard.ticket(left).status, yard.service.woken) == ("pending", None)
    yard.close()
