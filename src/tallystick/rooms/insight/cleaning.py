"""Arguments without personal data.

Every tool of the room takes its arguments through here before the gate looks at them (`Tool.clean`), so a question
leaves placeholders in its receipt, whatever door it came by: a route, a command, an agent, another room.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.gate.tool import Tool

EXACT = frozenset({"file_path", "date_from", "date_to"})
"""Arguments that are no words of anybody's, and must reach the tool as they are."""


def cleaning(tools: Iterable[Tool], clean: Callable[[str], str]) -> list[Tool]:
    """The tools, each with its arguments cleaned first."""

    def arguments(args: Mapping[str, Any]) -> dict[str, Any]:
        return {clean(name): value if name in EXACT else _cleaned(value, clean) for name, value in args.items()}

    return [replace(tool, clean=arguments) for tool in tools]


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(each, clean) for each in value]
    if isinstance(value, dict):
        return {_cleaned(name, clean): _cleaned(each, clean) for name, each in value.items()}
    return value
