"""From a typed function to a card: schemas, names, secrets, versions."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, SecretStr

from tallystick import Card, Tool, tool
from tallystick.errors import RegistrationError
from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.annotations import input_schema_of
from tallystick.gate.record.secrets import secret_names


class Login(BaseModel):
    user: str
    pin: SecretStr
    spare: list[SecretStr] = []


def word_count(path: str, limit: int = 10, *, mode: Literal["a", "b"] = "a") -> dict[str, int]:
    """Count the words of a file.

    Quickly.
    """
    return {path: limit}


def admits(made: Tool, **args: Any) -> bool:
    catalogue = Catalogue()
    catalogue.add(made.card)
    return isinstance(admit_call(catalogue, made.card.name, args), Proposal)


@pytest.mark.promise("admit.from-annotations")
def test_a_typed_function_is_a_card_with_both_schemas() -> None:
    card = tool(word_count).card
    assert (card.name, card.effect, card.how, card.roles) == ("word_count", "write", "thread", frozenset())
    assert card.description == "Count the words of a file.\n\nQuickly."
    assert card.input_schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "mode": {"enum": ["a", "b"], "type": "string", "default": "a"},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    assert card.output_schema == {"type": "object", "additionalProperties": {"type": "integer"}}


@pytest.mark.promise("admit.from-annotations")
def test_what_the_annotations_say_is_what_is_admitted() -> None:
    made = tool(effect="read")(word_count)
    assert admits(made, path="a")
    assert admits(made, path="a", limit=1, mode="b")
    for wrong in ({}, {"path": 1}, {"path": "a", "limit": "1"}, {"path": "a", "mode": "c"}, {"path": "a", "more": 1}):
        assert not admits(made, **wrong)


@pytest.mark.promise("admit.from-annotations")
def test_constraints_and_models_become_part_of_the_schema() -> None:
    @tool
    def put(n: Annotated[int, Field(ge=1, le=3)], login: Login, tags: list[str] | None = None) -> None:
        """Put."""

    assert admits(put, n=1, login={"user": "a", "pin": "b"})
    assert admits(put, n=1, login={"user": "a", "pin": "b"}, tags=["x"])
    assert not admits(put, n=4, login={"user": "a", "pin": "b"})
    assert not admits(put, n=1, login={"user": "a"})


@pytest.mark.promise("admit.from-annotations")
@pytest.mark.parametrize("name", ["schema", "json", "copy", "dict", "model_config", "validate", "fields", "model_x"])
def test_an_argument_may_have_any_name(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def asks({name}: int) -> int: return {name}", scope)
    made = tool(scope["asks"])
    assert set(made.card.input_schema["properties"]) == {name}
    assert admits(made, **{name: 1})
    assert not admits(made, **{name: "1"})


@pytest.mark.promise("admit.from-annotations")
def test_a_name_that_begins_with_an_underscore_works_too() -> None:
    def asks(_n: int, __m: int = 1) -> int:
        return _n + __m

    assert set(input_schema_of(asks)["properties"]) == {"_n", "__m"}
    assert input_schema_of(asks)["required"] == ["_n"]


def no_annotation(a) -> int:  # type: ignore[no-untyped-def]
    return int(a)


def no_result(a: int):  # type: ignore[no-untyped-def]
    return a


def many(*args: int) -> int:
    return len(args)


def any_keys(**kwargs: int) -> int:
    return len(kwargs)


def by_place(a: int, /) -> int:
    return a


def no_such_type(a: "Nowhere") -> int:  # type: ignore[name-defined]  # noqa: F821
    return 1


def no_json_type(a: Callable[[], int]) -> int:
    return a()


def no_json_result() -> Callable[[], int]:
    return lambda: 1


@pytest.mark.promise("admit.from-annotations")
@pytest.mark.parametrize(
    "function", [no_annotation, no_result, many, any_keys, by_place, no_such_type, no_json_type, no_json_result]
)
def test_a_function_that_has_no_schema_is_refused_when_it_is_decorated(function: Callable[..., Any]) -> None:
    with pytest.raises(RegistrationError) as caught:
        tool(function)
    assert function.__name__ in str(caught.value)


@pytest.mark.parametrize("wrong", [{"roles": "admin"}, {"effect": "delete"}, {"timeout_s": 0}, {"timeout_s": "1"}])
def test_a_card_that_cannot_be_meant_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(RegistrationError) as caught:
        tool(**wrong)(word_count)
    assert caught.value.code == "card_invalid"


def test_one_decorator_serves_several_functions() -> None:
    reading = tool(effect="read")

    def first(a: int) -> int:
        """First."""
        return a

    async def second(b: str) -> str:
        """Second."""
        return b

    one, two = reading(first).card, reading(second).card
    assert (one.description, two.description) == ("First.", "Second.")
    assert (set(one.input_schema["properties"]), set(two.input_schema["properties"])) == ({"a"}, {"b"})
    assert (one.how, two.how) == ("thread", "async")


def test_how_a_tool_runs_follows_from_the_function_and_two_words() -> None:
    async def waits() -> None: ...

    ways = {tool(word_count).card.how, tool(inline=True)(word_count).card.how, tool(isolate=True)(word_count).card.how}
    assert ways == {"thread", "inline", "process"}
    assert tool(inline=True)(waits).card.how == "async"


def test_a_decorated_function_can_still_be_called() -> None:
    assert tool(word_count)("x", 3) == {"x": 3}


def test_a_tool_offers_a_dry_run_when_it_takes_the_word() -> None:
    def puts(text: str, *, dry_run: bool = False) -> str:
        return text if dry_run else "put"

    assert tool(puts).card.dry_run
    assert not tool(word_count).card.dry_run


@pytest.mark.promise("record.secrets")
def test_secret_arguments_are_found_in_the_schema_however_they_are_wrapped() -> None:
    @tool(secrets=("note",))
    def put(
        note: str,
        plain: str,
        password: SecretStr,
        maybe: SecretStr | None,
        several: list[SecretStr],
        logins: dict[str, Login],
    ) -> None:
        """Put."""

    assert secret_names(put.card) == {"note", "password", "maybe", "several", "pin", "spare"}


@pytest.mark.promise("record.secrets")
def test_a_secret_behind_a_reference_is_found_and_a_cycle_does_no_harm() -> None:
    schema = {
        "type": "object",
        "properties": {
            "key": {"$ref": "#/$defs/Key"},
            "tree": {"$ref": "#/$defs/Tree"},
            "odd": {"$ref": "#/$defs/Nothing"},
        },
        "$defs": {
            "Key": {"allOf": [{"type": "string"}, {"writeOnly": True}]},
            "Tree": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
        },
    }
    assert secret_names(Card(name="t", description="", input_schema=schema)) == {"key"}


@pytest.mark.promise("record.tool-version")
def test_the_version_names_everything_that_bears_on_a_decision() -> None:
    card = tool(effect="read")(word_count).card
    same = tool(effect="read")(word_count).card
    assert card.version == same.version
    changes: list[dict[str, Any]] = [
        {"description": "Other."}, {"effect": "write"}, {"roles": frozenset({"x"})}, {"timeout_s": 1.0},
        {"input_schema": {"type": "object"}}, {"output_schema": None}, {"aliases": ("wc",)}, {"secrets": ("path",)},
        {"audited": True}, {"spends": "search"}, {"owned_keys": frozenset({"status"})}, {"provenance_key": "path"},
    ]  # fmt: skip
    versions = {replace(card, **change).version for change in changes}
    assert len(versions | {card.version}) == len(changes) + 1


@pytest.mark.promise("record.tool-version")
def test_a_card_is_read_back_from_its_definition() -> None:
    card = tool(effect="read", roles={"b", "a"}, aliases=("wc",), timeout_s=1.5, key_aliases={"p": "path"})(
        word_count
    ).card
    again = Card.from_definition(card.definition())
    assert again.version == card.version
    assert again == replace(card, how="thread")


def test_the_audit_action_is_the_name_without_its_prefix() -> None:
    assert tool(name="tool.analysis.run")(word_count).card.audit_action == "analysis.run"
    assert tool(action="count")(word_count).card.audit_action == "count"


def test_an_async_tool_can_be_awaited_outside_the_gate() -> None:
    @tool
    async def seven() -> int:
        return 7

    assert asyncio.run(seven()) == 7
