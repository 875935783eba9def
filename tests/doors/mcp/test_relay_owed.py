import json

import pytest

from tallystick.doors.mcp.relay.pending_requests import REMEMBERED, Owed, read


def request(ident, method="x"):
    return {"jsonrpc": "2.0", "id": ident, "method": method}


@pytest.mark.promise("relay.web")
@pytest.mark.parametrize(
    ("asked", "answered"),
    [(3, 3), (3, "3"), (3, 3.0), ("a", "a"), ("nan", "nan"), ("", ""), (None, None), (-1, "-0x1")],
)
def test_an_answer_is_known_by_its_id_as_the_client_may_read_it(asked, answered):
    owed = Owed()
    (question,) = owed.ask(request(asked))
    assert owed.answered_by({"id": answered, "method": "x"}) == []
    assert owed.answered_by({"id": answered, "result": {}}) == [question]
    assert owed.settle([question, question]) == [question]
    assert owed.answered_by({"id": answered, "result": {}}) == []
    assert owed.give_up([question]) == []


@pytest.mark.promise("relay.web")
def test_what_asks_nothing_owes_nothing():
    owed = Owed()
    for message in ({"method": "x"}, {"id": 1, "result": {}}, [], [1, {}], "text", None, 7):
        assert owed.ask(message) == []
        assert owed.answered_by({"id": 1, "result": {}}) == []


@pytest.mark.promise("relay.web")
def test_each_request_of_a_batch_is_owed_by_itself():
    owed = Owed()
    one, two = owed.ask([request(1), {"method": "x"}, request(2)])
    assert owed.answered_by([{"id": 2, "result": {}}, {"id": 9, "result": {}}]) == [two]
    assert owed.settle([two]) == [two]
    assert owed.give_up([one, two]) == [one]


@pytest.mark.promise("relay.web")
def test_of_two_requests_with_one_id_the_older_is_answered_first():
    owed = Owed()
    (older,), (newer,) = owed.ask(request(1)), owed.ask(request("1"))
    assert owed.settle(owed.answered_by({"id": 1, "result": {}})) == [older]
    assert owed.settle(owed.answered_by({"id": 1, "result": {}})) == [newer]


@pytest.mark.promise("relay.web", "relay.lies")
def test_an_answer_that_comes_after_its_asker_was_told_is_late_until_the_id_is_used_again():
    owed = Owed()
    late = {"id": 1, "result": {}}
    owed.give_up(owed.ask(request(1)))
    assert owed.is_late(late)
    assert owed.is_late([late])
    assert not owed.is_late([late, {"id": 2, "result": {}}])
    assert not owed.is_late({**late, "id": 2})
    assert not owed.is_late(request(1))
    assert not owed.is_late([])
    again = owed.ask(request(1))
    assert owed.answered_by(late) == again
    for number in range(2, REMEMBERED + 2):
        owed.give_up(owed.ask(request(number)))
    assert not owed.is_late(late)


@pytest.mark.promise("relay.web")
def test_what_only_some_parsers_read_is_read_all_the_same():
    line = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"text":"\\ud800"}}'
    assert read(line) == json.loads(line)
    assert read(b"<html>") is None
