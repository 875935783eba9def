"""`docs/configuration.md` names every setting with its kind and default, and none that does not exist."""

import re
from typing import Any, Literal, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from tallystick.settings import OLD_NAMES, ArgumentRule, Settings, ToolPolicy, load_settings
from tests.house.sources import ROOT

PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
HEADING = re.compile(r"^## `\[+([A-Za-z.]+)\]+`.*$", re.MULTILINE)
MODELS: dict[str, type[BaseModel]] = {
    **{
        name: field.annotation
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    },
    "tools.NAME": ToolPolicy,
    "tools.NAME.rules": ArgumentRule,
}
FREE = {"rooms.NAME"}
"""Checked by rooms, not by us."""


def sections() -> dict[str, str]:
    places = [*HEADING.finditer(PAGE)]
    ends = [match.start() for match in places[1:]] + [len(PAGE)]
    return {match[1]: PAGE[match.end() : end] for match, end in zip(places, ends, strict=True)}


def rows(text: str) -> list[list[str]]:
    """The rows of the first table, without head and rule."""
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.promise("house.configuration")
def test_every_section_is_described() -> None:
    tables = {name for name in Settings.model_fields if name not in MODELS}
    assert tables == {"tools", "rooms"}
    assert sections().keys() == MODELS.keys() | FREE


@pytest.mark.promise("house.configuration")
@pytest.mark.parametrize("section", sorted(MODELS))
def test_every_key_is_described_with_its_kind_and_default(section: str) -> None:
    described = {row[0].strip("`"): (row[1].replace("`", ""), row[2].strip("`")) for row in rows(sections()[section])}
    assert described == {
        field.alias or name: (kind(field), default(field)) for name, field in MODELS[section].model_fields.items()
    }


@pytest.mark.promise("house.configuration")
def test_every_key_says_what_it_is_for() -> None:
    for section in MODELS:
        for row in rows(sections()[section]):
            assert len(row) == 4, row
            assert row[3].endswith(".")
            assert len(row[3]) > 5, row


@pytest.mark.promise("house.configuration")
def test_the_other_names_are_those_of_the_code() -> None:
    table = rows(PAGE.partition("\n## Environment\n")[2])
    assert {row[0].strip("`"): row[1].strip("`") for row in table} == {
        name: ".".join(path) for name, path in OLD_NAMES.items()
    }


@pytest.mark.promise("house.configuration")
def test_the_environment_sets_a_value_as_the_page_says(tmp_path) -> None:
    name, value = re.findall(r"`(TALLY_\w+__\w+)=(\w+)`", PAGE)[0]
    assert load_settings(tmp_path, {name: value}).ledger.durability == value


def kind(field: FieldInfo) -> str:
    """A field's type in words."""
    annotation = field.annotation
    given = [part for part in get_args(annotation) if part is not type(None)]
    if type(None) in get_args(annotation):
        annotation = given[0] if len(given) == 1 else annotation
    if get_origin(annotation) is Literal:
        words = [str(word) for word in get_args(annotation)]
        return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    if annotation is int:
        return f"integer {bounds(field.metadata)}"
    simple: dict[Any, str] = {bool: "true or false", str: "text", SecretStr: "text, secret"}
    return simple.get(annotation) or container(annotation)


def bounds(metadata: list[Any]) -> str:
    low = next((item for item in metadata if isinstance(item, Ge | Gt)), None)
    high = next((item for item in metadata if isinstance(item, Le)), None)
    if isinstance(low, Gt):
        return f"> {low.gt}"
    assert low is not None, "an integer without bounds"
    return f"≥ {low.ge}" if high is None else f"{low.ge} to {high.le}"


def container(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in {tuple, frozenset}:
        return "list of text" if inner[0] is str else "list of tables"
    assert origin is dict, annotation
    return {int: "table of integers", Any: "table"}.get(inner[1], "table of lists")


def default(field: FieldInfo) -> str:
    """A field's default as TOML."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple | frozenset):
        return "[" + ", ".join(f'"{item}"' for item in sorted(value)) + "]"
    return "{}" if value == {} else str(value)
