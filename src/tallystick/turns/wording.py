"""How a tool is put to a model, where a room words it otherwise than its card."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tallystick.records import record


@record
class Wording:
    """What is said of one tool."""

    description: str | None = None
    """None: what its card says."""
    example: Mapping[str, Any] | None = None
    """One call as the model must write it, with `<TOOL_NONCE>` for the nonce."""


Wordings = Mapping[str, Wording]
"""By the tool's id."""
NO_WORDINGS: Wordings = MappingProxyType({})
