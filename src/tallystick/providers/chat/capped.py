"""Size limits for responses.

The SDK reads a response to its end. So the bytes are counted as they arrive, before anything buffers them, and a
compressed response is refused: a thousand bytes of it may expand to a gigabyte.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx2

_PIECES = 64
"""Allowance for streams: each chunk wraps a few letters of text in an object of some hundred bytes."""
_ESCAPES = 6
"""JSON may encode one byte as six."""
_AROUND = 65_536


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
