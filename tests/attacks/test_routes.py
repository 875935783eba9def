"""Every HTTP route with the longest texts it takes: the loop stays free, and the work grows with the text alone."""

from collections.abc import Iterator

import pytest

from tests.attacks.routes import KINDS, Route, cost, routes_of, slowness
from tests.doors.http.doorway import Doorway
from tests.sizes import FULL, size

LOOP_S = 0.05
MOST_GROWTH = 3.2
SEEN_S = 0.05
"""CPU seconds below which growth is noise."""
LARGEST = size(100_000, 1_000_000)
"""Bytes of a text: all that a body may have, at full size."""
SOME_KINDS = list(KINDS) if FULL else ["words and dashes", "digits"]
GROWN_KINDS = list(KINDS) if FULL else ["words and dashes", "links"]
TASTED = size(10_000, 100_000)
"""Bytes of the shorter of two texts that are compared."""


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doorway]:
    opened = Doorway(tmp_path_factory.mktemp("attacked") / "work")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def routes(door: Doorway) -> list[Route]:
    return routes_of(door)


def text_of(kind: str, length: int) -> str:
    return KINDS[kind] * (length // len(KINDS[kind].encode()))


def test_the_document_names_the_routes_that_are_attacked(routes: list[Route]) -> None:
    named = {f"{route.method} {route.path}" for route in routes}
    assert {"POST /api/ai/chat", "POST /api/ai/chief/route", "POST /api/memory/texts", "POST /api/issues"} <= named
    assert len(routes) > 100


@pytest.mark.promise("attacks.loop")
@pytest.mark.parametrize("kind", SOME_KINDS)
def test_no_route_blocks_the_loop_with_its_largest_text(door: Doorway, routes: list[Route], kind: str) -> None:
    allowed = LOOP_S * slowness()
    blocked = {}
    for route in routes:
        # Most answer at once; only one that seems slow is asked again.
        longest, _ = cost(door, route, text_of(kind, LARGEST), times=1)
        if longest > allowed:
            longest = min(longest, cost(door, route, text_of(kind, LARGEST), times=3)[0])
        if longest > allowed:
            blocked[str(route)] = f"{longest * 1000:.0f} ms"
    assert blocked == {}


@pytest.mark.promise("attacks.linear-routes")
@pytest.mark.parametrize("kind", GROWN_KINDS)
def test_twice_the_text_is_about_twice_the_work(door: Doorway, routes: list[Route], kind: str) -> None:
    grown = {}
    for route in routes:
        if route.body is None:
            continue
        _, whole = cost(door, route, text_of(kind, 2 * TASTED), times=1)
        if whole < SEEN_S:
            continue
        once, twice = (cost(door, route, text_of(kind, length))[1] for length in (TASTED, 2 * TASTED))
        if twice > SEEN_S and twice > MOST_GROWTH * once:
            grown[str(route)] = f"{once * 1000:.0f} ms, {twice * 1000:.0f} ms"
    assert grown == {}


@pytest.mark.promise("attacks.linear-routes")
@pytest.mark.parametrize("kind", KINDS)
def test_a_request_of_dashes_is_routed_at_once(door: Doorway, routes: list[Route], kind: str) -> None:
    """60 KB of `a-` froze the server for a minute: its target reader looked at the rest of the text from every dash."""
    route = next(each for each in routes if each.path == "/api/ai/chief/route" and each.at == ("message",))
    longest, whole = cost(door, route, text_of(kind, 60_000))
    assert longest < LOOP_S * slowness()
    assert whole < 2 * slowness()


@pytest.mark.promise("attacks.loop")
def test_a_long_question_is_cleaned_off_the_loop_and_leaves_one_clean_receipt(door: Doorway) -> None:
    before = len(door.outcomes())
    question = "ask ada@example.org about " + "7" * 200_000
    answer = door.post("/analysis/run", {"dataset_id": 1, "prompt_version": "v1", "question": question})
    refused = door.post("/analysis/run", {"dataset_id": "none", "prompt_version": "v1", "question": question})
    assert (answer.status_code, refused.status_code) == (404, 400)
    made = door.outcomes()[before:]
    assert [receipt.receipt_id for receipt in made] == [each.headers["x-tally-receipt"] for each in (answer, refused)]
    assert "ada@example.org" not in str([receipt.flat() for receipt in made])
