"""Assemble the opening messages of a turn from the prompt sections."""

from collections.abc import Sequence
from hashlib import sha256

from tallystick.gate.admit.names import Entry
from tallystick.turns.model import Message
from tallystick.turns.prompt.catalogue import catalogue_section
from tallystick.turns.prompt.evidence_rules import grounding_section
from tallystick.turns.prompt.results import result_section
from tallystick.turns.prompt.sections import interpreting_section, retrieved_section, role_section
from tallystick.turns.request import Request
from tallystick.turns.result import Injected
from tallystick.turns.tool_prompts import NO_TOOL_PROMPTS, ToolPrompts


def opening_messages(
    request: Request,
    entries: Sequence[Entry],
    *,
    boundary: str,
    block: str | None,
    native: bool,
    wordings: ToolPrompts = NO_TOOL_PROMPTS,
) -> list[Message]:
    """Return the system message, the history, and the request message with its closing sections.

    Args:
        request: The request.
        entries: The tools of the turn; empty: the prompt lists no tools.
        boundary: The boundary in the marks around results.
        block: The step block, if the model calls tools in text.
        native: Whether tools are offered through the API instead of the prompt.
        wordings: Descriptions and examples that override tool cards.
    """
    if request.skip_tools:
        return [*request.history, Message(role="user", content=request.message)]
    system = _system(request, () if native else entries, wordings)
    messages = [Message(role="system", content=system)] if system else []
    messages += request.history if native else told(request.history, boundary)
    messages.append(Message(role="user", content=_asked(request, boundary, block)))
    return messages


def told(history: Sequence[Message], boundary: str) -> list[Message]:
    """Convert the history for a model without native tool calls: calls and their results become text."""
    messages: list[Message] = []
    names: dict[str, str] = {}
    for message in history:
        if message.calls:
            names |= {call.call_id: call.name for call in message.calls}
            calls = "\n".join(f'{{"tool":"{call.name}","args":{call.arguments}}}' for call in message.calls)
            content = f"{message.content}\n{calls}" if message.content else calls
            messages.append(Message(role="assistant", content=content))
        elif message.role == "tool":
            content = result_section(_reported(message, names), boundary)
            messages.append(Message(role="user", content=content))
        else:
            messages.append(message)
    return messages


def _system(request: Request, entries: Sequence[Entry], wordings: ToolPrompts) -> str:
    # Keep the tool phase of a conference short: rules about replies make small models miss the call.
    sections = [] if request.tool_phase else [role_section(request.agent), grounding_section(request.form)]
    if entries:
        sections.append(catalogue_section(entries, wordings, with_examples=not request.tool_phase))
    return "\n\n".join(sections)


def _asked(request: Request, boundary: str, block: str | None) -> str:
    parts = [request.message]
    interprets = block is None and request.conference and not request.tool_phase
    if interprets:
        parts.append(retrieved_section(request.agent.name, found=bool(request.injected)))
    parts += [result_section(result, boundary) for result in request.injected]
    if block is not None:
        parts.append(block)
    elif interprets:
        parts.append(interpreting_section())
    return "\n\n".join(parts)


def _reported(message: Message, names: dict[str, str]) -> Injected:
    """Convert a client's report on its own call into a result."""
    call_id = message.call_id or ""
    data = message.content.encode("utf-8", "replace")
    return Injected(
        tool=names.get(call_id, "client"),
        receipt_id=call_id,
        text=message.content,
        sha256=sha256(data).hexdigest(),
        full_size=len(data),
    )
