"""Promises and tests name each other: no promise without a test or benchmark, no test that names an unknown promise.

Read from the source, not from a run, so that a test left out on one machine still counts.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.promises import PROMISES

ROOT = Path(__file__).parents[1]
ID = re.compile(r"[a-z]+(?:\.[a-z0-9][a-z0-9-]*){1,2}")


@pytest.mark.promise("house.promises")
def test_every_promise_is_shown_by_a_test_or_a_benchmark() -> None:
    shown = {promise for promise, _ in _named()}
    assert sorted(PROMISES.keys() - shown) == []


@pytest.mark.promise("house.promises")
def test_every_promise_that_is_named_is_promised() -> None:
    assert sorted({f"{place} names {promise}" for promise, place in _named() if promise not in PROMISES}) == []


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
    assert "a.b" in {promise for promise, _ in _names_in(ast.parse(code), "t.py")}


def test_an_id_that_cannot_be_read_is_reported_and_not_passed_over() -> None:
    named = list(_names_in(ast.parse("@pytest.mark.promise(name)\ndef test_it(): ..."), "t.py"))
    assert named == [("name", "t.py:1")]


def _named() -> Iterator[tuple[str, str]]:
    """(id, place) for every promise that a test module or a benchmark names."""
    for path in sorted([*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "benchmarks").rglob("*.py")]):
        yield from _names_in(ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix())


def _names_in(tree: ast.Module, place: str) -> Iterator[tuple[str, str]]:
    short = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_mark(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (
            _is_mark(node.func) or (isinstance(node.func, ast.Name) and node.func.id in short)
        ):
            yield from ((_literal(argument), f"{place}:{node.lineno}") for argument in node.args)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and _is_list_of_promises(node):
            items = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else [node.value]
            yield from ((_literal(item), f"{place}:{node.lineno}") for item in items)


def _is_list_of_promises(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == "PROMISES" for target in targets)


def _is_mark(node: ast.expr) -> bool:
    return ast.unparse(node) in {"pytest.mark.promise", "mark.promise"}


def _literal(node: ast.expr) -> str:
    """The id; an expression stands for itself and then fails as an unknown promise."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
