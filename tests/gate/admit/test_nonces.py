import os
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.admit.nonces import EXPIRED, USED, WRONG, NonceSlot
from tallystick.gate.codes import NONCE


def slot(
    *,
    session_id: str = "s",
    turn_id: str = "t",
    agent_id: str | None = "a",
    random: Callable[[int], bytes] = os.urandom,
    clock: Callable[[], float] = lambda: 0.0,
    expires_at: float = 60.0,
) -> NonceSlot:
    return NonceSlot(
        session_id=session_id, turn_id=turn_id, agent_id=agent_id, random=random, clock=clock, expires_at=expires_at
    )


@pytest.mark.promise("admit.nonce-single-use")
def test_a_nonce_is_taken_once() -> None:
    held = slot()
    nonce = held.issue()
    assert held.current == nonce
    assert held.take(nonce) is None
    assert held.current is None
    assert held.take(nonce) == USED
    assert held.issue() != nonce


@pytest.mark.promise("admit.nonce-single-use")
@pytest.mark.parametrize("given", ["", "x", None, 7, b"x", "\ud800", "é", ["n"], "0" * 32])
def test_a_wrong_nonce_burns_the_right_one(given: Any) -> None:
    held = slot()
    nonce = held.issue()
    assert held.take(given) == WRONG
    assert held.current is None
    assert held.take(nonce) == USED


@pytest.mark.promise("admit.nonce-single-use")
def test_the_nonce_of_an_earlier_step_is_used_and_burns_the_current_one() -> None:
    held = slot()
    first = held.issue()
    assert held.take(first) is None
    second = held.issue()
    assert held.take(first) == USED
    assert held.take(second) == USED


@pytest.mark.promise("admit.nonce-single-use")
def test_a_new_nonce_burns_the_one_that_was_open() -> None:
    held = slot()
    first = held.issue()
    second = held.issue()
    assert held.take(first) == USED
    assert held.current is None
    assert second != first


@pytest.mark.promise("admit.nonce-single-use")
def test_burning_empties_the_slot() -> None:
    held = slot()
    nonce = held.issue()
    held.burn()
    held.burn()
    assert held.current is None
    assert held.take(nonce) == USED


@pytest.mark.promise("admit.nonce-bound")
def test_an_empty_slot_takes_nothing() -> None:
    assert slot().take("") == WRONG
    assert slot().take("anything") == WRONG


@pytest.mark.promise("admit.nonce-bound")
@given(
    st.tuples(st.text(), st.text(), st.text()),
    st.tuples(st.text(), st.text(), st.text()),
    st.binary(min_size=16, max_size=16),
)
def test_a_nonce_of_another_session_turn_or_agent_is_wrong(
    mine: tuple[str, str, str], theirs: tuple[str, str, str], repeated: bytes
) -> None:
    # Even if the source of randomness gives the same bytes twice.
    held, other = (
        slot(session_id=session, turn_id=turn, agent_id=agent, random=lambda _: repeated)
        for session, turn, agent in (mine, theirs)
    )
    assert (held.issue() == other.issue()) is (mine == theirs)
    if mine != theirs:
        assert held.take(other.current) == WRONG


@pytest.mark.promise("admit.nonce-size")
def test_a_nonce_has_at_least_128_bits_of_the_randomness_given() -> None:
    asked: list[int] = []

    def random(count: int) -> bytes:
        asked.append(count)
        return os.urandom(count)

    held = slot(random=random)
    seen = {held.issue() for _ in range(1000)}
    assert len(seen) == 1000
    assert min(asked) * 8 >= 128
    assert all(re.fullmatch(r"[0-9a-f]{32}", nonce) for nonce in seen)


@pytest.mark.promise("admit.nonce-expiry")
def test_a_nonce_expires_with_its_turn_on_the_clock_given() -> None:
    now = 0.0
    held = slot(clock=lambda: now, expires_at=60.0)
    nonce = held.issue()
    now = 59.9
    assert held.take(nonce) is None
    nonce = held.issue()
    now = 60.0
    assert held.take(nonce) == EXPIRED
    assert held.take(nonce) == USED
    assert EXPIRED.fault is USED.fault is WRONG.fault is NONCE


@pytest.mark.promise("admit.nonce-race")
def test_of_a_hundred_tries_at_once_exactly_one_wins() -> None:
    for _ in range(5):
        held = slot()
        nonce = held.issue()
        start = threading.Barrier(100)
        wins: list[bool] = []

        def attempt(
            held: NonceSlot = held, nonce: str = nonce, start: threading.Barrier = start, wins: list[bool] = wins
        ) -> None:
            start.wait()
            wins.append(held.take(nonce) is None)

        threads = [threading.Thread(target=attempt) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(wins) == 100
        assert sum(wins) == 1
