"""Which tests name which promises, read from the source."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOORS = re.compile(
    r"tests/(doors(?!/mcp/relay/)|paths|browser|faults|attacks|servers|frameworks|install|external_room|rooms/\w+/(http|cli|web))/"
)
"""Where tests go through a real door: a served app, a command, an MCP client, a page, a process of its own.

The tests of the relay's parts are below a door and go through none.
"""


def through_a_door() -> set[str]:
    """Promises that a test at a door shows."""
    return {promise for promise, place in named_promises() if DOORS.match(place)}


@cache
def named_promises() -> tuple[tuple[str, str], ...]:
    """(id, place) for every promise that a test module or a benchmark names."""
    return tuple(
        named
        for path in sorted([*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "benchmarks").rglob("*.py")])
        for named in names_in(ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix())
    )


def names_in(tree: ast.Module, place: str) -> Iterator[tuple[str, str]]:
    """(id, place) for every promise that a module names, in whichever way."""
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
