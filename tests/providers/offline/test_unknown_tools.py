"""Tools it has never seen: chosen by card, filled by schema, chained by ids, summarised from their fields."""

import json
from typing import Any

import pytest

from tallystick import tool
from tallystick.providers.offline.model import respond
from tests.gates import open_gate
from tests.offline_turns import GUEST, ask, tools_of
from tests.providers.offline.prompts import card, prompt

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
ORDER = card("get_order", "Look up an order: status, items and customer.", {"order_id": TEXT}, ["order_id"])
CUSTOMER = card("get_customer", "Fetch a customer's name and email address.", {"customer_id": TEXT}, ["customer_id"])
WEATHER = card(
    "weather.forecast", "Weather forecast for a city on a day.",
    {"city": TEXT, "date": {"type": "string", "format": "date"}, "units": {"enum": ["metric", "imperial"]}}, ["city"],
)  # fmt: skip
MAIL = card(
    "send_email", "Send an email message.", {"to": {"type": "string", "format": "email"}, "subject": TEXT, "body": TEXT},
    ["to", "subject"], effect="external",
)  # fmt: skip
REFUND = card(
    "issue_refund",
    "Refund an order.",
    {"order_id": TEXT, "amount": {"type": "number"}},
    ["order_id", "amount"],
    "write",
)
ALL = (ORDER, CUSTOMER, WEATHER, MAIL, REFUND)


def call(message: str, *cards: str, **more: Any) -> dict[str, Any] | str:
    said = respond(prompt(message, *cards, **more))
    return json.loads(said) if said.startswith("{") else said


@pytest.mark.promise("offline.cards", "offline.arguments")
@pytest.mark.parametrize(
    ("message", "name", "args"),
    [
        ("What is the status of order A-1234?", "get_order", {"order_id": "A-1234"}),
        ("is order number 778812 shipped already", "get_order", {"order_id": "778812"}),
        ("Fetch the email address of customer C_99", "get_customer", {"customer_id": "C_99"}),
        ("What's the weather forecast in Lisbon?", "weather.forecast", {"city": "Lisbon"}),
        (
            "Weather forecast for New York on 3 March 2026 in imperial units",
            "weather.forecast",
            {"city": "New York", "units": "imperial"},
        ),
        (
            'Send an email to ann@example.org with subject "Late parcel"',
            "send_email",
            {"to": "ann@example.org", "subject": "Late parcel"},
        ),
        ("Refund 12.50 for order B-77", "issue_refund", {"order_id": "B-77", "amount": 12.5}),
    ],
)
def test_a_tool_is_chosen_by_its_card_and_filled_from_the_request(
    message: str, name: str, args: dict[str, Any]
) -> None:
    made = call(message, *ALL)
    assert isinstance(made, dict)
    assert made["tool"] == name
    assert args.items() <= made["args"].items()


@pytest.mark.promise("offline.arguments")
@pytest.mark.parametrize(
    ("schema", "message", "value"),
    [
        ({"type": "string", "pattern": "^[A-Z]{2}[0-9]{4}$"}, "track parcel XY1234 please", "XY1234"),
        ({"type": "array", "items": TEXT}, "track parcel P-1 and P-2", ["P-1", "P-2"]),
        ({"type": "integer", "minimum": 1}, "track parcel 55", 55),
        ({"enum": ["fast", "slow"]}, "track the slow parcel", "slow"),
        (
            {"type": ["string", "null"], "format": "uri"},
            "track parcel at https://x.example/p/1.",
            "https://x.example/p/1",
        ),
        ({"type": "string", "format": "date"}, "track the parcel of March 5, 2026", "2026-03-05"),
    ],
)
def test_arguments_follow_the_schema(schema: dict[str, Any], message: str, value: Any) -> None:
    made = call(message, card("track_parcel", "Track a parcel.", {"parcel_id": schema}, ["parcel_id"]))
    assert isinstance(made, dict)
    assert made["args"] == {"parcel_id": value}


@pytest.mark.promise("offline.arguments")
@pytest.mark.parametrize(
    ("properties", "required", "args"),
    [
        ({"speed": {"type": "array", "items": {"enum": ["fast", "slow"]}}}, ["speed"], {"speed": ["slow"]}),
        ({"sizes": {"type": "array", "items": WHOLE}}, ["sizes"], {"sizes": [3, 14]}),
        ({"where": {"type": "object", "properties": {"city": TEXT}, "required": ["city"]}}, ["where"], {"where": {"city": "Oslo"}}),
        ({"page": {**WHOLE, "default": 1}}, ["page"], {"page": 1}),
        ({"insured": {"type": "boolean"}, "slow": {"type": "boolean"}}, ["insured", "slow"], {"insured": False, "slow": True}),
        ({"dry_run": {"type": "boolean"}}, ["dry_run"], {"dry_run": False}),
        ({"speed": {"$ref": "#/$defs/Speed"}}, ["speed"], {"speed": "slow"}),
        ({"speed": {"anyOf": [{"type": "null"}, {"type": "integer"}]}}, ["speed"], {"speed": 3}),
        ({"kind": {"const": "parcel"}}, ["kind"], {"kind": "parcel"}),
        ({"colour": TEXT}, [], {"colour": "red"}),
    ],
)  # fmt: skip
def test_every_kind_of_argument_is_filled(
    properties: dict[str, Any], required: list[str], args: dict[str, Any]
) -> None:
    made_card = json.loads(card("track_parcel", "Track a parcel.", properties, required))
    made_card["args"]["$defs"] = {"Speed": {"enum": ["fast", "slow"]}}
    made = call("track the slow parcel to Oslo, sizes 3 and 14, colour: red", json.dumps(made_card))
    assert isinstance(made, dict)
    assert made["args"] == args


@pytest.mark.promise("offline.arguments")
@pytest.mark.parametrize(
    "schema",
    [{"type": "object", "properties": {"x": TEXT}, "required": ["x"]}, {"enum": ["a", "b"]}, {"$ref": "#/$defs/no"}],
)
def test_what_the_request_does_not_name_is_left_open(schema: dict[str, Any]) -> None:
    said = call("please track_parcel now", card("track_parcel", "Track a parcel.", {"what": schema}, ["what"]))
    assert isinstance(said, str)
    assert "what" in said


@pytest.mark.promise("offline.steps")
def test_a_file_is_read_on_where_nothing_can_search_it() -> None:
    reader = card(
        "read_page", "Read lines of a file.", {"file_path": TEXT, "start_line": WHOLE, "end_line": WHOLE}, ["file_path"]
    )
    first = {
        "path": "log.md",
        "sha256": "0",
        "start_line": 1,
        "next_start_line": 251,
        "text": "nothing yet\nand nothing",
    }
    made = call(
        "What does log.md say of the alchemist?",
        reader,
        results=[("read_page", {"file_path": "log.md"}, json.dumps(first))],
    )
    assert isinstance(made, dict)
    assert (made["tool"], made["args"]) == ("read_page", {"file_path": "log.md", "start_line": 251})


@pytest.mark.promise("offline.honest")
@pytest.mark.parametrize(
    ("message", "name", "missing"),
    [
        ("Send an email to Bob", "send_email", "to"),
        ("Please issue_refund for order B-77", "issue_refund", "amount"),
        ("Use get_order to see what happened", "get_order", "order_id"),
    ],
)
def test_an_argument_that_cannot_be_found_is_asked_for_and_never_made_up(message: str, name: str, missing: str) -> None:
    said = call(message, *ALL)
    assert isinstance(said, str)
    assert name in said
    assert missing in said


@pytest.mark.promise("offline.cards")
@pytest.mark.parametrize("message", ["What is a refund?", "Is there an email about order A-1?", "Tell me of customers"])
def test_what_changes_things_is_not_called_for_a_question(message: str) -> None:
    made = call(message, *ALL)
    assert isinstance(made, str) or made["tool"] not in {"send_email", "issue_refund"}


@pytest.mark.promise("offline.steps")
def test_an_id_in_a_result_fills_the_next_tool_that_was_asked_for() -> None:
    result = json.dumps({"order_id": "A-1", "status": "lost", "customer_id": "C-9"})
    made = call(
        "Look up order A-1 and fetch the email of its customer",
        *ALL,
        results=[("get_order", {"order_id": "A-1"}, result)],
    )
    assert isinstance(made, dict)
    assert (made["action"], made["tool"], made["args"]) == ("tool", "get_customer", {"customer_id": "C-9"})


@pytest.mark.promise("offline.steps")
def test_several_that_are_named_are_looked_up_one_after_the_other() -> None:
    made = call(
        "Compare order A-1 and order A-2", *ALL, results=[("get_order", {"order_id": "A-1"}, '{"status": "sent"}')]
    )
    assert isinstance(made, dict)
    assert made["args"] == {"order_id": "A-2"}


@pytest.mark.promise("offline.fields")
def test_a_result_of_any_shape_is_told_from_its_fields(tmp_path: Any) -> None:
    @tool(effect="read")
    def stock_level(product: str) -> dict[str, Any]:
        """Stock level of a product in each warehouse."""
        return {
            "product": product,
            "total": 42,
            "warehouses": [{"city": "Oslo", "units": 40}, {"city": "Rome", "units": 2}],
        }

    with open_gate(tmp_path, stock_level) as gate:
        result = ask(gate, 'What is the stock level of product "blue lamp"?', GUEST)
        assert tools_of(result) == ["stock_level"]
        assert result.reply is not None
        assert all(word in result.reply for word in ("blue lamp", "42", "Oslo", "40"))
        assert result.findings is not None
        assert result.findings.receipts == result.receipts


@pytest.mark.promise("offline.fields")
@pytest.mark.parametrize(
    "value", ["plain text", 7, [], {}, None, [1, 2], {"a": None}, {"a": {"b": [{"c": "deep"}]}}, ["x"] * 500, True]
)
def test_no_result_is_too_strange_for_an_answer_that_holds(tmp_path: Any, value: Any) -> None:
    @tool(effect="read", output_schema={}, input_schema={"type": "object", "properties": {}})
    def lamp_state() -> Any:
        """State of the lamp."""
        return value

    with open_gate(tmp_path, lamp_state) as gate:
        result = ask(gate, "What is the state of the lamp?", GUEST)
        assert result.rejected is None
        assert tools_of(result) == ["lamp_state"]


@pytest.mark.promise("offline.honest")
def test_a_tool_that_fails_is_told_with_its_receipt(tmp_path: Any) -> None:
    @tool(effect="read")
    def lamp_state(lamp_id: str) -> str:
        """State of a lamp."""
        raise ValueError(lamp_id)

    with open_gate(tmp_path, lamp_state) as gate:
        result = ask(gate, "What is the state of lamp L-7?", GUEST)
        assert result.rejected is None
        assert result.reply is not None
        assert "could not" in result.reply
