"""One JSON object from a model: as strict as an envelope, a thinking block in front put aside."""

from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.turns.thinking import put_aside

MAX_ANSWER_BYTES = 1024 * 1024
"""A packet with the longest context there may be, in a script of four bytes a letter, has half of it."""


def read_object(text: str, *, code: str) -> dict[str, Any] | Problem:
    """The object, or why there is none.

    Args:
        text: What the model said.
        code: The code of the problem.
    """
    # Half a character becomes bytes that the parser refuses with its own reason.
    found = parse_json_object(put_aside(text)[0].encode("utf-8", "surrogatepass"), MAX_ANSWER_BYTES)
    if isinstance(found, Rejection):
        message = f"The answer is not one strict JSON object: {found.reason}."
        return Problem(code=code, message=message, pointer=found.pointer or "")
    return found
