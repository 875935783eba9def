"""`docs/configuration.md` names every setting with its kind and default, and none that does not exist."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from tallystick.app.discovery import manifests, resolve
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
ROOMS = {
    f"rooms.{name}": resolve(manifest, "settings", manifest.settings)
    for name, manifest in manifests().items()
    if manifest.settings is not None and manifest.settings.startswith("tallystick.")
}
"""The sections of the rooms that come with the package, and their models."""
FREE = {"rooms.NAME"}
"""What holds for the section of any room."""


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
    assert tables == {"tools"}
    assert sections().keys() == MODELS.keys() | ROOMS.keys() | FREE


@pytest.mark.promise("house.configuration")
@pytest.mark.parametrize("section", sorted(MODELS))
def test_every_key_is_described_with_its_kind_and_default(section: str) -> None:
    described = {row[0].strip("`"): (row[1].replace("`", ""), row[2].strip("`")) for row in rows(sections()[section])}
    assert described == {
        field.alias or name: (kind(field), default(field)) for name, field in MODELS[section].model_fields.items()
    }


@pytest.mark.promise("house.configuration")
@pytest.mark.parametrize("section", sorted(ROOMS))
def test_every_key_of_a_room_is_described_with_its_kind_and_default(section: str) -> None:
    described = {row[0].strip("`"): (row[1].replace("`", ""), row[2].strip("`")) for row in rows(sections()[section])}
    assert described == {key: (kind(field), default(field)) for key, _, _, field in flattened(ROOMS[section])}


@pytest.mark.promise("house.configuration")
def test_every_key_says_what_it_is_for() -> None:
    for section in (*MODELS, *ROOMS):
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


Row = tuple[str, type[BaseModel], str, FieldInfo]


def flattened(model: type[BaseModel], before: str = "") -> Iterator[Row]:
    """Every key of a section, those of tables in it with a dot: key, the model it stands in, its name there, field."""
    for name, field in model.model_fields.items():
        if f"{before}{name}" in UNSETTABLE:
            continue
        inner = plain(field.annotation)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from flattened(inner, f"{before}{name}.")
        else:
            yield f"{before}{name}", model, name, field


UNSETTABLE = {"off"}
"""Memory's switches for measurements, which no configuration can set."""


def plain(annotation: Any) -> Any:
    """A type without "or nothing" and without what only pydantic reads."""
    given = [part for part in get_args(annotation) if part is not type(None)]
    if type(None) in get_args(annotation) and len(given) == 1:
        annotation = given[0]
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def kind(field: FieldInfo) -> str:
    """A field's type in words."""
    annotation = plain(field.annotation)
    if get_origin(annotation) is Literal:
        words = [str(word) for word in get_args(annotation)]
        return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    if annotation in {int, float}:
        return f"{'integer' if annotation is int else 'number'} {bounds(field.metadata)}"
    simple: dict[Any, str] = {bool: "true or false", str: "text", SecretStr: "text, secret"}
    return simple.get(annotation) or container(annotation)


def bounds(metadata: list[Any]) -> str:
    low = next((item for item in metadata if isinstance(item, Ge | Gt)), None)
    high = next((item for item in metadata if isinstance(item, Le)), None)
    if isinstance(low, Gt):
        return f"> {low.gt}" if high is None else f"> {low.gt}, ≤ {high.le}"
    assert low is not None, "an integer without bounds"
    return f"≥ {low.ge}" if high is None else f"{low.ge} to {high.le}"


def container(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in {tuple, frozenset}:
        words = {str: "list of text", int: f"list of {len(inner)} integers"}
        return words.get(plain(inner[0]), "list of tables")
    assert origin is dict, annotation
    if isinstance(inner[1], type) and issubclass(inner[1], BaseModel):
        return "table of tables"
    return {int: "table of integers", Any: "table"}.get(inner[1], "table of lists")


def default(field: FieldInfo) -> str:
    """A field's default as TOML."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "not set"
    if isinstance(value, bool | str):
        return str(value).lower() if isinstance(value, bool) else f'"{value}"'
    if isinstance(value, tuple | frozenset):
        items = sorted(value) if isinstance(value, frozenset) else value
        return "[" + ", ".join(f'"{item}"' if isinstance(item, str) else str(item) for item in items) + "]"
    if isinstance(value, dict):
        inside = ", ".join(f"{name} = {item}" for name, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return str(value)
