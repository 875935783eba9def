"""Transcript of a finished turn for people and programs: the prompt, every step, and how it ended.

The JSON Lines form is complete: the prompt, the model's answers and the gate's outcomes. The Markdown form is for
reading. Neither is evidence; the receipts are, and both forms name them.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from tallystick.records import record
from tallystick.turns.model import Message
from tallystick.turns.request import Request
from tallystick.turns.result import Step, TurnResult

SHORTEST_FENCE = 3


@record
class Transcript:
    """The transcript of one turn."""

    request: Request
    result: TurnResult
    session_id: str = ""
    at: str = ""
    """When the turn ended, in UTC; supplied by the caller."""

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the turn, its messages, its steps and its end, each as plain JSON."""
        result, agent = self.result, self.request.agent
        yield {
            "kind": "turn",
            "turn_id": result.turn_id,
            "session_id": self.session_id,
            "at": self.at,
            "agent_id": agent.agent_id,
            "role": agent.role,
            "model": result.model,
            "provider": result.provider,
            "required_by": result.required_by,
        }
        for message in result.messages:
            yield {"kind": "message", **_message(message)}
        for step in result.steps:
            # `kind` is the type of the line, so the kind of step moves to `step`.
            wire = step.as_dict()
            yield {**wire, "kind": "step", "step": wire["kind"]}
        ending = result.as_dict()
        del ending["steps"], ending["turn_id"]
        yield {"kind": "end", **ending}

    def as_json_lines(self) -> bytes:
        """Return the records as JSON Lines, one record per line."""
        return b"".join(_dumped(line) + b"\n" for line in self.records())

    def as_markdown(self) -> str:
        """Return the turn as Markdown for reading; of the prompt only the request message is included."""
        agent, result = self.request.agent, self.result
        parts = [
            f"# {agent.name}, {result.turn_id}",
            "\n".join(f"- {label}: {value}" for label, value in self._facts() if value),
            f"## Asked\n\n{fenced(self.request.message)}",
            *(_step_as_markdown(step) for step in result.steps),
            f"## End\n\n{_end_as_markdown(result)}",
        ]
        return _whole("\n\n".join(part for part in parts if part) + "\n")

    def _facts(self) -> tuple[tuple[str, str], ...]:
        result = self.result
        usage = result.usage
        return (
            ("at", self.at),
            ("session", self.session_id),
            ("model", f"{result.provider} {result.model}".strip()),
            ("tool call required by", result.required_by or ""),
            ("receipts", ", ".join(result.receipts)),
            ("tokens", f"{usage.input_tokens} in, {usage.output_tokens} out"),
        )


def fenced(text: str) -> str:
    """Wrap a text in a code fence that is longer than any run of backticks in it."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(SHORTEST_FENCE, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _message(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        wire["calls"] = [
            {"call_id": call.call_id, "name": call.name, "arguments": call.arguments} for call in message.calls
        ]
    if message.call_id is not None:
        wire["call_id"] = message.call_id
    return wire


def _step_as_markdown(step: Step) -> str:
    parts = [f"## Step {step.index}: {step.kind}", fenced(step.text)]
    outcome = step.outcome
    said = [] if step.code is None else [f"code `{step.code}`"]
    if outcome is not None and outcome.tool is not None:
        said.insert(0, f"{outcome.status} `{outcome.tool}`")
    if step.receipt_id:
        said.append(f"receipt {step.receipt_id}")
    parts.append(", ".join([*said, f"{step.elapsed_ms} ms"]))
    if outcome is not None and outcome.shown is not None:
        parts.append(fenced(outcome.shown.text))
    if step.commentary:
        parts.append(f"Beside it:\n\n{fenced(step.commentary)}")
    return "\n\n".join(parts)


def _end_as_markdown(result: TurnResult) -> str:
    if result.reply is not None:
        return fenced(result.reply)
    if result.rejected is not None:
        reason = result.findings.reason if result.findings is not None else None
        said = fenced(result.rejected.text)
        return "\n\n".join(part for part in (f"{result.stop_hook}", reason or "", said) if part)
    if result.abstained:
        return "Abstained."
    if result.handed_back:
        return "Handed back to the client: " + ", ".join(f"`{call.tool}`" for call in result.handed_back)
    if result.model_error is not None:
        return f"{result.stop_hook}\n\n{result.model_error.message}"
    return result.stop_hook or "No reply was asked for."


def _dumped(line: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(line)
    except orjson.JSONEncodeError:
        # A model may send a lone surrogate; it is replaced here and refused elsewhere.
        return orjson.dumps(_mended(line))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return [_mended(item) for item in value] if isinstance(value, list | tuple) else value


def _whole(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return text.encode("utf-8", "replace").decode()
