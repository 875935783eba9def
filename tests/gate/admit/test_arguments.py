import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.admit.arguments import KEYS_MEET, NO_DRY_RUN, admit_call
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.admit.strictjson import BIG_INTEGER
from tallystick.gate.codes import BAD_ARGS, CANONICAL_WRITE, NO_PROVENANCE, UNKNOWN_TOOL
from tallystick.gate.tool import Card

READER = Card(
    name="file_reader",
    description="",
    input_schema={
        "type": "object",
        "properties": {
            "file_path": {"type": "string"},
            "start_line": {"type": "integer"},
            "ratio": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "integer"}},
            "options": {"type": "object", "properties": {"depth": {"type": "integer"}, "note": {"type": "string"}}},
            "maybe": {"type": ["string", "null"]},
        },
        "required": ["file_path"],
    },
)
LOCATOR = Card(
    name="file_locator",
    description="",
    input_schema={
        "type": "object",
        "properties": {
            "search_criteria": {"type": "string"},
            "max_results": {"type": "integer"},
            "dry_run": {"type": "boolean"},
        },
        "required": ["search_criteria"],
        "additionalProperties": False,
    },
    key_aliases={"limit": "max_results"},
    dry_run=True,
)
UPSTREAM = Card(
    name="up.tool",
    description="",
    input_schema={"type": "object", "properties": {"file_path": {"type": "string"}, "n": {"type": "integer"}}},
    origin="upstream",
)
MEMORY = Card(
    name="propose_proposition",
    description="",
    input_schema={
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "observation_ids": {"type": "array", "items": {"type": "string"}},
            "meta": {"type": "object"},
        },
        "required": ["text", "observation_ids"],
        "additionalProperties": False,
    },
    owned_keys=frozenset({"status", "confidence_score"}),
    provenance_key="observation_ids",
)


@pytest.fixture
def tools() -> Catalogue:
    made = Catalogue()
    for card in (READER, LOCATOR, UPSTREAM, MEMORY):
        made.add(card)
    return made


def admitted(outcome: Proposal | Rejection) -> Proposal:
    assert isinstance(outcome, Proposal), outcome
    return outcome


def refused(outcome: Proposal | Rejection) -> Rejection:
    assert isinstance(outcome, Rejection), outcome
    return outcome


@pytest.mark.promise("admit.call", "admit.gold-calls")
def test_an_exact_call_is_a_proposal_as_it_came(tools: Catalogue) -> None:
    args = {"file_path": "a.md", "start_line": 3}
    proposal = admitted(admit_call(tools, "file_reader", args, cot_leak=True))
    assert (proposal.tool, proposal.args, proposal.transformed, proposal.cot_leak) == ("file_reader", args, False, True)
    assert proposal.args is not args
    assert proposal.proposed_args is args


@pytest.mark.promise("admit.strictness", "admit.mutants")
@pytest.mark.parametrize(
    ("args", "pointer"),
    [
        ({"file_path": "a", "extra": 1}, "/extra"),
        ({"file_path": "a", "start_line": "7"}, "/start_line"),
        ({"file_path": "a", "start_line": True}, "/start_line"),
        ({"file_path": "a", "start_line": 7.5}, "/start_line"),
        ({"start_line": 7}, "/file_path"),
        ({"file_path": 7}, "/file_path"),
        ({"file_path": "a", "tags": [1, "2"]}, "/tags/1"),
        ({"file_path": "a", "ratio": True}, "/ratio"),
        ({"file_path": "a", "ratio": math.nan}, "/ratio"),
        ({"file_path": "a", "ratio": math.inf}, "/ratio"),
        ({"file_path": "a", "start_line": 2**53 + 1}, "/start_line"),
        ({"file_path": "a", "options": {"depth": "1"}}, "/options/depth"),
    ],
    ids=str,
)
def test_what_others_let_run_is_refused(tools: Catalogue, args: dict[str, Any], pointer: str) -> None:
    rejection = refused(admit_call(tools, "file_reader", args))
    assert (rejection.fault, rejection.pointer, rejection.proposed_tool) == (BAD_ARGS, pointer, "file_reader")


@pytest.mark.promise("admit.strictness")
@pytest.mark.parametrize(
    "tool", ["no_such_tool", "FILE_READER", "", None, 7, ["file_reader"], b"file_reader", {"a": 1}]
)
def test_an_unknown_tool_is_refused(tools: Catalogue, tool: object) -> None:
    rejection = refused(admit_call(tools, tool, {"file_path": "a"}))
    assert rejection.fault is UNKNOWN_TOOL
    assert rejection.proposed_tool == (tool if isinstance(tool, str) else None)


@pytest.mark.promise("admit.strictness")
@pytest.mark.parametrize("args", [None, "{}", [], 7, [("file_path", "a")], b"{}"])
def test_arguments_are_an_object(tools: Catalogue, args: object) -> None:
    assert refused(admit_call(tools, "file_reader", args)).fault is BAD_ARGS


@pytest.mark.promise("admit.echo")
def test_an_echoed_name_is_short_and_can_be_stored(tools: Catalogue) -> None:
    assert refused(admit_call(tools, "x" * 10_000, {})).proposed_tool == "x" * 100
    assert refused(admit_call(tools, "a\ud800", {})).proposed_tool == "a?"


@pytest.mark.promise("admit.whole-numbers")
@pytest.mark.parametrize(
    ("given", "taken"),
    [(7.0, 7), (-0.0, 0), (1e2, 100), (2.0**53, 2**53), (-3.0, -3)],
)
def test_an_integral_float_becomes_the_integer_it_is(tools: Catalogue, given: float, taken: int) -> None:
    args = {"file_path": "a", "start_line": given, "ratio": given, "tags": [given], "options": {"depth": given}}
    proposal = admitted(admit_call(tools, "file_reader", args))
    found = [
        proposal.args["start_line"],
        proposal.args["ratio"],
        proposal.args["tags"][0],
        proposal.args["options"]["depth"],
    ]
    assert found == [taken] * 4
    assert {type(value) for value in found} == {int}
    assert proposal.transformed is False
    assert args["start_line"] is given


@pytest.mark.promise("admit.whole-numbers")
def test_a_float_that_no_integer_may_hold_stays_one_where_a_number_is_asked_for(tools: Catalogue) -> None:
    assert admitted(admit_call(tools, "file_reader", {"file_path": "a", "ratio": 6.02e23})).args["ratio"] == 6.02e23
    for args, pointer in (
        ({"start_line": 1e22}, "/start_line"),
        ({"tags": [1, 1e300]}, "/tags/1"),
        ({"options": {"depth": 1e22}}, "/options/depth"),
    ):
        rejection = refused(admit_call(tools, "file_reader", {"file_path": "a", **args}))
        assert (rejection.reason, rejection.pointer) == (BIG_INTEGER, pointer)


@pytest.mark.promise("admit.forced-null")
def test_a_null_forced_on_an_optional_argument_is_dropped(tools: Catalogue) -> None:
    args = {"file_path": "a", "start_line": None, "tags": None, "options": {"depth": None, "note": "x"}, "maybe": None}
    proposal = admitted(admit_call(tools, "file_reader", args))
    assert proposal.args == {"file_path": "a", "options": {"note": "x"}, "maybe": None}
    assert proposal.transformed is True
    assert proposal.proposed_args == {
        "file_path": "a",
        "start_line": None,
        "tags": None,
        "options": {"depth": None, "note": "x"},
        "maybe": None,
    }


@pytest.mark.promise("admit.forced-null")
def test_other_nulls_are_refused(tools: Catalogue) -> None:
    for args in ({"file_path": None}, {"file_path": "a", "tags": [None]}, {"file_path": "a", "unknown": None}):
        assert refused(admit_call(tools, "file_reader", args)).fault is BAD_ARGS


@pytest.mark.promise("admit.forced-null")
def test_a_null_that_fits_is_kept(tools: Catalogue) -> None:
    proposal = admitted(admit_call(tools, "file_reader", {"file_path": "a", "maybe": None}))
    assert (proposal.args["maybe"], proposal.transformed) == (None, False)


@pytest.mark.promise("admit.forced-null")
def test_a_null_is_dropped_where_the_schema_refers_to_itself() -> None:
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}},
        "additionalProperties": False,
    }
    made = Catalogue()
    made.add(
        Card(
            name="t",
            description="",
            input_schema={
                "type": "object",
                "properties": {"n": {"type": "integer"}, "node": {"$ref": "#/$defs/node"}},
                "$defs": {"node": node},
            },
        )
    )
    proposal = admitted(admit_call(made, "t", {"n": None, "node": {"name": "x"}}))
    assert proposal.args == {"node": {"name": "x"}}
    assert refused(admit_call(made, "t", {"n": 1, "node": {"name": 1}})).pointer == "/node/name"


@pytest.mark.promise("admit.key-drift")
@pytest.mark.parametrize("key", ["path", "file", "File-Path", " file_path", "FILE PATH", "PATH", "file.path"])
def test_a_key_that_drifted_is_read_as_the_one_meant(tools: Catalogue, key: str) -> None:
    proposal = admitted(admit_call(tools, "file_reader", {key: "a", "Start-Line": 3}))
    assert proposal.args == {"file_path": "a", "start_line": 3}
    assert proposal.transformed is True
    assert proposal.proposed_args == {key: "a", "Start-Line": 3}


@pytest.mark.promise("admit.key-drift")
def test_shipped_and_own_aliases_of_keys_both_count(tools: Catalogue) -> None:
    proposal = admitted(admit_call(tools, "file_locator", {"query": "outline", "Limit": 4}))
    assert proposal.args == {"search_criteria": "outline", "max_results": 4}


@pytest.mark.promise("admit.key-drift")
@pytest.mark.parametrize(
    "args",
    [
        {"path": "a", "file_path": "b"},
        {"file_path": "b", "path": "a"},
        {"path": "a", "file": "a"},
        {"file_path": "a", "FILE_PATH": "a"},
    ],
)
def test_two_keys_that_meet_are_refused(tools: Catalogue, args: dict[str, Any]) -> None:
    rejection = refused(admit_call(tools, "file_reader", args))
    assert (rejection.fault, rejection.reason, rejection.pointer) == (BAD_ARGS, KEYS_MEET, "/file_path")


@pytest.mark.promise("admit.key-drift")
@pytest.mark.parametrize(
    "key", ["filepath", "file_pathh", "p\u0430th", "file_path\u200b", "__proto__", "constructor", "__class__", "$ref"]
)
def test_other_keys_are_unknown(tools: Catalogue, key: str) -> None:
    rejection = refused(admit_call(tools, "file_reader", {"file_path": "a", key: "a"}))
    assert rejection.fault is BAD_ARGS


@pytest.mark.promise("admit.key-drift")
def test_exact_comes_first() -> None:
    made = Catalogue()
    properties = {"path": {"type": "string"}, "file_path": {"type": "string"}, "Path": {"type": "string"}}
    made.add(Card(name="t", description="", input_schema={"type": "object", "properties": properties}))
    args = {"path": "a", "file_path": "b", "Path": "c"}
    assert admitted(admit_call(made, "t", args)).args == args
    # PATH could mean two of them, so it means none.
    assert refused(admit_call(made, "t", {"PATH": "x"})).pointer == "/PATH"
    # Here any key is allowed as it stands.
    made.add(
        Card(
            name="map",
            description="",
            input_schema={
                "type": "object",
                "properties": {"file_path": {"type": "string"}},
                "additionalProperties": {"type": "string"},
            },
        )
    )
    assert admitted(admit_call(made, "map", {"path": "a"})).args == {"path": "a"}


@pytest.mark.promise("admit.alias")
def test_an_alias_is_admitted_if_the_arguments_fit_and_then_transformed(tools: Catalogue) -> None:
    proposal = admitted(admit_call(tools, "read_file", {"path": "a"}))
    assert (proposal.tool, proposal.proposed_tool, proposal.transformed) == ("file_reader", "read_file", True)
    assert admitted(admit_call(tools, "read_file", {"file_path": "a"})).transformed is True
    assert refused(admit_call(tools, "list_files", {"directory": "a"})).fault is BAD_ARGS


@pytest.mark.promise("admit.alias")
def test_where_exactness_is_asked_for_nothing_is_translated(tools: Catalogue) -> None:
    assert refused(admit_call(tools, "read_file", {"file_path": "a"}, exact=True)).fault is UNKNOWN_TOOL
    assert refused(admit_call(tools, "file_reader", {"path": "a"}, exact=True)).fault is BAD_ARGS
    assert admitted(admit_call(tools, "file_reader", {"file_path": "a"}, exact=True)).transformed is False


@pytest.mark.promise("admit.upstream")
def test_keys_of_upstream_tools_are_exact(tools: Catalogue) -> None:
    # The schema is open as published, so the drifted key is one more key, not another spelling.
    proposal = admitted(admit_call(tools, "up.tool", {"path": "a", "n": 7.0}))
    assert (proposal.args, proposal.transformed) == ({"path": "a", "n": 7}, False)
    assert admitted(admit_call(tools, "up.tool", {"n": None})).args == {}
    assert refused(admit_call(tools, "up.tool", {"n": "7"})).fault is BAD_ARGS


@pytest.mark.promise("admit.guards")
@pytest.mark.parametrize(
    ("extra", "pointer"),
    [
        ({"status": "active"}, "/status"),
        ({"meta": {"deep": [{"confidence_score": 1}]}}, "/meta/deep/0/confidence_score"),
        ({"meta": {"Status": 1}}, "/meta/Status"),
        ({"Confidence-Score": 1}, "/Confidence-Score"),
    ],
    ids=str,
)
def test_a_field_of_policy_at_any_depth_is_a_direct_write(
    tools: Catalogue, extra: dict[str, Any], pointer: str
) -> None:
    # It comes before provenance and before the schema.
    rejection = refused(admit_call(tools, "propose_proposition", {"text": 7, **extra}))
    assert (rejection.fault, rejection.pointer) == (CANONICAL_WRITE, pointer)


@pytest.mark.promise("admit.guards")
@pytest.mark.parametrize("ids", [None, [], "", "  ", [""], [None], {}])
def test_a_durable_write_says_where_it_comes_from(tools: Catalogue, ids: Any) -> None:
    rejection = refused(admit_call(tools, "propose_proposition", {"text": 7, "observation_ids": ids}))
    assert (rejection.fault, rejection.pointer) == (NO_PROVENANCE, "/observation_ids")
    assert refused(admit_call(tools, "propose_proposition", {"text": "a"})).fault is NO_PROVENANCE


@pytest.mark.promise("admit.guards")
def test_after_the_guards_the_schema_decides(tools: Catalogue) -> None:
    assert refused(admit_call(tools, "propose_proposition", {"text": "a", "observation_ids": 7})).fault is BAD_ARGS
    proposal = admitted(admit_call(tools, "propose_proposition", {"text": "a", "Observation-Ids": ["o1"]}))
    assert proposal.args == {"text": "a", "observation_ids": ["o1"]}


@pytest.mark.promise("admit.guards")
def test_other_tools_may_have_such_a_field() -> None:
    made = Catalogue()
    made.add(
        Card(
            name="search_issues",
            description="",
            input_schema={"type": "object", "properties": {"status": {"enum": ["open"]}}},
        )
    )
    assert admitted(admit_call(made, "search_issues", {"status": "open"})).args == {"status": "open"}


@pytest.mark.promise("admit.dry-run")
def test_a_dry_run_is_asked_for_only_where_the_tool_offers_it(tools: Catalogue) -> None:
    for own in ({}, {"dry_run": False}, {"dry_run": True}):
        proposal = admitted(admit_call(tools, "file_locator", {"search_criteria": "a", **own}, dry_run=True))
        assert (proposal.args["dry_run"], proposal.dry_run, proposal.transformed) == (True, True, False)
    rejection = refused(admit_call(tools, "file_reader", {"file_path": "a"}, dry_run=True))
    assert (rejection.fault, rejection.reason) == (BAD_ARGS, NO_DRY_RUN)


@pytest.mark.promise("admit.dry-run")
def test_a_dry_run_in_the_arguments_is_one_too(tools: Catalogue) -> None:
    assert admitted(admit_call(tools, "file_locator", {"search_criteria": "a", "dry_run": True})).dry_run is True
    assert admitted(admit_call(tools, "file_locator", {"search_criteria": "a", "dry_run": False})).dry_run is False


@pytest.mark.promise("admit.no-content-filter")
@pytest.mark.parametrize(
    "text",
    [
        "'; DROP TABLE x; --",
        "<script>alert(1)</script>",
        "$(rm -rf /)",
        "{{7*7}}",
        "import os",
        "\x00\x1b[31m",
        "é" * 100,
        "<think>x</think>",
    ],
)
def test_no_text_is_refused_or_changed_for_what_it_says(tools: Catalogue, text: str) -> None:
    assert admitted(admit_call(tools, "file_reader", {"file_path": text})).args == {"file_path": text}


@pytest.mark.promise("admit.no-echo")
@given(
    st.dictionaries(
        st.sampled_from(["file_path", "start_line", "ratio", "tags", "options", "path", "zz"]),
        st.just("S3CRET-VALUE")
        | st.just(["S3CRET-VALUE"])
        | st.just({"note": "S3CRET-VALUE", "depth": "S3CRET-VALUE"}),
    )
)
def test_a_rejection_never_holds_a_value(args: dict[str, Any]) -> None:
    made = Catalogue()
    made.add(READER)
    outcome = admit_call(made, "file_reader", args)
    if isinstance(outcome, Rejection):
        assert "S3CRET" not in str(outcome.as_dict())


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.promise("admit.no-crash")
@given(
    tool=st.sampled_from([*(card.name for card in (READER, LOCATOR, UPSTREAM, MEMORY)), "read_file", "x"]) | anything,
    args=st.dictionaries(
        st.sampled_from(
            [
                "file_path",
                "path",
                "start_line",
                "tags",
                "options",
                "n",
                "text",
                "observation_ids",
                "search_criteria",
                "query",
                "dry_run",
                "status",
            ]
        )
        | st.text(max_size=5),
        anything,
    )
    | anything,
    dry_run=st.booleans(),
    exact=st.booleans(),
)
def test_any_call_gives_a_proposal_that_fits_or_a_rejection(
    tool: object, args: object, *, dry_run: bool, exact: bool
) -> None:
    made = Catalogue()
    for card in (READER, LOCATOR, UPSTREAM, MEMORY):
        made.add(card)
    outcome = admit_call(made, tool, args, dry_run=dry_run, exact=exact)
    if isinstance(outcome, Proposal):
        entry = made.get(outcome.tool)
        assert entry is not None
        assert entry.input.accepts(outcome.args)
        # What comes out goes in again and stays the same.
        again = admit_call(made, outcome.tool, outcome.args, dry_run=dry_run, exact=True)
        assert isinstance(again, Proposal)
        assert (again.args, again.transformed) == (outcome.args, False)
    else:
        assert isinstance(outcome, Rejection)


@pytest.mark.promise("admit.key-drift")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/args", "$defs": {"args": {"properties": {"file_path": {"type": "string"}}}}},
        {
            "allOf": [{"$ref": "#/$defs/args"}, True],
            "$defs": {"args": {"properties": {"file_path": {"type": "string"}}}},
        },
        {"anyOf": [{"properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}, {"maxProperties": 0}]},
    ],
    ids=str,
)
def test_keys_named_by_reference_or_in_parts_count_as_named(schema: dict[str, Any]) -> None:
    made = Catalogue()
    entry = made.add(Card(name="t", description="", input_schema=schema))
    assert entry.properties == {"file_path"}
    assert admitted(admit_call(made, "t", {"Path": "a"})).args == {"file_path": "a"}


@pytest.mark.promise("admit.linear")
@pytest.mark.parametrize(
    "args",
    [
        {"file_path": "a", "tags": [None] * 13_000},
        {"file_path": "a", "tags": [1e300] * 9_000},
        {"file_path": "a", "tags": ["x"] * 9_000},
        {"file_path": "a", "options": {f"k{i}": None for i in range(5_000)}, "start_line": "x"},
        {"file_path": "a", **{f"k{i}": None for i in range(5_000)}},
        {f"K-{i}": i for i in range(5_000)},
    ],
    ids=lambda args: f"{str(args)[:40]}...",
)
def test_no_arguments_take_long(tools: Catalogue, args: dict[str, Any]) -> None:
    started = time.process_time()
    assert refused(admit_call(tools, "file_reader", args)).fault is BAD_ARGS
    assert time.process_time() - started < 2
