"""Tickets whose workers are killed with SIGKILL at random: none is lost, none answered twice or without PROCEED."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import new_postgres
from tests.rooms.desk.desk_yard import ANSWERED, DEFERRED, UNKNOWN, Yard
from tests.sizes import size

QUESTIONS = (ANSWERED, DEFERRED, UNKNOWN)
KILLS = size(10, 100)


@pytest.fixture(params=["sqlite", "postgresql"])
def yard(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Yard]:
    url = None
    if request.param == "postgresql":
        url = new_postgres()
    made = Yard(tmp_path, url)
    yield made
    made.close()


@pytest.mark.promise("desk.killed")
def test_no_ticket_is_lost_and_nothing_goes_out_twice_or_without_proceed(yard: Yard) -> None:
    chance = random.Random(11)
    workers, events = (2, size(130, 4_500)) if yard.database_url is None else (4, size(30, 4_500))
    kills = KILLS if yard.database_url is None else size(4, 100)
    for _ in range(workers):
        yard.worker()
    asked = {yard.event(QUESTIONS[n % 3], f"t{n}"): QUESTIONS[n % 3] for n in range(events)}
    # Each question is two or three tickets; the kills are spread over all of them.
    expected = sum(3 if question == ANSWERED else 2 for question in asked.values())
    for number in range(kills):
        goal = expected * number // (kills + 2)
        yard.until(lambda goal=goal: _ended(yard) >= goal, f"{goal} tickets")
        yard.kill(chance.choice(yard.workers))
        yard.worker()
    yard.until(lambda: _ended(yard) == expected, "the end of all tickets")
    yard.be_patient_no_longer()
    answers = sum(question == ANSWERED for question in asked.values())
    yard.until(lambda: len(yard.messages("sent")) == answers, "every reply")
    _check(yard, asked)


def _ended(yard: Yard) -> int:
    tally = yard.tally()
    assert "failed" not in tally
    return sum(many for status, many in tally.items() if status in {"done", "review", "blocked"})


def _check(yard: Yard, asked: dict[str, str]) -> None:
    sent = yard.files()
    assert Counter(one["thread_id"] for one in sent).most_common(1)[0][1] == 1
    assert len(yard.messages()) == len(sent)
    replies = {one["ticket_id"] for one in sent}
    for ticket_id, question in asked.items():
        chain = yard.chain(ticket_id)
        if question != ANSWERED:
            assert [(one.kind, one.status) for one in chain] == [("TRIAGE", "done"), ("TOOL", "review")]
            continue
        assert [one.status for one in chain] == ["done", "done", "done"]
        assert [one.judged.status for one in chain if one.judged is not None] == ["PROCEED", "PROCEED"]
        replies.remove(chain[-1].ticket_id)
    assert replies == set()
    # The ledger says so too: each reply ended as sent no more than once.
    noted = (one.header["audit"] for one in yard.gate.ledger.read(0) if one.header["kind"] == "note")
    ends = Counter(one["resource"] for one in noted if one["metadata"].get("state") == "sent")
    assert max(ends.values()) == 1
