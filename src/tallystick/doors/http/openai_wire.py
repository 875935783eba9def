"""The OpenAI chat wire format: parse requests.

Irrelevant fields (`temperature`, `user`, `metadata`) are ignored, so that an existing client only needs another base
URL. Unsupported features that would change the answer are refused by name, never ignored: several choices, images,
audio.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from tallystick.doors.http.openai_form import FORM
from tallystick.errors import RegistrationError
from tallystick.gate.admit.names import TOOL_ID
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.role_names import WORK_ROLES
from tallystick.gate.tool import Card, Effect
from tallystick.records import record
from tallystick.turns.model import Message

CALL_PREFIX = "call_"
"""The id of a handed-back call contains its receipt's id, so that a result can be matched even after a restart."""

Choice = Literal["auto", "none", "required"]
Evidence = Literal["annotate", "enforce"]


@record
class Unfit:
    """A request that cannot be served, with the error fields of the OpenAI format."""

    code: str
    message: str
    param: str | None = None
    status: int = 400


@record
class ToolResult:
    """The result that a client reports for a call handed back to it."""

    call_id: str
    content: str

    @property
    def receipt_id(self) -> str | None:
        """The receipt of the call; None if the id was not issued by this server."""
        return self.call_id.removeprefix(CALL_PREFIX) if self.call_id.startswith(f"{CALL_PREFIX}rcpt_") else None


@record
class ChatRequest:
    """A parsed request."""

    model: str
    message: str
    """The user's last message: the request of this turn."""
    history: tuple[Message, ...]
    """The earlier messages, including the client's system messages."""
    results: tuple[ToolResult, ...]
    """The tool results after the user's last message, in order."""
    fresh: int
    """How many of these results, at the end, are new; the others came with earlier requests."""
    tools: tuple[Card, ...]
    choice: Choice
    only: str | None
    """The one function that `tool_choice` names."""
    allowed: frozenset[str] | None
    stream: bool
    include_usage: bool
    max_tokens: int | None
    evidence: Evidence
    session: str | None


def read_request(body: bytes) -> ChatRequest | Unfit:
    """Parse a request; an `Unfit` names the first error."""
    asked = parse_json_object(body, len(body))
    if isinstance(asked, Rejection):
        return Unfit(code="invalid_json", message=f"The body is no strict JSON object: {asked.reason}.")
    if not FORM.accepts(asked):
        pointer, rule = FORM.explain(asked)
        return Unfit(code="invalid_value", message=f"A field does not fit ({rule}).", param=_param(pointer))
    if asked.get("n") not in {None, 1}:
        return Unfit(code="unsupported_value", message="One choice is given, no more. Leave n out.", param="n")
    said = _read_messages(asked["messages"])
    tools = _read_tools(asked.get("tools") or (), asked.get("tallystick", {}).get("effects", {}))
    choice = _read_choice(asked.get("tool_choice"))
    for part in (said, tools, choice):
        if isinstance(part, Unfit):
            return part
    return _joined(asked, said, tools, choice)  # type: ignore[arg-type] # the loop has shown that none is unfit


def call_id_of(receipt_id: str) -> str:
    """Return the id of a handed-back call."""
    return f"{CALL_PREFIX}{receipt_id}"


@record
class _Said:
    message: str
    history: tuple[Message, ...]
    results: tuple[ToolResult, ...]
    fresh: int


def _joined(
    asked: Mapping[str, Any], said: _Said, tools: tuple[Card, ...], choice: tuple[Choice, str | None]
) -> ChatRequest:
    ours: Mapping[str, Any] = asked.get("tallystick", {})
    allowed = ours.get("allowedTools")
    return ChatRequest(
        model=asked["model"],
        message=said.message,
        history=said.history,
        results=said.results,
        fresh=said.fresh,
        tools=tools,
        choice=choice[0],
        only=choice[1],
        allowed=None if allowed is None else frozenset(allowed),
        stream=bool(asked.get("stream")),
        include_usage=bool((asked.get("stream_options") or {}).get("include_usage")),
        max_tokens=asked.get("max_completion_tokens") or asked.get("max_tokens"),
        evidence=asked.get("evidence") or ours.get("evidence", "annotate"),
        session=ours.get("session"),
    )


def _read_messages(messages: Sequence[Mapping[str, Any]]) -> _Said | Unfit:
    """Split the messages at the user's last one: earlier messages are history, later ones belong to this turn."""
    last = max((place for place, message in enumerate(messages) if message["role"] == "user"), default=None)
    if last is None:
        return Unfit(code="message_empty", message="There is no message of the user. Send one.", param="messages")
    texts: list[str] = []
    for place, message in enumerate(messages):
        text = _text_of(message.get("content"))
        if text is None:
            advice = "Only text is read here. Put other data into a file of the workspace and name it."
            return Unfit(code="unsupported_content", message=advice, param=f"messages[{place}].content")
        texts.append(text)
    results: list[ToolResult] = []
    fresh = 0
    for message, text in zip(messages[last + 1 :], texts[last + 1 :], strict=True):
        if message["role"] == "tool":
            results.append(ToolResult(call_id=message.get("tool_call_id", ""), content=text))
            fresh += 1
        elif message["role"] == "assistant":
            # A result before an assistant message was already sent with an earlier request.
            fresh = 0
    history = tuple(_history(messages[:last], texts[:last]))
    return _Said(message=texts[last], history=history, results=tuple(results), fresh=fresh)


def _history(messages: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> Iterator[Message]:
    """Yield the earlier texts; earlier calls and results are omitted, since the answers after them report them."""
    for message, text in zip(messages, texts, strict=True):
        role = message["role"]
        if text and role != "tool":
            yield Message(role=role if role in {"user", "assistant"} else "system", content=text)


def _text_of(content: Any) -> str | None:
    """Return the text of a message; None if it has non-text parts."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part.get("text") if part["type"] in {"text", "refusal"} else None for part in content]
    return None if any(part is None for part in parts) else "\n".join(part or "" for part in parts)


def _read_tools(tools: Sequence[Mapping[str, Any]], effects: Mapping[str, Effect]) -> tuple[Card, ...] | Unfit:
    cards: dict[str, Card] = {}
    for place, given in enumerate(tools):
        function = given["function"]
        name, schema = function["name"], function.get("parameters") or {"type": "object", "properties": {}}
        where = f"tools[{place}].function"
        if TOOL_ID.fullmatch(name) is None or name in cards:
            advice = "A tool's name has 1 to 128 of A-Z a-z 0-9 _ . - and stands there once."
            return Unfit(code="tool_name_invalid", message=advice, param=f"{where}.name")
        try:
            compile_schema(schema, closed=False, strict=False)
        except RegistrationError as error:
            return Unfit(code=error.code, message=f"{error}.", param=f"{where}.parameters")
        # The format has no field for a tool's effect: it is `write` unless the client specifies another.
        cards[name] = Card(
            name=name,
            description=function.get("description") or "",
            input_schema=schema,
            origin="client",
            roles=WORK_ROLES,
            effect=effects.get(name, "write"),
            strict=False,
        )
    return tuple(cards.values())


def _read_choice(choice: Any) -> tuple[Choice, str | None] | Unfit:
    if not isinstance(choice, dict):
        if choice in {None, "auto", "none", "required"}:
            return choice or "auto", None
    elif isinstance(choice.get("function"), dict) and isinstance(choice["function"].get("name"), str):
        return "required", choice["function"]["name"]
    advice = "tool_choice is auto, none, required, or {type: function, function: {name}}."
    return Unfit(code="invalid_value", message=advice, param="tool_choice")


def _param(pointer: str) -> str | None:
    """Convert a JSON pointer (`/messages/0/role`) to the format's notation (`messages[0].role`)."""
    name = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in pointer.split("/")[1:])
    return name.removeprefix(".") or None
