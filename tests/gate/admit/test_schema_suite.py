"""The official suite for draft 2020-12: required and optional parts."""

import json
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import RegistrationError
from tallystick.gate.admit.schema import CompiledSchema, compile_schema

REFUSED_ON_PURPOSE = {
    "schema_remote_ref": "the suite's own server is outside the schema; nothing is fetched",
    "schema_draft": "a metaschema of the suite's own would have to be fetched",
}
"""Groups that cannot be registered: their schema must name the suite's server."""
SERVER = "http://localhost:1234"
BEYOND_64_BITS = "bignum.json"
"""A schema with a number beyond 64 bits is refused: it could not stand in a signed record."""
READ_OTHERWISE = {
    ("format.json", "is only an annotation by default"): "format is asserted here",
}
"""(file, part of the description) → why our answer differs from the suite's."""


def excused(file: str, description: str) -> bool:
    return any(file == where and part in description for where, part in READ_OTHERWISE)


def registered(schema: dict[str, Any]) -> CompiledSchema | RegistrationError:
    try:
        return compile_schema(schema, closed=False)
    except RegistrationError as error:
        return error


@pytest.mark.promise("admit.schema-suite")
def test_every_case_of_the_schema_suite_is_answered_as_the_suite_says(data: Path) -> None:
    files = sorted((data / "json-schema-test-suite" / "dev" / "draft2020-12").rglob("*.json"))
    if not files:
        pytest.skip("left out: json-schema-test-suite, TALLY_DATA not there")
    right, wrong = 0, []
    for path in files:
        for group in json.loads(path.read_bytes()):
            # A boolean is no schema to us: registration asks for an object, and {} and {"not": {}} say the same.
            schema: dict[str, Any] = (
                group["schema"] if isinstance(group["schema"], dict) else {"allOf": [group["schema"]]}
            )
            compiled = registered(schema)
            if isinstance(compiled, RegistrationError):
                what = f"{path.name}: {group['description']}: {compiled.code}"
                assert compiled.code in REFUSED_ON_PURPOSE or path.name == BEYOND_64_BITS, what
                assert SERVER in json.dumps(schema) or path.name == BEYOND_64_BITS, what
                continue
            for case in group["tests"]:
                if compiled.accepts(case["data"]) is case["valid"]:
                    right += 1
                    # Whatever is refused can be explained.
                    assert case["valid"] or compiled.explain(case["data"])[1]
                elif not excused(path.name, case["description"]):
                    wrong.append(f"{path.name}: {group['description']}: {case['description']}")
    assert wrong == []
    assert right > 1_000
