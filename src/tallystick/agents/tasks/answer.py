"""Parse one JSON object from a model as strictly as an envelope, after removing a leading thinking block."""

from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.turns.thought_blocks import put_aside

MAX_ANSWER_BYTES = 1024 * 1024
"""Twice the size of a packet with the longest allowed context in a script of four bytes per character."""


def read_object(text: str, *, code: str) -> dict[str, Any] | Problem:
    """Parse the object, or return the problem.

    Args:
        text: The model's response.
        code: The code of the problem.
    """
    # A lone surrogate becomes bytes that the parser refuses with its own reason.
    found = parse_json_object(put_aside(text)[0].encode("utf-8", "surrogatepass"), MAX_ANSWER_BYTES)
    if isinstance(found, Rejection):
        message = f"The answer is not one strict JSON object: {found.reason}."
        return Problem(code=code, message=message, pointer=found.pointer or "")
    return found
