"""The SDK and the translation of its errors. No other module loads it: that takes most of a second."""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from weakref import WeakKeyDictionary

import httpx2
import openai

from tallystick.providers.chat.answer import ChatAnswer, bad_answer, too_large
from tallystick.providers.chat.endpoint import is_loopback
from tallystick.providers.chat.failures import Lost, ProviderFailure
from tallystick.providers.chat.patience import asked_pause_s
from tallystick.records import record
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError

_PIECES = 64
"""Allowance for streams: each chunk wraps a few letters of text in an object of some hundred bytes."""
_ESCAPES = 6
"""JSON may encode one byte as six."""
_AROUND = 65_536

_PATH = "/chat/completions"
# One deadline covers the whole request; only connecting has a shorter timeout.
_TIMEOUT = httpx2.Timeout(None, connect=10.0)


@record
class Line:
    """A connection to one endpoint."""

    address: str
    key: str = field(repr=False)
    limit: int
    """Maximum bytes of text in one response."""
    own_header: str | None = None
    """The header of the key, if it is not `Authorization`."""

    async def ask(
        self, body: Mapping[str, Any], answer: ChatAnswer, hear: Any = None
    ) -> ProviderFailure | Lost | ModelError | None:
        """Send one request and collect its response; None if it is complete.

        Args:
            body: The request.
            answer: Collects the response.
            hear: Receives each new piece of text; only for streams.
        """
        try:
            return await (self._stream(body, answer, hear) if body.get("stream") else self._once(body, answer))
        except openai.APIConnectionError as error:
            return Lost(how="never" if isinstance(error.__cause__, _NEVER) else "broken")
        except openai.APIError as error:
            return _failure(error)
        except TooLarge:
            return too_large(self.limit)
        except Packed:
            return bad_answer("came packed, which was not asked for")
        except (ValueError, RecursionError):
            return bad_answer("is not JSON")

    async def _once(self, body: Mapping[str, Any], answer: ChatAnswer) -> ProviderFailure | ModelError | None:
        client = await _client(self)
        response = await client.post(_PATH, body=dict(body), cast_to=httpx2.Response, options=self._options())
        whole = json.loads(response.content)
        if isinstance(whole, dict) and whole.get("error") and not whole.get("choices"):
            return _failure_inside(whole["error"])
        taken = answer.take(whole, part="message")
        return taken if isinstance(taken, ModelError) else None

    async def _stream(self, body: Mapping[str, Any], answer: ChatAnswer, hear: Any) -> ModelError | None:
        client = await _client(self)
        opened = await client.post(
            _PATH,
            body=dict(body),
            cast_to=object,
            options=self._options(),
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        async with opened as pieces:
            async for piece in pieces:
                new = answer.take(piece, part="delta")
                if isinstance(new, ModelError):
                    return new
                if new and hear is not None:
                    hear(new)
        return None

    def _options(self) -> Any:
        # The SDK accepts a missing `Authorization` only if the request itself omits it.
        own = self.own_header
        return {} if own is None else {"headers": {own: self.key, "Authorization": openai.Omit()}}


def line_for(endpoint: Endpoint, address: str, key: str, limit: int) -> Line:
    """Return the connection to an OpenAI-compatible endpoint."""
    own_header = "api-key" if endpoint.provider == "azure" else None
    return Line(address=address, key=key, limit=limit, own_header=own_header)


_NEVER = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol)
_Keeper = AsyncGenerator[openai.AsyncOpenAI, None]
_kept: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Line, tuple[openai.AsyncOpenAI, _Keeper]]] = (
    WeakKeyDictionary()
)


async def _client(line: Line) -> openai.AsyncOpenAI:
    """Return this event loop's client for an endpoint, so that the steps of a turn share a connection."""
    kept = _kept.setdefault(asyncio.get_running_loop(), {})
    if line not in kept:
        keeper = _keeper(line, kept)
        kept[line] = (await anext(keeper), keeper)
    return kept[line][0]


async def _keeper(line: Line, kept: dict[Line, Any]) -> _Keeper:
    """Keep a client open. A closing loop finishes its generators, and this one then closes the connections."""
    http = httpx2.AsyncClient(
        timeout=_TIMEOUT,
        trust_env=not is_loopback(line.address),
        # A redirect would send prompts to an address that nobody chose.
        follow_redirects=False,
        event_hooks={"response": [limiter(line.limit)]},
        verify=_trusted(),
    )
    parts = urlsplit(line.address)
    client = openai.AsyncOpenAI(
        api_key=line.key,
        # A query in the base URL would end up in the middle of the path.
        base_url=parts._replace(query="").geturl(),
        default_query=dict(parse_qsl(parts.query)),
        max_retries=0,
        http_client=http,
        default_headers={"Accept-Encoding": "identity"},
    )
    # The SDK reads these from the environment for one provider; other providers must not get them.
    client.organization = client.project = client.admin_api_key = None
    try:
        yield client
    finally:
        # A generator references its loop: if it stayed here, the loop would never be freed.
        kept.pop(line, None)
        await client.close()


@cache
def _trusted() -> ssl.SSLContext:
    """Return the TLS context; it takes a megabyte, so all clients share it."""
    return httpx2.create_ssl_context()


def _failure(error: openai.APIError) -> ProviderFailure:
    if isinstance(error, openai.APIStatusError):
        asked = asked_pause_s(error.response.headers, time.time())
        return ProviderFailure(status=error.status_code, body=error.body, retry_after_s=asked)
    return _failure_inside(error.body)


def _failure_inside(body: object) -> ProviderFailure:
    """Convert an error that came with status 200: within a stream, or from a proxy in front of the model's server."""
    code = body.get("code") if isinstance(body, dict) else None
    status = code if isinstance(code, int) and code in range(400, 600) else 500
    return ProviderFailure(status=status, body=body)


# The SDK reads a response to its end. So the bytes are counted as they arrive, before anything buffers them, and a
# compressed response is refused: a thousand bytes of it may expand to a gigabyte.


class TooLarge(Exception):  # noqa: N818 - named after the condition
    """The response exceeded the limit and was not read further."""


class Packed(Exception):  # noqa: N818
    """The response was compressed although that was not requested."""


def limiter(limit: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return an HTTP client hook that limits every response.

    Args:
        limit: Maximum bytes of text in one response.
    """

    async def hold(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise Packed
        streamed = response.headers.get("content-type", "").startswith("text/event-stream")
        allowed = limit * (_PIECES if streamed else _ESCAPES) + _AROUND
        if int(response.headers.get("content-length", "0")) > allowed:
            await response.aclose()
            raise TooLarge
        response.stream = _Counted(response.stream, allowed)

    return hold


class _Counted(httpx2.AsyncByteStream):
    """A stream that stops at its limit."""

    def __init__(self, stream: Any, allowed: int) -> None:
        self._stream = stream
        self._left = allowed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLarge
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
