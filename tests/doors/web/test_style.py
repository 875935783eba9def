"""The style sheet has every class that is used, and the pictures in the docs are small and all of use."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import nicegui
import pytest

from tests.house.sources import PACKAGE, ROOT

WEB = PACKAGE / "doors" / "web"
QUASAR = Path(nicegui.__file__).parent / "static"
IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 200_000


def classes() -> Iterator[tuple[str, str]]:
    """Every class that a page gives an element, as far as it is written out."""
    for path in WEB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "classes":
                for given in (*node.args, *(keyword.value for keyword in node.keywords)):
                    for name in _written(given):
                        yield path.name, name


def _written(given: ast.expr) -> list[str]:
    """The whole words of what is given; the beginning of one that is put together is none."""
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value.split()
    if isinstance(given, ast.BinOp):
        return _written(given.left)
    if isinstance(given, ast.JoinedStr) and isinstance(given.values[0], ast.Constant):
        return str(given.values[0].value).split(" ")[:-1]
    return []


@pytest.mark.promise("page.style")
def test_every_class_stands_in_the_style_sheet_or_is_the_librarys() -> None:
    """The compiler of styles is switched off in the browser, so a name that nobody defines would do nothing."""
    sheets = [WEB / "static" / "tally.css", *QUASAR.glob("quasar.*.prod.css")]
    known = set(re.findall(r"\.(-?[A-Za-z_][\w-]*)", " ".join(sheet.read_text(encoding="utf-8") for sheet in sheets)))
    used = {(name, where) for where, name in classes() if not name.startswith("tally-")}
    assert len(used) > 10
    assert sorted(f"{where}: {name}" for name, where in used if name not in known) == []


@pytest.mark.promise("page.style")
def test_pictures_are_small_and_each_is_shown_somewhere() -> None:
    documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {
        Path(name).name for each in documents for name in re.findall(r"\]\(([^)]*images/[^)]+)\)", each.read_text())
    }
    there = {path.name: path.stat().st_size for path in IMAGES.glob("*.png")}
    assert shown == set(there)
    assert not {name: size for name, size in there.items() if size > MOST_BYTES}
