import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import RegistrationError
from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.names import TOOL_ALIASES, Catalogue, normalised
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.tool import Card


def card(name: str, **fields: Any) -> Card:
    fields.setdefault("input_schema", {"type": "object", "properties": {"file_path": {"type": "string"}}})
    return Card(name=name, description="", **fields)


def catalogue(*cards: Card) -> Catalogue:
    made = Catalogue()
    for one in cards:
        made.add(one)
    return made


def meant(made: Catalogue, name: str) -> str | None:
    found = made.resolve(name)
    return None if found is None else found[0].card.name


@pytest.mark.promise("admit.tool-id")
@pytest.mark.parametrize("name", ["file_locator", "tool.search.nn", "file-locator", "A", "x" * 128, "..", "9"])
def test_both_name_styles_are_tool_ids(name: str) -> None:
    assert meant(catalogue(card(name)), name) == name


@pytest.mark.promise("admit.tool-id")
@pytest.mark.parametrize("name", ["", "a b", "a\n", "x" * 129, "é", "a/b", "a:b", "fіle", "a\u200b", "a(b)"])
def test_other_names_are_refused_at_registration(name: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        Catalogue().add(card(name))
    assert caught.value.code == "tool_name_invalid"


@pytest.mark.promise("admit.tool-id")
def test_an_id_is_registered_once() -> None:
    made = catalogue(card("a"))
    with pytest.raises(RegistrationError) as caught:
        made.add(card("a"))
    assert caught.value.code == "tool_duplicate"
    made.remove("a")
    made.remove("a")
    assert made.get("a") is None
    made.add(card("a"))
    assert [entry.card.name for entry in made.entries()] == ["a"]
    assert len(made) == 1


@pytest.mark.promise("admit.alias")
@pytest.mark.parametrize(("alias", "target"), TOOL_ALIASES.items())
def test_the_shipped_aliases_mean_their_tools_when_those_are_there(alias: str, target: str) -> None:
    made = catalogue(card(target))
    found = made.resolve(alias)
    assert found is not None
    assert (found[0].card.name, found[1]) == (target, True)
    assert catalogue(card("other")).resolve(alias) is None
    made.remove(target)
    assert made.resolve(alias) is None


@pytest.mark.promise("admit.alias")
def test_a_registered_id_wins_over_a_shipped_alias() -> None:
    made = catalogue(card("file_reader"), card("read_file"))
    assert meant(made, "read_file") == "read_file"
    made.remove("read_file")
    assert meant(made, "read_file") == "file_reader"


@pytest.mark.promise("admit.alias")
def test_an_alias_that_means_two_tools_means_none() -> None:
    made = catalogue(card("file_reader"), card("viewer", aliases=("open_file",)))
    assert made.resolve("open_file") is None
    made.remove("file_reader")
    assert meant(made, "open_file") == "viewer"


@pytest.mark.promise("admit.alias")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"name": "a", "aliases": ("x",)}, {"name": "b", "aliases": ("x",)}),
        ({"name": "a"}, {"name": "b", "aliases": ("a",)}),
        ({"name": "a", "aliases": ("b",)}, {"name": "b"}),
    ],
    ids=str,
)
def test_an_alias_that_clashes_is_refused_and_nothing_changes(first: dict[str, Any], second: dict[str, Any]) -> None:
    made = catalogue(card(**first))
    with pytest.raises(RegistrationError) as caught:
        made.add(card(**second))
    assert caught.value.code == "alias_ambiguous"
    assert [entry.card.name for entry in made.entries()] == ["a"]
    assert made.get("b") is None


@pytest.mark.promise("admit.alias")
def test_an_alias_is_a_tool_id_and_a_key_alias_leads_to_a_key() -> None:
    with pytest.raises(RegistrationError) as caught:
        Catalogue().add(card("a", aliases=("x y",)))
    assert caught.value.code == "tool_name_invalid"
    with pytest.raises(RegistrationError) as caught:
        Catalogue().add(card("a", key_aliases={"x": "nowhere"}))
    assert caught.value.code == "alias_unknown_key"


@pytest.mark.promise("admit.alias")
def test_upstream_tools_have_no_aliases() -> None:
    made = catalogue(card("file_reader", origin="upstream"), card("b", origin="upstream", aliases=("c",)))
    assert made.resolve("read_file") is None
    assert made.resolve("c") is None


@pytest.mark.promise("admit.name-bytes")
@pytest.mark.parametrize(
    "name",
    [
        "FILE_READER",
        " file_reader",
        "file_reader ",
        "file_reader\n",
        "file_reader\u200b",
        "fіle_reader",
        "file‐reader",
        "file-reader",
        "file_reader\0",
        "ｆile_reader",
        "FiLe_reader",
        "file__reader",
        "",
    ],
)
def test_a_name_is_never_normalised_into_a_match(name: str) -> None:
    assert catalogue(card("file_reader")).resolve(name) is None


@pytest.mark.promise("admit.name-bytes")
@given(st.text())
def test_only_exact_bytes_and_aliases_resolve(name: str) -> None:
    found = catalogue(card("file_reader")).resolve(name)
    assert (found is not None) is (name in {"file_reader", "read_file", "open_file"})


@pytest.mark.promise("admit.name-bytes")
def test_no_lookalike_of_the_unicode_list_resolves_or_becomes_a_key(data: Path) -> None:
    files = sorted((data / "unicode").rglob("confusables.json"))
    if not files:
        pytest.skip("left out: lookalikes of the unicode folder, TALLY_DATA not there")
    made = catalogue(card("file_reader"))
    tried = 0
    for letter, lookalikes in json.loads(files[0].read_bytes()).items():
        for other in {one["c"] for one in lookalikes} | {letter}:
            for ours in "file_reader":
                name = "file_reader".replace(ours, other)
                if name != "file_reader":
                    tried += 1
                    assert made.resolve(name) is None
            key = "file_path".replace("l", other)
            if not other.isascii():
                assert isinstance(admit_call(made, "file_reader", {key: "x"}), Rejection), other
    assert tried > 10_000


@pytest.mark.promise("admit.upstream")
def test_an_upstream_schema_is_kept_as_published() -> None:
    draft7 = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"type": "string"}},
    }
    entry = Catalogue().add(card("up", input_schema=draft7, origin="upstream"))
    assert entry.input.schema["properties"] == draft7["properties"]
    assert entry.input.accepts({"a": "x", "more": 1})
    assert entry.output is None


@pytest.mark.promise("admit.upstream")
def test_an_upstream_pattern_we_cannot_run_is_flagged_or_refused() -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^(?!x)"}}}
    entry = Catalogue().add(card("up", input_schema=schema, output_schema=schema, origin="upstream", strict=False))
    assert entry.flags == ("pattern left out at /properties/a",) * 2
    for origin, strict in (("upstream", True), ("local", False), ("local", True)):
        with pytest.raises(RegistrationError) as caught:
            Catalogue().add(card("up", input_schema=schema, origin=origin, strict=strict))
        assert caught.value.code == "schema_pattern"


@pytest.mark.promise("admit.closed")
def test_an_output_that_names_its_properties_is_closed_too() -> None:
    named = {"type": "object", "properties": {"n": {"type": "integer"}}}
    entry = Catalogue().add(card("a", output_schema=named))
    assert entry.output is not None
    assert entry.output.accepts({"n": 1})
    assert not entry.output.accepts({"n": 1, "more": 1})
    free = Catalogue().add(card("b", output_schema={"type": "object"}))
    assert free.output is not None
    assert free.output.accepts({"anything": 1})
    for output in ({"type": "integer"}, {"type": "array", "items": named}):
        assert Catalogue().add(card("c", output_schema=output)).output is not None


def test_a_schema_that_is_refused_leaves_the_catalogue_as_it_was() -> None:
    made = Catalogue()
    for schemas in ({"input_schema": {"$ref": "#"}}, {"output_schema": {"$ref": "http://example.com"}}):
        with pytest.raises(RegistrationError):
            made.add(card("a", **schemas))
    assert made.entries() == ()
    assert made.names() == ()


def test_names_lists_ids_and_aliases() -> None:
    made = catalogue(card("file_reader", aliases=("reader",)))
    assert set(made.names()) == {"file_reader", "reader", "read_file", "open_file"}


@pytest.mark.promise("admit.key-drift")
@pytest.mark.parametrize(
    ("key", "plain"),
    [
        ("File-Path", "file_path"),
        (" file path ", "file_path"),
        ("FILE__PATH", "file_path"),
        ("file.path", "file_path"),
        ("filePath", "filepath"),
        ("\u212aey", "\u212aey"),
        ("", ""),
    ],
)
def test_keys_are_trimmed_lowered_and_their_separators_unified(key: str, plain: str) -> None:
    assert normalised(key) == plain


@pytest.mark.promise("admit.schema-refused")
@pytest.mark.parametrize("kind", ["string", ["array", "null"]])
def test_arguments_that_are_no_object_are_refused_at_registration(kind: Any) -> None:
    with pytest.raises(RegistrationError) as caught:
        Catalogue().add(card("a", input_schema={"type": kind}))
    assert caught.value.code == "schema_not_object"
    assert Catalogue().add(card("a", input_schema={"type": ["object", "null"]}))


@pytest.mark.promise("admit.alias")
def test_a_tool_that_leaves_takes_only_its_own_aliases_along() -> None:
    made = catalogue(card("up", origin="upstream", aliases=("c",)), card("a", aliases=("c",)))
    made.remove("up")
    assert meant(made, "c") == "a"
    made.remove("a")
    assert made.resolve("c") is None
    made.add(card("c"))
    assert meant(made, "c") == "c"
