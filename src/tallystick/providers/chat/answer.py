"""Parse responses without trust: any field may be missing, wrong or huge."""

from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError, NativeCall, Said, Usage

ANSWER_BYTES = 1024 * 1024
"""One mebibyte: many times the longest response of current models."""
_FINISHES = {"length": "length", "tool_calls": "tool_calls", "function_call": "tool_calls",
             "content_filter": "content_filter"}  # fmt: skip
_MILLION = 1_000_000
_CHARACTERS_A_TOKEN = 4
_MAX_TOKENS = 10**9
_MAX_CALLS = 128
"""A call index at or above this is ignored; the call's position is used instead."""


class ChatAnswer:
    """One response, assembled from a single body or from stream chunks."""

    def __init__(self, *, limit: int = ANSWER_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._text: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._usage: Mapping[str, Any] | None = None
        self._finish: str | None = None
        self._model = ""
        self._choices = 0

    @property
    def begun(self) -> bool:
        """Whether anything was received."""
        return self._size > 0

    def take(self, body: Any, *, part: str) -> str | ModelError:
        """Add one JSON object of the API and return its new text.

        Args:
            body: A completion, or one chunk of a stream.
            part: The member with the text: `message`, or `delta` in a stream.
        """
        if not isinstance(body, Mapping):
            return bad_answer("is no object")
        if isinstance(body.get("usage"), Mapping):
            self._usage = body["usage"]
        if isinstance(body.get("model"), str):
            self._model = body["model"]
        pieces: list[str] = []
        for choice in _listed(body.get("choices")):
            self._choices += 1
            finish = choice.get("finish_reason")
            self._finish = finish if isinstance(finish, str) else self._finish
            message = choice.get(part)
            if isinstance(message, Mapping):
                pieces.append(self._said(message))
            if self._size > self._limit:
                return too_large(self._limit)
            # We ask for one choice; a second one is ignored.
            break
        return whole("".join(pieces))

    def done(self, endpoint: Endpoint, *, asked: int, streamed: bool) -> Said | ModelError:
        """Return the complete response.

        Args:
            endpoint: Gives the price.
            asked: Characters of the prompt, for an endpoint that does not count tokens.
            streamed: Whether a finish reason is required: a stream that breaks off has none.
        """
        if not self._choices:
            return bad_answer("holds no choice")
        if streamed and self._finish is None:
            return bad_answer("broke off in the middle")
        return Said(
            text=whole("".join(self._text)),
            calls=tuple(call.made(place) for place, call in sorted(self._calls.items())),
            usage=_usage(self._usage, endpoint, asked=asked, answered=self._size),
            finish="tool_calls" if self._calls else _FINISHES.get(self._finish or "", "stop"),
            model=self._model,
        )

    def _said(self, message: Mapping[str, Any]) -> str:
        text = message.get("content")
        # A model that declines puts its text in `refusal` instead of the content.
        if not isinstance(text, str) or not text:
            text = message.get("refusal")
        text = text if isinstance(text, str) else ""
        self._text.append(text)
        self._size += len(text.encode(errors="replace"))
        for position, call in enumerate(_listed(message.get("tool_calls"))):
            index = call.get("index")
            place = index if isinstance(index, int) and 0 <= index < _MAX_CALLS else position
            self._size += self._calls.setdefault(place, _Call()).take(call)
        return text


class _Call:
    """One native tool call; in a stream its arguments arrive in pieces."""

    def __init__(self) -> None:
        self._id = self._name = ""
        self._arguments: list[str] = []

    def take(self, call: Mapping[str, Any]) -> int:
        function = call.get("function")
        function = function if isinstance(function, Mapping) else {}
        given, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
        self._id = self._id or (given if isinstance(given, str) else "")
        self._name = self._name or (name if isinstance(name, str) else "")
        if isinstance(arguments, str):
            self._arguments.append(arguments)
            return len(arguments.encode(errors="replace"))
        return 0

    def made(self, place: int) -> NativeCall:
        arguments = whole("".join(self._arguments))
        return NativeCall(call_id=self._id or f"call_{place}", name=self._name, arguments=arguments)


def whole(text: str) -> str:
    """Join surrogate halves that arrived in separate pieces, and replace lone ones."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def bad_answer(what: str) -> ModelError:
    """Return the error for a response that does not follow the API."""
    message = f"The endpoint's answer {what}. Check that base_url is the provider's chat API, then ask again."
    return ModelError(code="endpoint_bad_answer", message=message)


def too_large(limit: int) -> ModelError:
    """Return the error for a response that exceeded the limit and was discarded."""
    message = f"The endpoint's answer is larger than {limit} bytes. Set a lower max_tokens, or ask for less at once."
    return ModelError(code="answer_too_large", message=message)


def _listed(value: Any) -> Iterator[Mapping[str, Any]]:
    return (each for each in value if isinstance(each, Mapping)) if isinstance(value, list) else iter(())


def _usage(given: Mapping[str, Any] | None, endpoint: Endpoint, *, asked: int, answered: int) -> Usage:
    """Return the endpoint's token counts; estimates where it has none, so that token limits always apply."""
    given = given or {}
    inward = _count(given.get("prompt_tokens"), asked // _CHARACTERS_A_TOKEN)
    outward = _count(given.get("completion_tokens"), -(-answered // _CHARACTERS_A_TOKEN))
    price = inward * endpoint.price_in_microusd + outward * endpoint.price_out_microusd
    return Usage(input_tokens=inward, output_tokens=outward, cost_microusd=-(-price // _MILLION))


def _count(value: Any, otherwise: int) -> int:
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_TOKENS
    return int(value) if fits else otherwise
