"""Names that say nothing are banned, imports are absolute, and one module reads the environment."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.sources import modules

SAYS_NOTHING = {"types", "utils", "util", "common", "helpers", "helper", "core", "base", "manager", "misc", "shared"}
READS_THE_ENVIRONMENT = "src/tallystick/settings.py"


@pytest.mark.promise("house.names")
def test_no_module_has_a_name_that_says_nothing() -> None:
    named = {path for path, _ in modules() if SAYS_NOTHING & set(path.removesuffix(".py").split("/"))}
    assert not named


@pytest.mark.promise("house.names")
def test_every_import_is_absolute() -> None:
    relative = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative


@pytest.mark.promise("house.environment")
def test_only_settings_reads_the_environment() -> None:
    readers = {path for path, tree in modules() if any(_reads_environment(tree))}
    assert readers == {READS_THE_ENVIRONMENT}


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.environ['A']",
        "import os as o\no.getenv('A')",
        "from os import environ",
        "from os import getenv as g",
        "import os\nos.putenv('A', 'b')",
    ],
)
def test_every_way_to_read_the_environment_is_seen(code: str) -> None:
    assert any(_reads_environment(ast.parse(code)))


def _reads_environment(tree: ast.Module) -> Iterator[bool]:
    names = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
    os_names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "os"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id in os_names and node.attr in names
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            yield any(alias.name in names for alias in node.names)
