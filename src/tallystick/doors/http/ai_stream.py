"""Long-running responses: server-sent events, and cancellation when the client disconnects.

A turn costs time and money. When its client disconnects, the turn is cancelled: a running tool still records its
receipt, the turn is closed, and the next turn in the endpoint's queue starts.
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
"""Status for a disconnected client: nobody reads the response, but metrics count it."""
HEARTBEAT_S = 10.0
"""Interval of comment lines that keep the connection open: proxies and clients close silent connections."""
AGAIN_S = 5.0
"""Interval to repeat a cancellation, which the work may miss if one of its awaits completes at the same moment."""
HEARTBEAT = b": still at work\n\n"
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),  # a buffering proxy would delay the events
]
_log = logging.getLogger("tallystick.http")

Emit = Callable[[bytes], None]
Work = Callable[[Emit], Awaitable[Response | None]]
"""Emits events; returns a response only if it emitted none."""


def event(name: str, data: Any) -> bytes:
    """Encode one named event."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data))


def data_line(data: Any) -> bytes:
    """Encode one unnamed event."""
    return b"data: %s\n\n" % orjson.dumps(data)


class ClientLeft(Exception):  # noqa: N818 - the name states the condition
    """The client has disconnected."""


async def while_wanted(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Run the work while the client is connected.

    Raises:
        ClientLeft: The client disconnected; the work was cancelled and has ended.
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
    """An ASGI event stream. It starts with the first event or heartbeat, so an earlier failure has its own status."""

    def __init__(
        self, work: Work, *, translate: Callable[[Exception, Scope], Response], late: Callable[[Any], bytes]
    ) -> None:
        """Create the stream.

        Args:
            work: Emits the events.
            translate: Converts an error to a response.
            late: Converts the body of such a response to an event, once the stream has started.
        """
        super().__init__()
        self._work = work
        self._translate = translate
        self._late = late

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the stream until its end, or until the client disconnects."""
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
            # Without a response, the client disconnected before the first event.
            await (ended or Response(status_code=LEFT))(scope, receive, send)
            return
        if ended is not None:
            await _send_body(send, self._late(orjson.loads(bytes(ended.body))))
        await send({"type": "http.response.body", "body": b""})

    async def _do(self, pieces: asyncio.Queue[bytes | None]) -> "Response | _Raised | None":
        try:
            return await self._work(pieces.put_nowait)
        except Exception as error:  # noqa: BLE001 - `__call__` answers it
            return _Raised(error)
        finally:
            pieces.put_nowait(None)


class _Raised:
    """Carries an error out of a task group, which would otherwise wrap it in an exception group."""

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
    """Send pieces until the end; return whether the response was started."""
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
