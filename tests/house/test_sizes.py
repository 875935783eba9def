"""Modules stay under 500 lines and functions under 40; comments say why, neither too little nor too much."""

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cache

import pytest

from tests.house.sources import PACKAGE, ROOT, modules

MODULE_LINES = 500
FUNCTION_LINES = 40

TOO_LONG_STILL: dict[str, int] = {}
"""`path` or `path:function` → its length when it was let through. Entries only shrink or go; none are added."""


@pytest.mark.promise("house.sizes")
def test_no_module_and_no_function_is_too_long() -> None:
    too_long = {name: lines for name, lines in _too_long() if lines > TOO_LONG_STILL.get(name, 0)}
    assert not too_long, "split these: each has more than one job"


@pytest.mark.promise("house.sizes")
def test_the_list_of_what_is_too_long_only_shrinks() -> None:
    now = dict(_too_long())
    assert {name: now.get(name) for name in TOO_LONG_STILL} == TOO_LONG_STILL, (
        "note the new, smaller length or drop the entry"
    )


def test_a_function_is_measured_from_its_def_to_its_last_line() -> None:
    tree = ast.parse("class A:\n    @decorated\n    def f(self):\n        x = (\n            1\n        )\n")
    assert dict(_functions("a.py", tree)) == {"a.py:A.f": 4}


@pytest.mark.promise("house.comments")
def test_the_gate_explains_itself() -> None:
    code, comments, docstrings = (
        sum(counts) for counts in zip(*map(_density, (PACKAGE / "gate").rglob("*.py")), strict=True)
    )
    assert 0.20 <= docstrings / code <= 0.80, f"{docstrings} docstring lines for {code} lines of code"
    assert 0.25 <= (docstrings + comments) / code <= 0.90, (
        f"{docstrings}+{comments} lines that explain {code} lines of code"
    )


@cache
def _too_long() -> tuple[tuple[str, int], ...]:
    return tuple(_measured())


def _measured() -> Iterator[tuple[str, int]]:
    for path, tree in modules():
        length = len((ROOT / path).read_text(encoding="utf-8").splitlines())
        if length > MODULE_LINES:
            yield path, length
        yield from ((name, lines) for name, lines in _functions(path, tree) if lines > FUNCTION_LINES)


def _functions(path: str, tree: ast.AST, inside: str = "") -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        name = inside
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{inside}.{node.name}" if inside else node.name
            if not isinstance(node, ast.ClassDef):
                yield f"{path}:{name}", (node.end_lineno or node.lineno) - node.lineno + 1
        yield from _functions(path, node, name)


def _density(path) -> tuple[int, int, int]:
    """Lines of code, of comment, and of docstring (a string that stands alone as a statement)."""
    text = path.read_text(encoding="utf-8")
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    code: set[int] = set()
    comments: set[int] = set()
    layout = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in layout:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings), len(comments), len(docstrings)
