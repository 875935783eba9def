"""What came back, read without trust: any field may be missing, wrong or huge."""

from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError, NativeCall, Said, Usage

ANSWER_BYTES = 1024 * 1024
"""A megabyte: many times the longest answer a model of today can give."""
_FINISHES = {"length": "length", "tool_calls": "tool_calls", "function_call": "tool_calls",
             "content_filter": "content_filter"}  # fmt: skip
_MILLION = 1_000_000
_CHARACTERS_A_TOKEN = 4
_MAX_TOKENS = 10**9
_MAX_CALLS = 128
"""More calls than that in one answer are no answer."""


class Answer:
    """One answer as it comes together, in one piece or in many."""

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
        """Whether anything was heard."""
        return self._size > 0

    def take(self, body: Any, *, part: str) -> str | ModelError:
        """Take in one object of the wire; the text that was new in it.

        Args:
            body: A completion, or one chunk of a stream.
            part: Where its text stands: `message`, or `delta` in a stream.
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
            # We ask for one answer; a second would be no answer to what was asked.
            break
        return whole("".join(pieces))

    def done(self, endpoint: Endpoint, *, asked: int, streamed: bool) -> Said | ModelError:
        """The whole answer.

        Args:
            endpoint: For the price.
            asked: Characters of the question, for an endpoint that does not count.
            streamed: Whether a finish must have been seen: a stream that breaks off has none.
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
        # A model that declines says so beside the content.
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
    """One native call; in a stream its arguments come in pieces."""

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
    """Text without half characters: two halves that came in two pieces are joined, and one alone is replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def bad_answer(what: str) -> ModelError:
    """An answer that is not what the API promises."""
    message = f"The endpoint's answer {what}. Check that base_url is an OpenAI-compatible chat API, then ask again."
    return ModelError(code="endpoint_bad_answer", message=message)


def too_large(limit: int) -> ModelError:
    """An answer that was cut off and thrown away."""
    message = f"The endpoint's answer is larger than {limit} bytes. Set a lower max_tokens, or ask for less at once."
    return ModelError(code="answer_too_large", message=message)


def _listed(value: Any) -> Iterator[Mapping[str, Any]]:
    return (each for each in value if isinstance(each, Mapping)) if isinstance(value, list) else iter(())


def _usage(given: Mapping[str, Any] | None, endpoint: Endpoint, *, asked: int, answered: int) -> Usage:
    """What the endpoint counted; a guess where it did not, so that a limit on tokens always holds."""
    given = given or {}
    inward = _count(given.get("prompt_tokens"), asked // _CHARACTERS_A_TOKEN)
    outward = _count(given.get("completion_tokens"), -(-answered // _CHARACTERS_A_TOKEN))
    price = inward * endpoint.price_in_microusd + outward * endpoint.price_out_microusd
    return Usage(input_tokens=inward, output_tokens=outward, cost_microusd=-(-price // _MILLION))


def _count(value: Any, otherwise: int) -> int:
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_TOKENS
    return int(value) if fits else otherwise
