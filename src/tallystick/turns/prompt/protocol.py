"""`# Tool Call Protocol (STRICT JSON ONLY)`: the step block at the end of the last user message of each step."""

TITLE = "# Tool Call Protocol (STRICT JSON ONLY)"
_FIRST = '{"tool":"<name>","args":{...},"nonce":"<TOOL_NONCE>"}'
_NEXT = '{"action":"tool","tool":"<name>","args":{...},"nonce":"<TOOL_NONCE>"}'
_FINAL = '{"action":"final","nonce":"<TOOL_NONCE>"}'
_STRICT = "No other text, no code fence, no second object; the nonce exactly as it stands below."
_ONE = "exactly one JSON object and nothing else"


def first_step(nonce: str, *, required: bool, may_finish: bool) -> str:
    """Return the block of step one.

    Args:
        nonce: The step's nonce.
        required: Whether the answer must be an envelope.
        may_finish: Whether `{"action":"final"}` is already accepted; if so, no call is required.
    """
    finish = f" to call a tool, or {_FINAL} if no tool is needed" if may_finish else ""
    if required:
        how = f"Answer with {_ONE}: {_FIRST}{finish}."
    else:
        how = f"To call a tool, answer with {_ONE}: {_FIRST}. If you need no tool, answer in plain text."
    return _block(how, nonce, required=required and not may_finish)


def next_step(nonce: str) -> str:
    """Return the block after a result: the model calls another tool or finishes."""
    return _block(f"Answer with {_ONE}: {_NEXT} for another tool, or {_FINAL} when you can answer.", nonce)


def _block(how: str, nonce: str, *, required: bool = False) -> str:
    block = f"{TITLE}\n{how}\n{_STRICT}\nTOOL_NONCE: {nonce}"
    return f"{block}\nTOOL_CALL_REQUIRED: true" if required else block
