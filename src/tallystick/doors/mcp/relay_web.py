"""The server's side of the relay, when the server has an address: each message a POST, answers as they come."""

import asyncio
import re
from collections.abc import Callable, Sequence

from tallystick.doors.mcp import jsonrpc
from tallystick.doors.mcp.jsonrpc import Message
from tallystick.doors.mcp.lines import EDGE, OnLine, OnLong
from tallystick.errors import ConfigError
from tallystick.rooms.relay.events import EventReader
from tallystick.rooms.relay.web import Reply, WebError, WebServer
from tallystick.settings import key_variable

GRACE_S = 2.0
"""For the first answer, when the client has left."""
AGAIN_S = 1.0
"""Between two tries to listen."""
JSON, EVENTS = "application/json", "text/event-stream"
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_HELP = {401: "log in: give --header 'Authorization: Bearer ${TOKEN}'", 403: "not allowed", 404: "nothing is there"}


class WebUpstream:
    """A server that speaks streamable HTTP."""

    full = False
    failed = False

    def __init__(self, url: str, headers: Sequence[str]) -> None:
        self._server = WebServer(url, [_header(text) for text in headers])
        self._session: dict[str, str] = {}
        self._work: set[asyncio.Task[None]] = set()
        self._room = asyncio.Event()
        self._room.set()
        self._listening = False
        self._met = False
        """Whether it ever gave an answer that can be used."""
        self.unreached: str | None = None

    def start(self, *, longest: int, on_line: OnLine, on_long: OnLong, on_end: Callable[[], None]) -> None:
        """Remember whom to tell; there is no connection before there is something to say."""
        self._on_end = on_end
        self._longest, self._on_line, self._on_long = longest, on_line, on_long

    def send(self, line: bytes) -> None:
        """Say something to the server."""
        self._begin(self._post(line))

    def pause(self) -> None:
        """Let the server wait."""
        self._room.clear()

    def resume(self) -> None:
        """Go on listening."""
        self._room.set()

    def when_room(self, call: Callable[[], None]) -> None:
        """Nothing waits here, so there is always room."""
        call()

    def how_it_ended(self) -> str:
        """For people."""
        return self.unreached or "the connection ended"

    async def end(self) -> None:
        """End the session."""
        if self._work and not self._met:
            # Whoever said hello and left at once should still hear that nobody is there.
            await asyncio.wait(self._work, timeout=GRACE_S)
        for task in list(self._work):
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        if "Mcp-Session-Id" in self._session:
            try:
                async with asyncio.timeout(2):
                    self._server.done(await self._server.ask("DELETE", self._session))
            except (WebError, TimeoutError):
                pass
        self._server.close()

    def _begin(self, work: "asyncio.Future[None] | object") -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[arg-type] # a coroutine, always
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _post(self, line: bytes) -> None:
        message = jsonrpc.read(line)
        asks = isinstance(message, dict) and "method" in message and "id" in message
        headers = {"Content-Type": JSON, "Accept": f"{JSON}, {EVENTS}", **self._session}
        try:
            reply = await self._server.ask("POST", headers, line)
            await self._take(reply, message if asks else None)
        except WebError as error:
            self._failed(message if asks else None, str(error))
            return
        if isinstance(message, dict) and message.get("method") == "notifications/initialized" and not self._listening:
            self._listening = True
            self._begin(self._listen(None))

    async def _take(self, reply: Reply, question: Message | None) -> None:
        if reply.status >= 400:  # noqa: PLR2004 - HTTP's own border
            reply.wire.close()
            hint = _HELP.get(reply.status)
            self._failed(question, f"the server answered HTTP {reply.status}{f' ({hint})' if hint else ''}")
            return
        self._met, self.unreached = True, None
        if "mcp-session-id" in reply.headers:
            self._session["Mcp-Session-Id"] = reply.headers["mcp-session-id"]
        if reply.kind == EVENTS:
            await self._stream(reply, question)
            return
        body = await self._body(reply)
        self._server.done(reply)
        if body.strip():
            self._say(body, question)

    async def _body(self, reply: Reply) -> bytes:
        pieces, size = [b""], 0
        async for piece in reply.pieces():
            size += len(piece)
            if size <= self._longest:
                pieces.append(piece)
            else:
                pieces[2:] = [pieces[-1][-EDGE:]]
        if size > self._longest:
            self._on_long(pieces[1][:EDGE], pieces[-1][-EDGE:], size)
            return b""
        return b"".join(pieces)

    async def _stream(self, reply: Reply, question: Message | None) -> None:
        """Events until the stream ends; one that breaks off before the answer is taken up again where it ended."""
        events, last = EventReader(self._longest), None
        answered = question is None
        async for piece in reply.pieces():
            await self._room.wait()
            for event in events.feed(piece):
                last = event.ident or last
                if event.data:
                    answered = self._say(event.data, question) or answered
            if events.dropped and not answered:
                self._failed(question, f"the server's answer has more than {self._longest} bytes")
                reply.wire.close()
                return
        self._server.done(reply)
        if not answered and last is None:
            self._failed(question, "the server's stream ended without an answer")
        elif not answered:
            await self._listen(last, question)

    async def _listen(self, last: str | None, question: Message | None = None) -> None:
        """Listen to the server's own stream, or to the rest of one."""
        while True:
            headers = {"Accept": EVENTS, **self._session, **({"Last-Event-ID": last} if last else {})}
            try:
                reply = await self._server.ask("GET", headers)
                if reply.status != 200 or reply.kind != EVENTS:  # noqa: PLR2004
                    # Many servers have none; that is their right.
                    reply.wire.close()
                    self._failed(question, "the server's stream broke off and cannot be taken up again")
                    return
                await self._stream(reply, question)
            except WebError as error:
                self._failed(question, str(error))
            if question is not None:
                return
            await asyncio.sleep(AGAIN_S)

    def _say(self, data: bytes, question: Message | None) -> bool:
        """Pass a message on as one line; says whether it answers the question."""
        # Line breaks stand between tokens only: inside a string they would be escaped.
        line = data.strip().replace(b"\r", b" ").replace(b"\n", b" ")
        if question is None:
            self._on_line(line)
            return False
        message = jsonrpc.read(line)
        answers = isinstance(message, dict) and "method" not in message and message.get("id") == question["id"]
        if answers and question.get("method") == jsonrpc.INITIALIZE:
            result = message.get("result")
            version = result.get("protocolVersion") if isinstance(result, dict) else None
            if isinstance(version, str):
                self._session["Mcp-Protocol-Version"] = version
        self._on_line(line)
        return answers

    def _failed(self, question: Message | None, why: str) -> None:
        if question is not None:
            self._on_line(jsonrpc.error(question["id"], jsonrpc.SERVER_ERROR, f"tallystick: {why}"))
        if not self._met:
            self.unreached = why
            if question is not None and question.get("method") == jsonrpc.INITIALIZE:
                # A client that could not even say hello has nothing more to say.
                self._on_end()


def _header(text: str) -> tuple[str, str]:
    """A header as it was given, with variables of the environment put in: a token need not stand in a config file.

    Raises:
        ConfigError: A variable that is not set.
    """
    name, _, value = text.partition(":")

    def variable(found: re.Match[str]) -> str:
        known = key_variable(found[1])
        if known is None:
            message = (
                f"--header {name}: the environment variable {found[1]} is not set. Set it where the client starts."
            )
            raise ConfigError(message, code="variable_not_set")
        return known

    return name.strip(), _VARIABLE.sub(variable, value.strip())
