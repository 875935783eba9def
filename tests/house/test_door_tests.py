"""Every promise is shown at a door as well: a property of a part is no promise kept if no door uses the part.

What counts as a door is a matter of place (`tests.named_promises.DOORS`). `no_door_test.py` lists what is still owed.
"""

import pytest

from tests.house.no_door_test import INTERNAL, MOST, NOT_YET
from tests.named_promises import through_a_door
from tests.promises import PROMISES

OWED = [f"{part}.{rest}" for part, listed in NOT_YET.items() for rest in listed.split()]


@pytest.mark.promise("house.door-tests")
def test_every_promise_has_a_test_at_a_door() -> None:
    without = PROMISES.keys() - through_a_door() - set(OWED)
    assert sorted(promise for promise in without if not _is_internal(promise)) == [], (
        "show these through HTTP, the command line, MCP or the page"
    )


@pytest.mark.promise("house.door-tests")
def test_the_list_of_promises_without_one_only_shrinks() -> None:
    assert sorted(set(OWED) & through_a_door()) == [], "these have a test at a door now: take them off the list"
    assert sorted(set(OWED) - PROMISES.keys()) == [], "these are promised no more: take them off the list"
    assert [promise for promise in OWED if _is_internal(promise)] == []
    assert len(OWED) == len(set(OWED)) == MOST, "lower MOST to the new, smaller length"


@pytest.mark.promise("house.door-tests")
def test_what_needs_none_is_promised_and_says_why() -> None:
    for name, why in INTERNAL.items():
        assert any(promise.startswith(name) for promise in PROMISES), name
        assert len(why.split()) > 3, name


def _is_internal(promise: str) -> bool:
    return any(promise.startswith(name) if name.endswith(".") else promise == name for name in INTERNAL)
