"""No answer is read without a limit.

The SDK reads what a server sends to the end. So the bytes are counted where they come in, before anything holds them,
and an answer that is packed is refused: a thousand bytes of it may unpack to a gigabyte.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx2

_PIECES = 64
"""Each piece of a stream carries its text in an object of its own, some hundred bytes around a few letters."""
_ESCAPES = 6
"""JSON may write one byte as six."""
_AROUND = 65_536


class TooLarge(Exception):  # noqa: N818 - reads as what it is
    """The answer passed its limit and was left unread."""


class Packed(Exception):  # noqa: N818
    """The answer came packed although that was not asked for."""


def limiter(limit: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """A hook for the HTTP client that holds every answer to a limit.

    Args:
        limit: Bytes of text in one answer.
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
