"""Tools from OpenAPI operations: what they take, what they send, and what is refused when they are made."""

import asyncio
import copy
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.http.app import api
from tallystick.doors.http.context import HttpContext
from tallystick.doors.identity import Identity, StartupToken
from tallystick.errors import RegistrationError, ToolError
from tallystick.providers.openapi import tool_from_operation
from tallystick.providers.operation_request import OperationRequest, Parameter, build_request
from tallystick.settings import AuthSettings
from tests.gates import open_gate

PET: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Pet"}},
}
SHOP: dict[str, Any] = {
    "openapi": "3.1.0",
    "components": {
        "schemas": {"Pet": PET},
        "parameters": {
            "Shop": {"name": "shop", "in": "path", "required": True, "schema": {"type": "string"}},
            "Alias": {"$ref": "#/components/parameters/Shop"},
        },
        "responses": {"Pets": {"content": {"application/json": {"schema": {
            "type": "array", "items": {"$ref": "#/components/schemas/Pet"},
        }}}}},
    },
    "paths": {
        "/shops/{shop}/pets/{pet}": {
            "parameters": [
                {"$ref": "#/components/parameters/Alias"},
                {"name": "pet", "in": "path", "required": True, "schema": {"type": "string"}},
                {"name": "tone", "in": "query", "schema": {"type": "integer"}},
            ],
            "get": {
                "operationId": "getPet",
                "summary": "One pet.",
                "parameters": [
                    {"name": "tone", "in": "query", "description": "How to say it.", "schema": {"type": "string"}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "boolean"}},
                    {"name": "Authorization", "in": "header", "required": True, "schema": {"type": "string"}},
                    {"name": "flavour", "in": "cookie", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}},
            },
            "delete": {"operationId": "deletePet", "responses": {"204": {"description": "Gone."}}},
            "put": {
                "operationId": "putPet",
                "requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
                    "201": {"content": {"application/json": {"schema": {"type": "string"}}}},
                },
            },
        },
        "/pets": {
            "get": {
                "operationId": "listPets",
                "parameters": [{"name": "body", "in": "query", "schema": {"type": "array", "items": {"type": "integer"}}}],
                "responses": {"200": {"$ref": "#/components/responses/Pets"}},
            }
        },
    },
}  # fmt: skip


class Shop:
    """Where requests go."""

    def __init__(self, answer: Any = None) -> None:
        self.sent: list[OperationRequest] = []
        self.answer = answer

    async def send(self, request: OperationRequest) -> Any:
        self.sent.append(request)
        return self.answer


def changed(**paths: Any) -> dict[str, Any]:
    return {**copy.deepcopy(SHOP), "paths": paths}


@pytest.mark.promise("providers.openapi")
def test_an_operation_becomes_a_governed_tool(tmp_path: Path) -> None:
    shop = Shop({"name": "Rex"})
    tool = tool_from_operation(SHOP, "getPet", shop.send)
    assert (tool.card.effect, tool.card.idempotent, tool.card.description) == ("read", True, "One pet.")
    assert set(tool.card.input_schema["properties"]) == {"shop", "pet", "tone", "X-Trace"}
    assert tool.card.input_schema["required"] == ["shop", "pet"]
    # The operation's own parameter takes the place of its path's.
    assert tool.card.input_schema["properties"]["tone"] == {"type": "string", "description": "How to say it."}
    with open_gate(tmp_path, tool) as gate:
        outcome = gate.call_sync("getPet", {"shop": "a/b", "pet": "Rex & co", "tone": "kind", "X-Trace": True})
        assert outcome.unwrap() == {"name": "Rex"}
        assert shop.sent == [
            OperationRequest(
                method="GET", path="/shops/a%2Fb/pets/Rex%20%26%20co", query={"tone": "kind"}, headers={"X-Trace": "true"}
            )
        ]  # fmt: skip
        for wrong in ({}, {"shop": "a"}, {"shop": "a", "pet": 7}, {"shop": "a", "pet": "p", "flavour": "x"},
                      {"shop": "a", "pet": "p", "Authorization": "x"}, {"shop": "a", "pet": "p", "TONE": "x"}):  # fmt: skip
            assert gate.call_sync("getPet", wrong).status == "rejected"
        assert len(shop.sent) == 1


@pytest.mark.promise("providers.openapi")
def test_what_comes_back_is_held_to_the_documented_answers(tmp_path: Path) -> None:
    good = {"name": "Rex", "parent": {"name": "Rexina"}}
    for operation, args, fits, breaks in (
        ("getPet", {"shop": "s", "pet": "p"}, [good], ["Rex", {"nom": "Rex"}, {"name": "R", "parent": {}}]),
        ("putPet", {"shop": "s", "pet": "p", "body": good}, [good, "made"], [7, None]),
        ("listPets", {"body": [1, 2]}, [[], [good]], [good, [7]]),
        ("deletePet", {"shop": "s", "pet": "p"}, [None, "anything"], []),
    ):  # fmt: skip
        shop = Shop()
        tool = tool_from_operation(SHOP, operation, shop.send, effect="read")
        with open_gate(tmp_path / operation, tool) as gate:
            for shop.answer in fits:
                assert gate.call_sync(operation, args).ok, (operation, shop.answer)
            for shop.answer in breaks:
                outcome = gate.call_sync(operation, args)
                assert outcome.fault is not None
                assert outcome.fault.name == "bad_result", (operation, shop.answer)


@pytest.mark.promise("providers.openapi")
def test_what_changes_something_outside_asks_first(tmp_path: Path) -> None:
    shop = Shop()
    tools = [tool_from_operation(SHOP, name, shop.send) for name in ("putPet", "deletePet")]
    assert [tool.card.effect for tool in tools] == ["external", "external"]
    with open_gate(tmp_path, *tools) as gate:
        assert gate.call_sync("deletePet", {"shop": "s", "pet": "p"}).held is not None
        assert gate.call_sync("putPet", {"shop": "s", "pet": "p", "body": {"name": 7}}).status == "rejected"
        assert gate.call_sync("putPet", {"shop": "s", "pet": "p"}).status == "rejected"
    assert shop.sent == []


@pytest.mark.promise("providers.openapi")
def test_a_body_goes_as_it_is_and_a_parameter_may_be_called_so_where_there_is_none() -> None:
    shop = Shop()
    asyncio.run(tool_from_operation(SHOP, "putPet", shop.send)(shop="s", pet="p", body={"name": "Rex"}))
    asyncio.run(tool_from_operation(SHOP, "listPets", shop.send)(body=[1, 2]))
    assert (shop.sent[0].body, shop.sent[0].has_body, dict(shop.sent[0].query)) == ({"name": "Rex"}, True, {})
    assert (shop.sent[1].body, shop.sent[1].has_body, shop.sent[1].query) == (None, False, {"body": [1, 2]})


@pytest.mark.promise("providers.sending")
@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_value_that_would_be_another_path_is_not_sent(value: str) -> None:
    shop = Shop()
    with pytest.raises(ToolError):
        asyncio.run(tool_from_operation(SHOP, "deletePet", shop.send)(shop="s", pet=value))
    assert shop.sent == []


@pytest.mark.promise("providers.sending")
def test_values_that_only_together_are_another_path_are_not_sent() -> None:
    parameters = [Parameter(name=name, place="path", required=True, schema={}) for name in ("a", "b")]
    with pytest.raises(ToolError):
        build_request("get", "/x/{a}{b}/y", parameters, {"a": ".", "b": "."})
    assert build_request("get", "/x/{a}{b}/y", parameters, {"a": ".", "b": "a"}).path == "/x/.a/y"


@pytest.mark.promise("providers.sending")
@pytest.mark.parametrize("value", ["a\r\nX-Admin: 1", "a\nb", "\x00", "tab\there", "del\x7f"])
def test_a_header_value_that_would_be_another_header_is_not_sent(value: str) -> None:
    header = Parameter(name="X-Note", place="header", required=False, schema={})
    with pytest.raises(ToolError):
        build_request("get", "/", [header], {"X-Note": value})
    assert build_request("get", "/", [header], {"X-Note": "plain"}).headers == {"X-Note": "plain"}


@pytest.mark.promise("providers.sending")
@given(shop=st.text(min_size=1), pet=st.text(min_size=1))
def test_whatever_the_arguments_the_path_keeps_its_parts(shop: str, pet: str) -> None:
    parameters = [Parameter(name=name, place="path", required=True, schema={}) for name in ("shop", "pet")]
    template = "/shops/{shop}/pets/{pet}"
    if {shop, pet} & {".", ".."}:
        with pytest.raises(ToolError):
            build_request("get", template, parameters, {"shop": shop, "pet": pet})
        return
    path = build_request("get", template, parameters, {"shop": shop, "pet": pet}).path
    parts = path.split("/")
    assert (parts[1], parts[3], len(parts)) == ("shops", "pets", 5)
    assert (unquote(parts[2], errors="surrogatepass"), unquote(parts[4], errors="surrogatepass")) == (shop, pet)
    assert path.isascii()
    assert not set(path) & set("?# \\;")


@pytest.mark.promise("providers.sending")
def test_values_are_written_as_json_writes_them() -> None:
    parameters = [Parameter(name="a", place="path", required=True, schema={})]
    for value, text in ((True, "true"), (None, "null"), (7, "7"), (1.5, "1.5"), ([1, "b", False], "1%2Cb%2Cfalse")):
        assert build_request("get", "/{a}", parameters, {"a": value}).path == f"/{text}"


REFUSED = {
    "no such operation": (SHOP, "nope", "operation_unknown"),
    "no paths": ({}, "getPet", "operation_unknown"),
    "paths of another kind": ({"paths": []}, "getPet", "operation_unknown"),
    "a path of another kind": ({"paths": {"/x": 7}}, "getPet", "operation_unknown"),
    "one name in two places": (changed(**{"/x": {"get": {"operationId": "o", "parameters": [
        {"name": "a", "in": "query", "schema": {}}, {"name": "a", "in": "header", "schema": {}}]}}}), "o", "operation_ambiguous"),
    "a parameter called as the body": (changed(**{"/x": {"post": {
        "operationId": "o", "parameters": [{"name": "body", "in": "query", "schema": {}}],
        "requestBody": {"content": {"application/json": {"schema": {}}}}}}}), "o", "operation_ambiguous"),
    "a body that is not JSON": (changed(**{"/x": {"post": {"operationId": "o", "requestBody": {
        "required": True, "content": {"text/csv": {}}}}}}), "o", "operation_unsupported"),
    "a needed cookie": (changed(**{"/x": {"get": {"operationId": "o", "parameters": [
        {"name": "a", "in": "cookie", "required": True, "schema": {}}]}}}), "o", "operation_unsupported"),
    "a needed parameter without a schema": (changed(**{"/x": {"get": {"operationId": "o", "parameters": [
        {"name": "a", "in": "query", "required": True, "content": {}}]}}}), "o", "operation_unsupported"),
    "a parameter without a name": (changed(**{"/x": {"get": {"operationId": "o", "parameters": [{"in": "query"}]}}}), "o", "operation_invalid"),
    "a parameter that is no object": (changed(**{"/x": {"get": {"operationId": "o", "parameters": [7]}}}), "o", "operation_invalid"),
    "a reference elsewhere": (changed(**{"/x": {"get": {"operationId": "o", "parameters": [
        {"$ref": "https://evil.example/p.json"}]}}}), "o", "reference_unknown"),
    "a reference to a file": (changed(**{"/x": {"get": {"operationId": "o", "parameters": [{"$ref": "file:///etc/passwd"}]}}}), "o", "reference_unknown"),
    "a reference to nothing": (changed(**{"/x": {"get": {"operationId": "o", "requestBody": {"$ref": "#/nothing/here"}}}}), "o", "reference_unknown"),
    "a reference to itself": ({"x": {"$ref": "#/x"}, "paths": {"/x": {"get": {"operationId": "o", "parameters": [{"$ref": "#/x"}]}}}}, "o", "reference_unknown"),
}  # fmt: skip


@pytest.mark.promise("providers.openapi-refused")
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_told_as_a_schema_is_refused_with_a_code(case: str) -> None:
    document, operation, code = REFUSED[case]
    with pytest.raises(RegistrationError) as refused:
        tool_from_operation(document, operation, Shop().send)
    assert refused.value.code == code


@pytest.mark.promise("providers.openapi-refused")
def test_a_schema_that_leads_elsewhere_is_refused_at_registration(tmp_path: Path) -> None:
    schema = {"$ref": "https://evil.example/schema.json"}
    document = changed(
        **{"/x": {"post": {"operationId": "o", "requestBody": {"content": {"application/json": {"schema": schema}}}}}}
    )
    with pytest.raises(RegistrationError), open_gate(tmp_path) as gate:
        gate.register(tool_from_operation(document, "o", Shop().send))


@pytest.mark.promise("providers.openapi")
def test_our_own_document_makes_tools_of_our_own_routes(tmp_path: Path) -> None:
    with open_gate(tmp_path / "served") as served:
        startup = StartupToken(value="0" * 64, path=None, cookie_name="c")
        desk = HttpContext(gate=served, identity=Identity(AuthSettings()), startup=startup)
        document = api(desk).openapi()
        every = [operation for item in document["paths"].values() for operation in item.values()]
        files = [operation["operationId"] for operation in every if takes_a_file(operation)]
        for name in files:
            with pytest.raises(RegistrationError):
                tool_from_operation(document, name, Shop({}).send)
        operations = [operation["operationId"] for operation in every if not takes_a_file(operation)]
        tools = [
            tool_from_operation(document, name, Shop({}).send, name=f"tool_{n}") for n, name in enumerate(operations)
        ]
        with open_gate(tmp_path / "calling", *tools) as gate:
            made = [card for card in gate.tools() if card.name.startswith("tool_")]
            assert len(made) == len(operations) > 15


def takes_a_file(operation: dict[str, Any]) -> bool:
    kinds = operation.get("requestBody", {}).get("content", {"application/json": {}})
    return "application/json" not in kinds
