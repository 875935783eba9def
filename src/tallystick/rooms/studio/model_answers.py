"""Ask a model for one JSON object and parse its answer."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.records import record
from tallystick.turns.thought_blocks import put_aside

_FENCE = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*)\n```\s*\Z", re.DOTALL)


@record
class ModelUnavailable:
    """The model does not answer; send it no further requests."""

    code: str


AskModel = Callable[[str], str | ModelUnavailable]
"""Sends a bare prompt to a model."""


def object_in(answer: str, most_bytes: int) -> Mapping[str, Any] | None:
    """Return the JSON object in an answer, ignoring reasoning text and code fences; None if there is none."""
    text, _ = put_aside(answer)
    fenced = _FENCE.match(text)
    found = parse_json_object((fenced.group(1) if fenced else text.strip()).encode(errors="replace"), most_bytes)
    return None if isinstance(found, Rejection) else found
