"""Parse `KEY=VALUE` arguments."""

from collections.abc import Mapping
from typing import Any

from tallystick.doors.cli.exits import UsageMistake


def from_pairs(pairs: list[str], properties: Mapping[str, Any], *, option: str) -> dict[str, Any]:
    """Parse pairs: `KEY=VALUE` is text where the schema takes text, and JSON otherwise; `KEY:=JSON` is always JSON.

    Args:
        pairs: The pairs as given.
        properties: The properties of a JSON Schema.
        option: The option's name, for messages.

    Raises:
        UsageMistake: One is not a pair, is given twice, or is not JSON.
    """
    given: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.rstrip(":"):
            raise UsageMistake(f"{option} {pair:.60}: write KEY=VALUE, or KEY:=JSON.")
        is_json = key.endswith(":")
        key = key.removesuffix(":")
        if key in given:
            raise UsageMistake(f"{option} {key:.60} is given twice.")
        given[key] = _value(f"{option} {key:.60}", value, is_json=is_json, takes=properties.get(key))
    return given


def _value(named: str, value: str, *, is_json: bool, takes: Any) -> Any:
    from tallystick.gate.admit.proposal import Rejection
    from tallystick.gate.admit.strictjson import parse_strict

    kind = takes.get("type") if isinstance(takes, dict) else None
    if not is_json and kind in {None, "string"}:
        return value
    read = parse_strict(value.encode(errors="surrogateescape"))
    if not isinstance(read, Rejection):
        return read
    if is_json:
        raise UsageMistake(f"{named}: the value is not JSON ({read.reason}).")
    return value  # the schema check reports what is wrong with it
