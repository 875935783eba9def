"""`docs/extending.md` holds every file of the room in `tests/external_room/`, and names every module it imports."""

import ast
import re

import pytest

from tests.house.sources import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
ROOM = ROOT / "tests" / "external_room"
FILES = sorted(
    path.relative_to(ROOM).as_posix()
    for path in (ROOM / "pyproject.toml", *(ROOM / "src").rglob("*.py"), *(ROOM / "tests").rglob("*.py"))
)
BLOCK = re.compile(r"^```(?:python|toml)\n# (?P<name>[\w/.]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(?P<module>tallystick[\w.]*)` \| (?P<for>.+) \|$", re.MULTILINE)
DOORS = {"http.py": "http", "cli.py": "cli", "demo.py": "cli", "doctor.py": "cli", "web.py": "web"}


@pytest.mark.promise("plugin.document")
def test_the_page_holds_every_file_of_the_room_as_it_is() -> None:
    shown = {match["name"]: match["body"] for match in BLOCK.finditer(PAGE) if match["name"] != "tallystick.toml"}
    assert sorted(shown) == FILES
    for name in FILES:
        assert shown[name] == (ROOM / name).read_text(encoding="utf-8"), name


@pytest.mark.promise("plugin.document")
def test_the_room_imports_only_modules_that_the_page_names() -> None:
    allowed = {match["module"] for match in ROW.finditer(PAGE)}
    imported = {(name, module) for name in FILES if name.endswith(".py") for module in modules_in(name)}
    assert imported
    assert sorted((name, module) for name, module in imported if module not in allowed) == []


@pytest.mark.promise("plugin.document")
def test_the_room_reaches_a_door_only_from_the_modules_that_the_page_names() -> None:
    for name in FILES:
        for module in modules_in(name) if name.endswith(".py") else ():
            if module.startswith("tallystick.doors."):
                assert module == f"tallystick.doors.{DOORS[name.rpartition('/')[2]]}.kit", name


def modules_in(name: str) -> set[str]:
    """The modules of the package that a file of the room imports."""
    tree = ast.parse((ROOM / name).read_text(encoding="utf-8"))
    found = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    found |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return {module for module in found if module.partition(".")[0] == "tallystick"}
