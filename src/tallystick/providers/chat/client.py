"""The SDK and the translation of its errors. No other module loads it: that takes most of a second."""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import field
from functools import cache
from typing import Any, Literal
from weakref import WeakKeyDictionary

import httpx2
import openai

from tallystick.providers.chat.address import is_loopback
from tallystick.providers.chat.answer import Answer, bad_answer, too_large
from tallystick.providers.chat.capped import Packed, TooLarge, limiter
from tallystick.providers.chat.failures import Failure
from tallystick.providers.chat.patience import asked_pause_s
from tallystick.records import record
from tallystick.turns.model import ModelError

_PATH = "/chat/completions"
# One deadline covers the whole request; only connecting has a shorter timeout.
_TIMEOUT = httpx2.Timeout(None, connect=10.0)


@record
class Lost:
    """A connection that could not be established, or that broke."""

    how: Literal["never", "broken"]


@record
class Line:
    """A connection to one endpoint."""

    address: str
    key: str = field(repr=False)
    limit: int
    """Maximum bytes of text in one response."""

    async def ask(
        self, body: Mapping[str, Any], answer: Answer, hear: Any = None
    ) -> Failure | Lost | ModelError | None:
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

    async def _once(self, body: Mapping[str, Any], answer: Answer) -> Failure | ModelError | None:
        client = await _client(self)
        response = await client.post(_PATH, body=dict(body), cast_to=httpx2.Response)
        whole = json.loads(response.content)
        if isinstance(whole, dict) and whole.get("error") and not whole.get("choices"):
            return _failure_inside(whole["error"])
        taken = answer.take(whole, part="message")
        return taken if isinstance(taken, ModelError) else None

    async def _stream(self, body: Mapping[str, Any], answer: Answer, hear: Any) -> ModelError | None:
        client = await _client(self)
        opened = await client.post(
            _PATH, body=dict(body), cast_to=object, stream=True, stream_cls=openai.AsyncStream[object]
        )
        async with opened as pieces:
            async for piece in pieces:
                new = answer.take(piece, part="delta")
                if isinstance(new, ModelError):
                    return new
                if new and hear is not None:
                    hear(new)
        return None


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
    client = openai.AsyncOpenAI(
        api_key=line.key,
        base_url=line.address,
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


def _failure(error: openai.APIError) -> Failure:
    if isinstance(error, openai.APIStatusError):
        asked = asked_pause_s(error.response.headers, time.time())
        return Failure(status=error.status_code, body=error.body, retry_after_s=asked)
    return _failure_inside(error.body)


def _failure_inside(body: object) -> Failure:
    """Convert an error that came with status 200: within a stream, or from a proxy in front of the model's server."""
    code = body.get("code") if isinstance(body, dict) else None
    status = code if isinstance(code, int) and code in range(400, 600) else 500
    return Failure(status=status, body=body)
