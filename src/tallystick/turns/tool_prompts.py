"""Prompt texts with which a room overrides a tool's card."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tallystick.records import record


@record
class ToolPrompt:
    """The prompt text of one tool."""

    description: str | None = None
    """None: the description of its card."""
    example: Mapping[str, Any] | None = None
    """An example call as the model must write it, with `<TOOL_NONCE>` for the nonce."""


ToolPrompts = Mapping[str, ToolPrompt]
"""Prompt texts by tool id."""
NO_TOOL_PROMPTS: ToolPrompts = MappingProxyType({})
