"""Read chat messages in the OpenAI form, and list what the agent says it did although no call did it.

A conversation is a list of messages, or an object with `messages` and, if given, `tools`. A file holds one conversation
as JSON, or JSON lines: one message a line, or one conversation a line. Calls are the `tool_calls` of the assistant's
messages (or the older `function_call`), their results the messages of the role `tool` (or `function`). A call without a
result, or whose result reports an error, counts as failed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_strict
from tallystick.gate.reply.support.actions import RecordedCall
from tallystick.gate.reply.transcripts import Undone, find_undone
from tallystick.records import record

MAX_MESSAGES = 5_000
"""Messages of one conversation; each claim is compared with all calls before it."""
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_RESULTS = frozenset({"tool", "function"})
_SHOWN = 20_000
"""Maximum characters of arguments and result in which ids are looked up."""
_ERROR = re.compile(r"\s*(?:error|failed|failure|exception|traceback)\b", re.IGNORECASE)
"""How the text of a failed result begins."""
_FAILED = frozenset({"error", "failed", "failure"})
"""Values of `status` in a failed result."""
_MALFORMED: Final = "transcript_malformed"


@record
class TranscriptFault:
    """Why a transcript cannot be read."""

    code: str
    reason: str


@record
class AgentMessage:
    """A message of the agent, and how many calls were made until then (its own included)."""

    text: str
    place: int
    """Its number in the conversation, from 1."""
    calls: int
    since: int
    """How many calls were made before the last message of the user."""


@record
class ChatTranscript:
    """What an agent said and called."""

    said: tuple[AgentMessage, ...]
    calls: tuple[RecordedCall, ...]
    tools: tuple[str, ...] | None = None
    """The agent's tools; None: not known."""


@record
class UndoneAction:
    """An action that a message claims although no call performed it."""

    conversation: int
    message: int
    undone: Undone

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form."""
        found = self.undone
        return {
            "conversation": self.conversation,
            "message": self.message,
            "line": found.line,
            "claim": found.text,
            "code": found.code,
            "reason": found.reason,
        }


@record
class TranscriptFindings:
    """The result of checking a transcript."""

    conversations: int
    messages: int
    """Messages of the agent that were read."""
    calls: int
    undone: tuple[UndoneAction, ...]

    @property
    def ok(self) -> bool:
        """Whether every claimed action was performed."""
        return not self.undone

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form."""
        return {
            "ok": self.ok,
            "conversations": self.conversations,
            "messages": self.messages,
            "calls": self.calls,
            "undone": [each.as_dict() for each in self.undone],
        }


def check_conversations(
    conversations: Sequence[ChatTranscript], recorded: Sequence[RecordedCall] | None = None
) -> TranscriptFindings:
    """Compare what the agent says it did with the calls.

    Args:
        conversations: What was said and, unless `recorded` is given, called.
        recorded: The calls of a session from the ledger. They replace those of the transcript, and as nothing says
            where in the conversation they were made, each message may rely on any of them.
    """
    found = [
        UndoneAction(conversation=number, message=said.place, undone=undone)
        for number, each in enumerate(conversations, start=1)
        for said in each.said
        for undone in _undone(each, said, recorded)
    ]
    calls = sum(len(each.calls) for each in conversations) if recorded is None else len(recorded)
    messages = sum(len(each.said) for each in conversations)
    return TranscriptFindings(conversations=len(conversations), messages=messages, calls=calls, undone=tuple(found))


def _undone(each: ChatTranscript, said: AgentMessage, recorded: Sequence[RecordedCall] | None) -> list[Undone]:
    if recorded is not None:
        return find_undone(said.text, recorded, each.tools)
    return find_undone(said.text, each.calls[: said.calls], each.tools, since=said.since)


def recorded_call(tool: str, args: Any, result: Any, *, ok: bool, receipt_id: str = "") -> RecordedCall:
    """Build the record of a call that claims are compared with."""
    text = "".join(orjson.dumps(part, default=str).decode()[:_SHOWN] for part in (args, result))
    return RecordedCall(tool=tool, words=frozenset(), ok=ok, text=text.casefold(), receipt_id=receipt_id)


# -- reading -----------------------------------------------------------------------------------------------------------


def text_conversation(text: str) -> ChatTranscript:
    """Return a conversation of one message of the agent, for text that has no messages."""
    return ChatTranscript(said=(AgentMessage(text=text, place=1, calls=0, since=0),), calls=())


def read_transcript(data: bytes) -> tuple[ChatTranscript, ...] | TranscriptFault:
    """Read a file: one JSON document, or JSON lines."""
    data = data.removeprefix(b"\xef\xbb\xbf").strip()
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    if not lines:
        return TranscriptFault(code="transcript_empty", reason="There are no messages.")
    whole = parse_strict(data)
    if not isinstance(whole, Rejection):
        return _conversations([whole], "The document")
    values: list[Any] = []
    for number, line in lines:
        value = parse_strict(line)
        if isinstance(value, Rejection):
            # The first line of a document that spans lines is no JSON; then the document's own error says more.
            place, why = (f"Line {number}", value.reason) if values else ("The file", whole.reason)
            return TranscriptFault(code=_MALFORMED, reason=f"{place}: {why}. Give JSON or JSON lines of messages.")
        values.append(value)
    return _conversations(values, "A line")


def read_conversation(messages: Sequence[Any], tools: Sequence[Any] | None = None) -> ChatTranscript | TranscriptFault:
    """Read the messages of one conversation.

    Args:
        messages: Messages in the OpenAI form.
        tools: The agent's tools, as names or as definitions in the OpenAI form; None: not known.
    """
    if len(messages) > MAX_MESSAGES:
        reason = f"A conversation has at most {MAX_MESSAGES} messages; split it."
        return TranscriptFault(code="transcript_too_long", reason=reason)
    known = None if tools is None else [_tool_name(each) for each in tools]
    if known is not None and None in known:
        return TranscriptFault(code=_MALFORMED, reason=f"Tool {known.index(None) + 1} has no name.")
    reader = _Reader()
    for place, message in enumerate(messages, start=1):
        fault = reader.take(message, place)
        if fault is not None:
            return TranscriptFault(code=_MALFORMED, reason=f"Message {place}: {fault}")
    names = None if known is None else tuple(name for name in known if name is not None)
    return ChatTranscript(said=tuple(reader.said), calls=reader.calls(), tools=names)


def _conversations(values: Sequence[Any], what: str) -> tuple[ChatTranscript, ...] | TranscriptFault:
    """Read values that are messages, conversations, or one list of messages."""
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
        what = "An entry"
    whole = [value for value in values if isinstance(value, dict) and "messages" in value]
    if not whole:
        found = read_conversation(values)
        return found if isinstance(found, TranscriptFault) else (found,)
    if len(whole) < len(values):
        return TranscriptFault(code=_MALFORMED, reason=f"{what} is a conversation and another is none.")
    read: list[ChatTranscript] = []
    for number, value in enumerate(whole, start=1):
        messages, tools = value["messages"], value.get("tools")
        if not isinstance(messages, list) or not isinstance(tools, list | None):
            return TranscriptFault(
                code=_MALFORMED, reason=f"Conversation {number}: `messages` must be a list, and `tools` too, if given."
            )
        found = read_conversation(messages, tools)
        if isinstance(found, TranscriptFault):
            return TranscriptFault(code=found.code, reason=f"Conversation {number}: {found.reason}")
        read.append(found)
    return tuple(read)


class _Reader:
    """Collects the agent's messages and calls, and joins each result to its call."""

    def __init__(self) -> None:
        self.said: list[AgentMessage] = []
        self._calls: list[tuple[str, Any]] = []
        self._results: dict[int, tuple[Any, bool]] = {}
        self._waiting: dict[str, int] = {}
        """Call id → place of the call, for calls that have no result yet; oldest first."""
        self._since = 0

    def take(self, message: Any, place: int) -> str | None:
        """Read one message; return what is wrong with it, if anything."""
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            return "it is no object with a known role."
        text = _text(message.get("content"))
        if text is None:
            return "its content is neither text nor a list of parts."
        if message["role"] in _RESULTS:
            return self._take_result(message, text)
        if message["role"] == "user":
            self._since = len(self._calls)
        if message["role"] != "assistant":
            return None
        fault = self._take_calls(message)
        if text.strip():
            self.said.append(AgentMessage(text=text, place=place, calls=len(self._calls), since=self._since))
        return fault

    def _take_calls(self, message: Mapping[str, Any]) -> str | None:
        calls = message.get("tool_calls")
        calls = [] if calls is None else calls
        if not isinstance(calls, list):
            return "its tool_calls are no list."
        if message.get("function_call"):
            calls = [*calls, {"function": message["function_call"]}]
        for call in calls:
            function = call.get("function") if isinstance(call, dict) else None
            name = function.get("name") if isinstance(function, dict) else None
            if function is None or not isinstance(name, str) or not name:
                return "a tool call has no function name."
            place = len(self._calls)
            self._waiting[str(call.get("id") or f"\x00{place}")] = place
            self._calls.append((name, function.get("arguments")))
        return None

    def _take_result(self, message: Mapping[str, Any], text: str) -> str | None:
        ident = message.get("tool_call_id")
        if ident is None and self._waiting:
            # Without an id, results come in the order of their calls.
            ident = next(iter(self._waiting))
        place = self._waiting.pop(str(ident), None)
        if place is None:
            return "it is the result of no call before it."
        failed = message.get("is_error") is True or message.get("isError") is True
        self._results[place] = (text, not failed and not _reports_error(text))
        return None

    def calls(self) -> tuple[RecordedCall, ...]:
        """Return the calls in order."""
        results = (self._results.get(place, (None, False)) for place in range(len(self._calls)))
        return tuple(
            recorded_call(name, args, result, ok=ok)
            for (name, args), (result, ok) in zip(self._calls, results, strict=True)
        )


def _text(content: Any) -> str | None:
    """Return the text of a message; None if its content has another form."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    texts: Iterable[Any] = (part.get("text") for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def _tool_name(tool: Any) -> str | None:
    if isinstance(tool, dict):
        function = tool.get("function")
        tool = function.get("name") if isinstance(function, dict) else tool.get("name")
    return tool if isinstance(tool, str) and tool else None


def _reports_error(text: str) -> bool:
    """Whether a result says that the call failed: in its first word, or as JSON in a field for that."""
    if _ERROR.match(text):
        return True
    if not text.lstrip().startswith("{"):
        return False
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    said_so = bool(value.get("error")) or value.get("isError") is True or value.get("is_error") is True
    unsuccessful = value.get("ok") is False or value.get("success") is False
    return said_so or unsuccessful or str(value.get("status")).lower() in _FAILED
