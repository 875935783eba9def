"""Real tool schemas and real calls: every gold call that fits its schema is admitted, every mutant refused.

The suite writes types in four dialects (Python, Java, JavaScript, its own), so they are translated here. Some of its
gold calls break their own schema; the suite's folder lists them, and those are not held against us.
"""

import ast
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.envelope import Envelope, open_envelope
from tallystick.gate.admit.names import TOOL_ID, Catalogue
from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.tool import Card

TYPES = {
    "dict": "object", "HashMap": "object", "Hashtable": "object", "object": "object",
    "float": "number", "double": "number", "number": "number",
    "tuple": "array", "array": "array", "Array": "array", "ArrayList": "array", "list": "array", "Set": "array",
    "Queue": "array", "Stack": "array",
    "integer": "integer", "int": "integer", "long": "integer", "short": "integer", "byte": "integer",
    "Integer": "integer", "Bigint": "integer",
    "boolean": "boolean", "Boolean": "boolean", "bool": "boolean",
    "string": "string", "String": "string", "char": "string", "str": "string",
}  # fmt: skip
"""`any` and names of classes have no type in JSON Schema: anything goes."""
LEFT_OUT = "left out: gold calls of bfcl-v4, TALLY_DATA not there"
NO_SUCH_KEY = "zz_no_such_key"


def schema_of(spec: dict[str, Any]) -> dict[str, Any]:
    """A function's parameters as JSON Schema 2020-12."""
    schema: dict[str, Any] = {}
    if spec.get("type") in TYPES:
        schema["type"] = TYPES[spec["type"]]
    if isinstance(spec.get("properties"), dict):
        schema["properties"] = {name: schema_of(sub) for name, sub in spec["properties"].items()}
        schema["additionalProperties"] = False
        if isinstance(spec.get("required"), list):
            schema["required"] = spec["required"]
    if isinstance(spec.get("items"), dict):
        schema["items"] = schema_of(spec["items"])
    # In an array's description the list names its items.
    if isinstance(spec.get("enum"), list) and schema.get("type") != "array":
        schema["enum"] = spec["enum"]
    return schema


def gold_args(answer: dict[str, list[Any]], spec: dict[str, Any]) -> dict[str, Any]:
    """One call out of the accepted alternatives; "" stands for leaving an argument out."""
    required = spec.get("required") or []
    args = {}
    for name, alternatives in answer.items():
        if "" in alternatives and name not in required:
            alternatives = [value for value in alternatives if value != ""]  # noqa: PLW2901
        if alternatives:
            args[name] = _plain(alternatives[0], (spec.get("properties") or {}).get(name) or {})
    return args


def _plain(value: Any, spec: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        inner = {
            name: alternatives if isinstance(alternatives, list) else [alternatives]
            for name, alternatives in value.items()
        }
        return gold_args(inner, spec)
    if isinstance(value, list):
        items = spec.get("items") or {}
        return [_plain(item, items) if isinstance(item, dict) else item for item in value]
    return value


def single_turn(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]], str, dict[str, Any]]]:
    """(id, functions, tool, args) of every gold call of the single-turn files."""
    for answers in sorted((folder / "dev" / "possible_answer").glob("*.json")):
        truths = {line["id"]: line["ground_truth"] for line in _lines(answers)}
        for task in _lines(folder / "dev" / answers.name):
            for call in truths.get(task["id"], []):
                if "function" not in task or not isinstance(call, dict):
                    continue
                for tool, answer in call.items():
                    spec = next(function for function in task["function"] if function["name"] == tool)["parameters"]
                    yield task["id"], task["function"], tool, gold_args(answer, spec)


def multi_turn(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]], str, dict[str, Any]]]:
    """The same for the multi-turn files, whose calls are written as Python."""
    functions = [
        function
        for path in sorted((folder / "shared" / "multi_turn_func_doc").glob("*.json"))
        for function in _lines(path)
    ]
    known = {function["name"]: function for function in functions}
    for answers in sorted((folder / "dev" / "possible_answer").glob("*multi_turn*.json")):
        for line in _lines(answers):
            for text in (text for turn in line["ground_truth"] for text in turn):
                call = ast.parse(text, mode="eval").body
                assert isinstance(call, ast.Call)
                assert isinstance(call.func, ast.Name)
                spec = known[call.func.id]["parameters"]
                names = list(spec["properties"])
                args = {names[place]: ast.literal_eval(value) for place, value in enumerate(call.args)}
                args |= {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
                yield line["id"], [known[call.func.id]], call.func.id, args


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def catalogue_of(functions: list[dict[str, Any]]) -> Catalogue:
    catalogue = Catalogue()
    for function in functions:
        if catalogue.get(function["name"]) is None and TOOL_ID.fullmatch(function["name"]):
            schema = schema_of(function["parameters"])
            catalogue.add(Card(name=function["name"], description="", input_schema={**schema, "type": "object"}))
    return catalogue


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """A second opinion on the few keywords used here, written apart from the code under test."""
    kinds = {
        "object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
    }  # fmt: skip
    kind = schema.get("type")
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return True
    wrong = kind is not None and not isinstance(value, kinds[kind])
    if wrong or (isinstance(value, bool) and kind in {"integer", "number"}):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, list):
        return all(fits(item, schema.get("items", {})) for item in value)
    if isinstance(value, dict) and "properties" in schema:
        known, required = schema["properties"], set(schema.get("required", []))
        # A null for an optional argument is how providers say that it was left out.
        given = {name: item for name, item in value.items() if item is not None or name in required}
        return required <= set(given) <= set(known) and all(fits(item, known[name]) for name, item in given.items())
    return True


def mutants(tool: str, args: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[str, object, object]]:
    """(what was done, tool, args): calls that must not be admitted."""
    yield "extra key", tool, {**args, NO_SUCH_KEY: 1}
    yield "unknown tool", tool + "_x", args
    yield "other case", tool.swapcase(), args
    yield "space around the name", f" {tool}", args
    yield "zero-width space in the name", tool + "\u200b", args
    yield "args as text", tool, json.dumps(args)
    yield "args in a list", tool, [args]
    for name in schema.get("required", []):
        yield "missing required", tool, {key: value for key, value in args.items() if key != name}
        if schema["properties"][name].get("type") is not None:
            yield "null for a required one", tool, {**args, name: None}
    for name, value in args.items():
        kind = schema["properties"].get(name, {}).get("type")
        if kind == "integer":
            yield "bool for int", tool, {**args, name: True}
            yield "text for int", tool, {**args, name: str(value)}
            yield "fraction for int", tool, {**args, name: 7.5}
            yield "int beyond 2^53", tool, {**args, name: 2**53 + 1}
        if kind in {"integer", "number"}:
            yield "NaN", tool, {**args, name: float("nan")}
            yield "infinity", tool, {**args, name: float("inf")}
        if kind is not None:
            yield "wrong type", tool, {**args, name: ["x"] if kind != "array" else {"x": "x"}}
        if kind == "boolean":
            yield "int for bool", tool, {**args, name: 1}
            yield "text for bool", tool, {**args, name: "true"}


@pytest.mark.promise("admit.gold-calls")
def test_every_gold_call_that_fits_its_schema_is_admitted(data: Path) -> None:
    folder = data / "bfcl-v4"
    if not folder.exists():
        pytest.skip(LEFT_OUT)
    listed = {
        (line["id"], line["tool"]) for line in json.loads((folder / "dev/KNOWN_GOLD_VIOLATIONS.json").read_bytes())
    }
    counts: Counter[str] = Counter()
    for id_, functions, tool, args in [*single_turn(folder), *multi_turn(folder)]:
        catalogue = catalogue_of(functions)
        entry = catalogue.get(tool)
        assert entry is not None, f"{tool}: not a tool id"
        expected = fits(args, entry.input.schema)
        admitted = isinstance(admit_call(catalogue, tool, args), Proposal)
        assert admitted or not expected, f"{id_} {tool}: a gold call was refused"
        if not expected:
            counts["breaks its own schema" if (id_, tool) in listed else "names a variable where a value belongs"] += 1
        counts["admitted"] += admitted
    assert counts["admitted"] > 4000
    assert counts["names a variable where a value belongs"] < 30


@pytest.mark.promise("admit.mutants")
def test_every_mutant_of_a_gold_call_is_refused(data: Path) -> None:
    folder = data / "bfcl-v4"
    if not folder.exists():
        pytest.skip(LEFT_OUT)
    refused = 0
    done: set[str] = set()
    for id_, functions, tool, args in [*single_turn(folder), *multi_turn(folder)]:
        catalogue = catalogue_of(functions)
        entry = catalogue.get(tool)
        assert entry is not None
        # The multi-turn files repeat themselves fourfold.
        if not fits(args, entry.input.schema) or (key := f"{tool} {args}") in done:
            continue
        done.add(key)
        for what, name, wrong in mutants(tool, args, entry.input.schema):
            assert isinstance(admit_call(catalogue, name, wrong), Rejection), f"{id_} {tool}: {what} was admitted"
            refused += 1
        for text in twice_the_same_key(tool, args):
            assert isinstance(open_envelope(text, first=True), Rejection), f"{id_} {tool}: a duplicate key was read"
            refused += 1
    assert refused > 20_000


@pytest.mark.promise("admit.gold-calls")
def test_gold_calls_come_through_the_envelope_unchanged(data: Path) -> None:
    folder = data / "bfcl-v4"
    if not folder.exists():
        pytest.skip(LEFT_OUT)
    for _, _, tool, args in single_turn(folder):
        envelope = open_envelope(json.dumps({"tool": tool, "args": args, "nonce": "n"}), first=True)
        assert isinstance(envelope, Envelope)
        assert (envelope.tool, envelope.args) == (tool, args)


def twice_the_same_key(tool: str, args: dict[str, Any]) -> Iterator[str]:
    yield json.dumps({"tool": tool, "args": args, "nonce": "n"})[:-1] + ',"tool":"other"}'
    for name in args:
        key = json.dumps(name)
        escaped = '"' + "".join(f"\\u{ord(letter):04x}" for letter in name) + '"'
        rest = json.dumps(args)[1:-1]
        yield f'{{"tool":{json.dumps(tool)},"args":{{{rest},{key}:1}},"nonce":"n"}}'
        yield f'{{"tool":{json.dumps(tool)},"args":{{{rest},{escaped}:1}},"nonce":"n"}}'
