"""Promises and tests name each other: no promise without a test or benchmark, no test that names an unknown promise.

Read from the source, not from a run, so that a test left out on one machine still counts.
"""

import ast
import re
from collections import Counter

import pytest

from tests.named_promises import ROOT, named_promises, names_in
from tests.promises import PROMISES

ID = re.compile(r"[a-z]+(?:\.[a-z0-9][a-z0-9-]*){1,2}")


@pytest.mark.promise("house.promises")
def test_every_promise_is_shown_by_a_test_or_a_benchmark() -> None:
    shown = {promise for promise, _ in named_promises()}
    assert sorted(PROMISES.keys() - shown) == []


@pytest.mark.promise("house.promises")
def test_every_promise_that_is_named_is_promised() -> None:
    assert sorted({f"{place} names {promise}" for promise, place in named_promises() if promise not in PROMISES}) == []


@pytest.mark.promise("house.promises")
def test_ids_are_well_formed_and_stand_once_under_their_part() -> None:
    source = (ROOT / "tests" / "promises.py").read_text(encoding="utf-8")
    part, out_of_place, seen = (), [], Counter[str]()
    for line in source.splitlines():
        if marker := re.fullmatch(r"\s*# -- ([a-z]+)(?:: ([a-z]+))? --", line):
            part = marker.groups()
        elif entry := re.match(r'\s+"([^"]+)":', line):
            seen[entry[1]] += 1
            if not ID.fullmatch(entry[1]) or entry[1].partition(".")[0] not in part:
                out_of_place.append(f"{entry[1]} under {part}")
    assert out_of_place == []
    assert [promise for promise, times in seen.items() if times > 1] == []
    assert seen.keys() == PROMISES.keys()


@pytest.mark.parametrize(
    "code",
    [
        "@pytest.mark.promise('a.b')\ndef test_it(): ...",
        "pytestmark = [pytest.mark.promise('a.b')]",
        "from pytest import mark\n@mark.promise('x.y', 'a.b')\nclass TestIt: ...",
        "promise = pytest.mark.promise\n@promise('a.b')\ndef test_it(): ...",
        "@pytest.mark.parametrize('n', [pytest.param(1, marks=pytest.mark.promise('a.b'))])\ndef test_it(n): ...",
        "PROMISES = ('a.b',)",
        "PROMISES: tuple[str, ...] = ('a.b',)",
    ],
)
def test_every_way_to_name_a_promise_is_seen(code: str) -> None:
    assert "a.b" in {promise for promise, _ in names_in(ast.parse(code), "t.py")}


def test_an_id_that_cannot_be_read_is_reported_and_not_passed_over() -> None:
    named = list(names_in(ast.parse("@pytest.mark.promise(name)\ndef test_it(): ..."), "t.py"))
    assert named == [("name", "t.py:1")]
