"""Mistakes that a type checker must find; each line says with which code. `test_typing.py` has mypy read this file."""

from tallystick import Gate, tool


@tool
def word_count(path: str) -> int:
    """Count words."""
    return len(path)


word_count(7)  # error: arg-type
tool(effect="delete")  # error: call-overload
tool(efect="read")  # error: call-overload


def calls(gate: Gate) -> None:
    gate.call_sync("word_count", {}, sesion="s")  # error: call-overload
    gate.call_sync(word_count, {}, dry_run="yes")  # error: call-overload
    gate.resume_sync("ap_1", calller=None)  # error: call-arg
    gate.check_reply("a", own_text=["b"])  # error: call-arg
    text: str = gate.call_sync(word_count, {}).unwrap()  # error: assignment
    assert text
