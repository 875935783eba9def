"""Answers that take a while: server-sent events, and turns that end when nobody waits for them any more.

A turn costs time and money. When its client leaves, it is cancelled: a tool that runs leaves its receipt, the turn is
closed, and whoever waits behind it for the same endpoint comes on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import orjson
from starlette.responses import Response

from tallystick.doors.http.asgi import Receive, Scope, Send

T = TypeVar("T")

LEFT = 499
"""The client is gone: nobody reads the answer, but it is counted."""
HEARTBEAT_S = 10.0
"""A line that says nothing, this often: proxies and clients close connections that are silent for longer."""
AGAIN_S = 5.0
"""Work that is told to stop just as something in it ends may miss it: it is told again."""
HEARTBEAT = b": still at work\n\n"
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),  # a proxy that collects the stream would take the life out of it
]
_log = logging.getLogger("tallystick.http")

Emit = Callable[[bytes], None]
Work = Callable[[Emit], Awaitable[Response | None]]
"""Emits events; gives an answer of its own only if there was nothing to emit."""


def event(name: str, data: Any) -> bytes:
    """One named event."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data))


def data_line(data: Any) -> bytes:
    """One event without a name."""
    return b"data: %s\n\n" % orjson.dumps(data)


class ClientLeft(Exception):  # noqa: N818 - says what happened
    """Nobody waits for the answer any more."""


async def while_wanted(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Do the work as long as the client is there.

    Raises:
        ClientLeft: It went; the work was cancelled and has come to its end.
    """
    async with asyncio.TaskGroup() as group:
        doing = group.create_task(_caught(work))
        watching = group.create_task(_cancel_when_left(receive, doing))
        await asyncio.wait([doing])
        watching.cancel()
    if doing.cancelled():
        raise ClientLeft
    done = doing.result()
    if isinstance(done, _Raised):
        raise done.error
    return done


class EventStream(Response):
    """A stream of events, as ASGI. It begins with the first event or heartbeat, so an early failure has a status."""

    def __init__(
        self, work: Work, *, translate: Callable[[Exception, Scope], Response], late: Callable[[Any], bytes]
    ) -> None:
        """Say what is to be done.

        Args:
            work: Emits the events.
            translate: The answer to an error.
            late: The event that says what such an answer would have said, once the stream has begun.
        """
        super().__init__()
        self._work = work
        self._translate = translate
        self._late = late

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the stream until its end, or until the client leaves."""
        pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        async with asyncio.TaskGroup() as group:
            doing = group.create_task(self._do(pieces))
            watching = group.create_task(_cancel_when_left(receive, doing))
            begun = await _send_pieces(pieces, send)
            watching.cancel()
        ended = None if doing.cancelled() else doing.result()
        if isinstance(ended, _Raised):
            _log.error("a turn failed", exc_info=ended.error)
            ended = self._translate(ended.error, scope)
        if not begun:
            # Without an answer the client left before the first event; then nobody reads this.
            await (ended or Response(status_code=LEFT))(scope, receive, send)
            return
        if ended is not None:
            await _send_body(send, self._late(orjson.loads(bytes(ended.body))))
        await send({"type": "http.response.body", "body": b""})

    async def _do(self, pieces: asyncio.Queue[bytes | None]) -> "Response | _Raised | None":
        try:
            return await self._work(pieces.put_nowait)
        except Exception as error:  # noqa: BLE001 - answered by whoever began the stream
            return _Raised(error)
        finally:
            pieces.put_nowait(None)


class _Raised:
    """An error on its way out of a task group, which would wrap it into a group of one."""

    def __init__(self, error: Exception) -> None:
        self.error = error


async def _caught(work: Coroutine[Any, Any, T]) -> T | _Raised:
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - raised again outside the group
        return _Raised(error)


async def _cancel_when_left(receive: Receive, doing: asyncio.Task[Any]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    while not doing.done():
        doing.cancel()
        await asyncio.wait([doing], timeout=AGAIN_S)


async def _send_pieces(pieces: asyncio.Queue[bytes | None], send: Send) -> bool:
    """Send what comes, until the end; gives whether anything was sent."""
    begun = False
    while True:
        try:
            piece = await asyncio.wait_for(pieces.get(), HEARTBEAT_S)
        except TimeoutError:
            piece = HEARTBEAT
        if piece is None:
            return begun
        if not begun:
            await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
            begun = True
        await _send_body(send, piece)


async def _send_body(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})
