"""The server's side of the relay over streamable HTTP: each message is a POST, responses arrive as JSON or events."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import orjson

from tallystick.doors.mcp import answers, jsonrpc
from tallystick.doors.mcp.lines import OnLine, OnLong
from tallystick.doors.mcp.relay.headers import REVISION, RoutingHeaders, can_be_kept, given_header
from tallystick.doors.mcp.relay.pending_requests import Owed, PendingRequest, read
from tallystick.doors.mcp.relay.sse import EventReader
from tallystick.providers.net.connection_pool import ConnectionPool, ConnectionPoolError, StreamedResponse

GRACE_S = 2.0
"""Seconds to wait for the first response after the client has left."""
AGAIN_S = 1.0
"""Seconds between two attempts to open a stream."""
FUTILE = 60
"""Maximum reconnects of a broken stream in a row that bring nothing new."""
OK, ELSEWHERE, BAD = 200, 300, 400
"""Bounds of the HTTP status classes."""
SAYS_WHY = frozenset({400, 404})
"""Statuses with which a server without sessions sends a JSON-RPC error."""
SESSION = "Mcp-Session-Id"
JSON, EVENTS = "application/json", "text/event-stream"
MOVED = "it points elsewhere, which is not followed: give that address with --url"
_HELP = {401: "log in: give --header 'Authorization: Bearer ${TOKEN}'", 403: "not allowed", 404: "nothing is there"}


class WebUpstream:
    """A server reached over streamable HTTP."""

    full = False
    failed = False

    def __init__(self, url: str, headers: Sequence[str]) -> None:
        self._server = ConnectionPool(url, [given_header(text) for text in headers])
        self._session: dict[str, str] = {}
        self._routing = RoutingHeaders()
        self._posts: dict[Any, asyncio.Task[None]] = {}
        """POST requests without a session in flight, by id: closing one cancels it."""
        self._owed = Owed()
        self._work: set[asyncio.Task[None]] = set()
        self._room = asyncio.Event()
        self._room.set()
        self._listening = False
        self._met = False
        """Whether the server ever sent a usable response."""
        self.unreached: str | None = None

    def start(self, *, longest: int, on_line: OnLine, on_long: OnLong, on_end: Callable[[], None]) -> None:
        """Store the callbacks; the first message opens the first connection."""
        self._on_end = on_end
        self._longest, self._on_line, self._on_long = longest, on_line, on_long

    def send(self, line: bytes) -> None:
        """Send a message to the server."""
        message = read(line)
        if isinstance(message, dict) and message.get("method") == jsonrpc.CANCELLED and self._closed(message):
            return
        headers = self._routing.headers_of(message)
        post = self._begin(self._post(line, message, headers or self._session))
        if headers and isinstance(ident := message.get("id"), int | str):
            self._posts[ident] = post
            post.add_done_callback(lambda _: self._posts.pop(ident, None) if self._posts.get(ident) is post else None)

    def pause(self) -> None:
        """Stop reading from the server."""
        self._room.clear()

    def resume(self) -> None:
        """Continue reading from the server."""
        self._room.set()

    def when_room(self, call: Callable[[], None]) -> None:
        """Call back at once: nothing is buffered here, so there is always room."""
        call()

    def how_it_ended(self) -> str:
        """Describe for people why the connection ended."""
        return self.unreached or "the connection ended"

    async def end(self) -> None:
        """Cancel running requests, end the session and close the connections."""
        if self._work and not self._met:
            # A client that sent `initialize` and left at once should still learn that the server is unreachable.
            await asyncio.wait(self._work, timeout=GRACE_S)
        for task in list(self._work):
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        if SESSION in self._session:
            try:
                async with asyncio.timeout(2):
                    self._server.done(await self._server.ask("DELETE", self._session))
            except (ConnectionPoolError, TimeoutError):
                pass
        self._server.close()

    def _closed(self, cancelled: jsonrpc.Message) -> bool:
        """Close the request that a client cancels; return False if the server must be notified instead."""
        wanted = answers.params_of(cancelled).get("requestId")
        post = self._posts.get(wanted) if isinstance(wanted, int | str) else None
        if post is not None:
            post.cancel()
        # Servers without sessions do not accept notifications.
        return post is not None or not self._session

    def _begin(self, work: "asyncio.Future[None] | object") -> "asyncio.Task[None]":
        task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[arg-type] # always a coroutine
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return task

    async def _post(self, line: bytes, message: Any, place: Mapping[str, str]) -> None:
        questions = self._owed.ask(message)
        headers = {"Content-Type": JSON, "Accept": f"{JSON}, {EVENTS}", **place}
        try:
            await self._take(await self._server.ask("POST", headers, line), questions)
        except asyncio.CancelledError:
            self._owed.give_up(questions)
            raise
        except ConnectionPoolError as error:
            self._failed(questions, str(error))
            return
        except Exception as error:  # noqa: BLE001 - a request is waiting, so every error must answer it
            asyncio.get_running_loop().call_exception_handler({"message": "a bug in the relay", "exception": error})
            self._failed(questions, f"the relay failed ({type(error).__name__}); see its log")
            return
        if isinstance(message, dict) and message.get("method") == "notifications/initialized" and not self._listening:
            self._listening = True
            self._begin(self._listen())

    async def _take(self, reply: StreamedResponse, questions: list[PendingRequest]) -> None:
        wrong = _wrong_with(reply)
        if wrong is not None:
            said = await self._reason(reply, questions)
            reply.wire.close()
            if said is None:
                self._failed(questions, wrong)
            else:
                self._say(said)
            return
        if session := reply.headers.get(SESSION.lower()):
            self._session[SESSION] = session
        if reply.kind == EVENTS:
            await self._stream(reply, questions)
            return
        body = await self._body(reply, questions)
        self._server.done(reply)
        if body:
            self._say(body)
        if _open(questions):
            what = "something that does not answer the request" if body else "nothing"
            self._failed(questions, f"the server answered HTTP {reply.status} with {what}")

    async def _reason(self, reply: StreamedResponse, questions: list[PendingRequest]) -> bytes | None:
        """Return the JSON-RPC error with which a server refuses a request without a session; None if it sent none."""
        if reply.status not in SAYS_WHY or reply.kind != JSON or not any(one.sessionless for one in questions):
            return None
        message = read(await self._body(reply, questions))
        error = message.get("error") if isinstance(message, dict) else None
        # A server that could not parse the request names no id.
        return jsonrpc.written({"jsonrpc": "2.0", "id": questions[0].ident, "error": error}) if error else None

    async def _body(self, reply: StreamedResponse, questions: list[PendingRequest]) -> bytes:
        body = bytearray()
        async for piece in reply.pieces():
            body += piece
            if len(body) > self._longest:
                # The body may never end, and a request is waiting.
                reply.wire.close()
                self._too_long(questions, max(len(body), int(reply.headers.get("content-length", 0))))
                return b""
        return bytes(body).strip()

    async def _stream(self, reply: StreamedResponse, questions: list[PendingRequest]) -> None:
        """Read events until the stream ends; if it breaks off before the response, resume it where it ended."""
        last, futile = None, 0
        for taken in count():
            before = last
            last, how = await self._events(reply, questions, last)
            if not _open(questions):
                return
            futile = futile + 1 if last == before else 0
            if last is None or futile > FUTILE:
                self._failed(questions, how)
                return
            if taken:
                # A server may break the stream again and again: wait between reconnects.
                await asyncio.sleep(AGAIN_S)
            reply = await self._server.ask("GET", {"Accept": EVENTS, **self._session, "Last-Event-ID": last})
            if not _is_stream(reply):
                reply.wire.close()
                self._failed(questions, "the server's stream broke off and cannot be taken up again")
                return

    async def _events(
        self, reply: StreamedResponse, questions: list[PendingRequest], last: str | None
    ) -> tuple[str | None, str]:
        """Forward the events of one stream; return the event id to resume from, if any, and how the stream ended."""
        events = EventReader(self._longest)
        try:
            async for piece in reply.pieces():
                await self._room.wait()
                for event in events.feed(piece):
                    last = event.ident or last
                    if event.data:
                        self._say(event.data)
                if events.dropped and _open(questions):
                    reply.wire.close()
                    return None, f"the server's answer has more than {self._longest} bytes"
        except ConnectionPoolError as error:
            how = str(error)
        else:
            self._server.done(reply)
            how = "the server's stream ended without an answer"
        if last is not None and not can_be_kept(last):
            return None, f"{how}, and its place in the stream cannot be said in a header"
        return last, how

    async def _listen(self) -> None:
        """Read the stream that the server opens for its own messages."""
        while True:
            try:
                reply = await self._server.ask("GET", {"Accept": EVENTS, **self._session})
                if not _is_stream(reply):
                    # This stream is optional, and many servers have none.
                    reply.wire.close()
                    return
                await self._stream(reply, [])
            except ConnectionPoolError:
                pass
            await asyncio.sleep(AGAIN_S)

    def _say(self, data: bytes) -> None:
        """Forward a message as one line."""
        # Line breaks occur only between tokens: inside a string they are escaped.
        line = data.strip().replace(b"\r", b" ").replace(b"\n", b" ")
        message = read(line)
        answered = self._owed.answered_by(message)
        if any(question.method == jsonrpc.INITIALIZE for question in answered) and not self._agree(message):
            self._failed(answered, "the server's protocol version cannot be said in a header")
        elif answered or not self._owed.is_late(message):
            if any(question.method == jsonrpc.LIST for question in answered) and isinstance(message, dict):
                self._routing.learn(message)
            if self._owed.settle(answered):
                self._met, self.unreached = True, None
            self._on_line(line)

    def _agree(self, hello: Any) -> bool:
        """Store the protocol version that the server chose; return False if it is not valid in a header."""
        result = hello.get("result") if isinstance(hello, dict) else None
        version = result.get("protocolVersion") if isinstance(result, dict) else None
        if isinstance(version, str) and version:
            if not can_be_kept(version):
                return False
            self._session[REVISION] = version
        return True

    def _too_long(self, questions: list[PendingRequest], size: int) -> None:
        for question in (one for one in questions if one.method == jsonrpc.CALL):
            head = orjson.dumps({"id": question.ident})
            # A call fails with its own error if its id can be found in the kept part of the response.
            if jsonrpc.key_in_ends(head, b"") is not None:
                self._owed.give_up([question])
                self._on_long(head, b"", size)
        self._failed(questions, f"the server's answer has {size} bytes; --max-output allows more")

    def _failed(self, questions: list[PendingRequest], why: str) -> None:
        left = self._owed.give_up(questions)
        for question in left:
            self._on_line(answers.error(question.ident, jsonrpc.SERVER_ERROR, f"tallystick: {why}"))
        if not self._met:
            self.unreached = why
            if any(question.method == jsonrpc.INITIALIZE for question in left):
                # A client whose `initialize` failed cannot continue.
                self._on_end()


def _open(questions: list[PendingRequest]) -> bool:
    return any(question.open for question in questions)


def _is_stream(reply: StreamedResponse) -> bool:
    return reply.status == OK and reply.kind == EVENTS


def _wrong_with(reply: StreamedResponse) -> str | None:
    """Return why a response is refused without reading its body; None if it is acceptable."""
    if not OK <= reply.status < ELSEWHERE:
        hint = _HELP.get(reply.status) or (MOVED if reply.status < BAD else None)
        return f"the server answered HTTP {reply.status}{f' ({hint})' if hint else ''}"
    if (session := reply.headers.get(SESSION.lower())) and not can_be_kept(session):
        return "the server's session id cannot be said in a header"
    return None
