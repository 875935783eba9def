"""What import-linter does not see: rooms that are named by a string, and what the plugin interface loads."""

import ast
import json
import re
import subprocess
import sys

import pytest

from tests.house.sources import modules

ROOM = re.compile(r"\btallystick\.rooms\.\w")
ROOMS = "src/tallystick/rooms/"


@pytest.mark.promise("house.rooms-found")
def test_nothing_outside_the_rooms_names_a_room_module_by_a_string() -> None:
    named = [f"{path}:{line}" for path, tree in modules() if not path.startswith(ROOMS) for line in _named(tree)]
    assert not named


@pytest.mark.parametrize(
    "code",
    [
        "import_module('tallystick.rooms.desk.room')",
        "REFERENCE = 'tallystick.rooms.desk:MANIFEST'",
        "import_module(f'tallystick.rooms.{name}')",
        "import_module('tallystick.rooms.' + name)",
        "import_module('.'.join(('tallystick', 'rooms', name)))",
        "import_module('tallystick.' 'rooms.desk')",
    ],
)
def test_every_way_to_name_a_room_module_is_seen(code: str) -> None:
    assert _named(ast.parse(code))


@pytest.mark.parametrize("code", ["'''A room is tallystick.rooms.desk.'''", "GROUP = 'tallystick.rooms'"])
def test_docstrings_and_the_entry_point_group_are_no_imports(code: str) -> None:
    assert not _named(ast.parse(code))


@pytest.mark.promise("house.plugin-alone")
def test_the_plugin_interface_imports_nothing_but_the_standard_library() -> None:
    loaded = _loaded_by("import tallystick.plugin")
    assert loaded == {"tallystick", "tallystick.plugin"}


def _named(tree: ast.Module) -> list[int]:
    """The lines of the strings, docstrings aside, that name a module below `tallystick.rooms`."""
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and id(node) not in docstrings and ROOM.search(_text(node))
    ]


def _text(node: ast.expr) -> str:
    """The string that an expression makes, as far as it stands in the source; `x` for what does not."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value) for value in values)
        case ast.FormattedValue():
            return "x"
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return (_text(left) or "x") + (_text(right) or "x")
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return ".".join(_text(element) or "x" for element in elements)
        case _:
            return ""


def _loaded_by(code: str) -> set[str]:
    """The modules that a new process has after running code, without those of the standard library."""
    start = f"import sys; before = set(sys.modules)\n{code}\nimport json; print(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=True)
    return {name for name in json.loads(done.stdout) if name.split(".")[0] not in sys.stdlib_module_names}
