"""Names that say nothing are banned, imports are absolute, and one module reads the environment."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.earlier_names import EARLIER_NAMES
from tests.house.sources import modules

SAYS_NOTHING = {"types", "utils", "util", "common", "helpers", "helper", "core", "base", "manager", "misc", "shared"}
NO_THING_OF_THE_FIELD = {"nouns", "things", "parts", "shown", "told", "heard", "hands", "stand", "sight", "shelf"}
TERMS_OF_THE_FIELD = {
    "embedding", "encoding", "folding", "indexing", "logging", "ranking", "reranking", "routing", "sampling", "scoring", "signing",
    "streaming", "string", "tracing", "tuning", "wiring",
}  # fmt: skip
"""Words that end as a gerund does and name a thing."""
PARTS_OF_THE_PACKAGE = {"reading"}
"""Top-level parts whose name the architecture gives."""
MOST_EARLIER_NAMES = 17
"""How many modules may still have a name from before the rule. Lower it with every one that is renamed."""
READS_THE_ENVIRONMENT = "src/tallystick/settings.py"


@pytest.mark.promise("house.names")
def test_no_module_has_a_name_that_says_nothing() -> None:
    named = {path for path, _ in modules() if SAYS_NOTHING & set(path.removesuffix(".py").split("/"))}
    assert not named


@pytest.mark.promise("house.names")
def test_no_new_module_is_named_by_what_it_is_doing_or_by_no_thing_of_the_field() -> None:
    named = {name for path, _ in modules() if _is_badly_named(name := _name(path))}
    assert not named - EARLIER_NAMES, "name these by the thing they hold"
    assert not EARLIER_NAMES - named, "these are gone or renamed: take them off the list"
    assert len(EARLIER_NAMES) <= MOST_EARLIER_NAMES


@pytest.mark.parametrize("name", ["gate/asking", "rooms/new/nouns", "doors/web/tickets_shown", "app/starting"])
def test_a_bad_name_is_seen(name: str) -> None:
    assert _is_badly_named(name)


@pytest.mark.parametrize(
    "name", ["settings", "agents/tasks/routing", "doors/mcp/relay/pending_requests", "app/gc_tuning"]
)
def test_a_term_of_the_field_is_no_bad_name(name: str) -> None:
    assert not _is_badly_named(name)


def _name(path: str) -> str:
    """The module's path from the package, as `gate/admit`."""
    return path.removeprefix("src/tallystick/").removesuffix(".py").removesuffix("/__init__")


def _is_badly_named(name: str) -> bool:
    if name in PARTS_OF_THE_PACKAGE:
        return False
    words = name.rpartition("/")[2].split("_")
    gerund = words[-1].endswith("ing") and words[-1] not in TERMS_OF_THE_FIELD
    return gerund or not NO_THING_OF_THE_FIELD.isdisjoint(words)


@pytest.mark.promise("house.names")
def test_no_public_class_of_the_kernel_has_the_name_of_another() -> None:
    places: dict[str, list[str]] = {}
    for path, tree in modules():
        if "/rooms/" not in path:
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places.setdefault(node.name, []).append(_name(path))
    assert not {name: where for name, where in places.items() if len(where) > 1}, "one word, one meaning"


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
