"""What every adapter stands on: offers, strict arguments, refusals, sync and async."""

import asyncio

import pytest

from tallystick import Governed
from tests.frameworks.shop import GOOD, HELD, ODD, WRONG, Shop


@pytest.mark.promise("frameworks.offers")
def test_an_agent_is_offered_its_tools_under_names_it_may_say(shop: Shop) -> None:
    offers = {offer.name: offer for offer in Governed(shop.gate, session="s1").offers()}
    some = Governed(shop.gate, session="s1", only=["stock.count"]).offers()

    assert offers.keys() == {"stock__count", "order", "odd"}
    assert offers["stock__count"].schema["required"] == ["item"]
    assert [offer.name for offer in some] == ["stock__count"]


@pytest.mark.promise("frameworks.calls")
def test_sync_and_async_calls_leave_receipts_in_the_agents_session(shop: Shop) -> None:
    governed = Governed(shop.gate, session="s1", agent="buyer")

    async def both() -> list[str]:
        # Inside a running loop the sync way works too: on a thread of its own.
        return [(await governed.call(*GOOD)).text, governed.call_sync(*GOOD).text]

    assert asyncio.run(both()) == ["4", "4"]
    assert governed.call_sync(*ODD).outcome.result == ODD[1]
    Governed(shop.gate, session="s1").call_sync(*GOOD)
    assert [receipt["agent_id"] for receipt in shop.receipts()] == ["buyer"] * 3 + ["agent"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('{"item":"a","item":"b"}', "INVALID_PAYLOAD"),
        ('{"item":"a"} and more', "INVALID_PAYLOAD"),
        ("[]", "INVALID_PAYLOAD"),
        ('{"item":"\ud800"}', "INVALID_PAYLOAD"),
        ('{"item":7}', "INVALID_PAYLOAD"),
        ("", "INVALID_PAYLOAD"),
    ],
)
@pytest.mark.promise("frameworks.refusals")
def test_a_models_arguments_are_read_strictly_and_a_refusal_has_its_receipt(
    shop: Shop, arguments: str, code: str
) -> None:
    answer = Governed(shop.gate, session="s1").call_sync("stock__count", arguments)

    assert answer.refusal is not None
    assert answer.refusal.code == code
    assert answer.text.startswith(f"{code}: ")
    assert [receipt["receipt_id"] for receipt in shop.receipts()] == [answer.refusal.receipt_id]
    assert shop.ran == []


@pytest.mark.promise("frameworks.refusals")
def test_a_tool_outside_the_agents_own_is_refused_and_not_only_hidden(shop: Shop) -> None:
    answer = Governed(shop.gate, session="s1", only=["odd"]).call_sync(*GOOD)

    assert answer.refusal is not None
    assert (answer.refusal.code, shop.ran) == ("POLICY_VIOLATION", [])


@pytest.mark.promise("frameworks.held")
def test_a_held_call_names_the_command_and_runs_when_it_is_made_again(shop: Shop) -> None:
    governed = Governed(shop.gate, session="s1")
    first = governed.call_sync(*HELD)
    assert first.refusal is not None
    assert first.refusal.approval_id is not None
    assert f"tally approvals approve {first.refusal.approval_id} --workspace" in first.text
    assert shop.ran == []

    shop.gate.approvals.approve(first.refusal.approval_id, person="owner", channel="terminal")
    assert governed.call_sync(*HELD).text == '{"ordered":"lamp"}'
    assert governed.call_sync(*WRONG).refusal is not None
    assert shop.ran == ["lamp"]
