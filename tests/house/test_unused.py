"""Nothing is kept that only tests call: every public function, class and constant is used by the package itself."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.house.sources import PACKAGE, ROOT, modules

_WORD = re.compile(r"[A-Za-z_]\w*")
PUBLISHED = {"src/tallystick/__init__.py", "src/tallystick/openai_functions.py", "src/tallystick/plugin.py"}
"""Modules whose names are there for programs that import the package, and for rooms of others."""
FRAMEWORK_READS = {"down_revision", "branch_labels", "depends_on"}
"""What Alembic reads of a migration."""

KEPT_FOR_TESTS: dict[str, str] = {
    "read_stop_hook": "the reading side of a published text format; tests show that it round-trips",
    "DEFAULT_MODEL": "the model that `make local-model` fetches and the tests of it ask",
}
"""A name that the package itself does not use → why it stays. Entries only go."""


@pytest.mark.promise("house.no-unused")
def test_every_public_name_of_a_module_is_used_by_the_package() -> None:
    uses = _uses()
    unused = {
        name: path
        for path, tree in modules()
        if path not in PUBLISHED
        for name in _public(tree)
        if uses[name] < 2 and name not in FRAMEWORK_READS
    }
    assert {name: unused[name] for name in unused if name not in KEPT_FOR_TESTS} == {}, "delete these and their tests"
    assert set(KEPT_FOR_TESTS) <= set(unused), "drop the entries that are used now or gone"


def test_a_name_that_nothing_mentions_is_seen() -> None:
    tree = ast.parse("LIMIT = 3\n_own = 4\n\ndef read(): ...\n\n@route\ndef page(): ...\n\nclass Reader: ...\n")
    assert list(_public(tree)) == ["LIMIT", "read", "Reader"]


def _uses() -> Counter[str]:
    """How often each word stands in the package, in code, data and references alike."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))]
    texts += [path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.toml"))]
    texts.append((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return Counter(word for text in texts for word in _WORD.findall(text))


def _public(tree: ast.Module) -> Iterator[str]:
    """Public functions and classes without a decorator that registers them, and constants, at the top of a module."""
    for node in tree.body:
        if (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.decorator_list) or isinstance(
            node, ast.ClassDef
        ):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            continue
        yield from (name for name in names if not name.startswith("_"))
