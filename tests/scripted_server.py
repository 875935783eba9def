"""An OpenAI-compatible server on loopback that answers from a script, and misbehaves where the script says so.

    with ScriptedServer(Status(429), Says("hello")) as server:
        …ask server.base_url…
    server.requests[0].body["messages"]

It runs in a thread of its own, so any test may use it, with or without a loop. Each request takes the next behaviour of
the script; once it is used up, every request is answered as `always` does, or gets status 500 and a sentence that says
so.
"""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    """Names in small letters."""
    body: Any

    @property
    def text(self) -> str:
        """Everything the messages say, and the system prompt where an API keeps it apart."""
        said = [message.get("content") for message in self.body["messages"]]
        return "\n".join(map(str, [self.body.get("system", ""), *said]))

    @property
    def nonce(self) -> str:
        """The nonce of this step: the last that the prompt names."""
        return re.findall(r"TOOL_NONCE: (\S+)", self.text)[-1]

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))


Words = str | Callable[[Seen], str]
"""What is said: a text, or what makes one of the request, which knows its nonce."""


class Behaviour:
    """What the server does with one request."""

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Says(Behaviour):
    """A proper answer: as one object, or as a stream where that was asked for."""

    words: Words
    calls: Sequence[tuple[str, str]] = ()
    """Native calls: name and arguments."""
    usage: Any = field(default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18})
    finish: str | None = "stop"
    piece: int = 5
    """Characters in one piece of a stream."""

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        text = self.words(seen) if callable(self.words) else self.words
        if seen.streams:
            await wire.head("text/event-stream")
            for piece in self._pieces(text):
                await wire.event(piece)
            await wire.event("[DONE]")
            await wire.end()
        else:
            message = {"role": "assistant", "content": text or None}
            if self.calls:
                message["tool_calls"] = [_call(place, *call) for place, call in enumerate(self.calls)]
            await wire.json(200, _completion({"message": message, "finish_reason": self._finish}, usage=self.usage))

    @property
    def _finish(self) -> str | None:
        return "tool_calls" if self.calls else self.finish

    def _pieces(self, text: str) -> list[Any]:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": text[at : at + self.piece]} for at in range(0, len(text), self.piece)]
        for place, (name, arguments) in enumerate(self.calls):
            half = len(arguments) // 2
            deltas.append({"tool_calls": [{"index": place, **_call(place, name, arguments[:half])}]})
            deltas.append({"tool_calls": [{"index": place, "function": {"arguments": arguments[half:]}}]})
        made = [_completion({"delta": delta, "finish_reason": None}) for delta in deltas]
        made.append(_completion({"delta": {}, "finish_reason": self._finish}))
        if self.usage is not None:
            made.append(_completion(usage=self.usage))
        return made


@dataclass(frozen=True)
class Pauses(Says):
    """Says some pieces of a stream, and the rest when it is let."""

    after: int = 1
    go_on: threading.Event = field(default_factory=threading.Event)

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        if not seen.streams:
            await super().answer(seen, wire)
            return
        await wire.head("text/event-stream")
        for place, piece in enumerate(self._pieces(str(self.words))):
            if place == self.after:
                await asyncio.to_thread(self.go_on.wait, 120)
            await wire.event(piece)
        await wire.event("[DONE]")
        await wire.end()


@dataclass(frozen=True)
class Status(Behaviour):
    """An answer with a status, and a body of its own if one is given."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        body = {"error": {"message": "as the script says"}} if self.body is None else self.body
        await wire.json(self.status, body, self.headers)


@dataclass(frozen=True)
class Raw(Behaviour):
    """These bytes as the body of an answer with status 200."""

    body: bytes
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        await wire.whole(200, self.body, self.kind, self.headers)


@dataclass(frozen=True)
class RefusesForm(Behaviour):
    """Status 400 for a request with a `response_format` of one of these types; otherwise as `then` does."""

    types: frozenset[str]
    then: Behaviour
    message: str = "'response_format' of this type is not supported"

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        kind = seen.body.get("response_format", {}).get("type")
        refused = Status(400, {"error": {"message": self.message, "param": "response_format"}})
        await (refused if kind in self.types else self.then).answer(seen, wire)


@dataclass(frozen=True)
class HalfAStream(Behaviour):
    """A stream that breaks off after some text: politely, or in the middle of a piece."""

    words: str
    politely: bool = False

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        await wire.head("text/event-stream")
        await wire.event(_completion({"delta": {"content": self.words}, "finish_reason": None}))
        if self.politely:
            await wire.end()
        else:
            await wire.send(b'data: {"choices": [{"del')
            wire.drop()


@dataclass(frozen=True)
class Endless(Behaviour):
    """Goes on sending a piece until nobody listens any more; `line` sends one line that never ends."""

    line: bool = False

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        await wire.head("text/event-stream" if seen.streams else "application/json")
        while True:
            if self.line or not seen.streams:
                await wire.send(b"x" * 65_536)
            else:
                await wire.event(_completion({"delta": {"content": "x" * 65_536}, "finish_reason": None}))


class Hangs(Behaviour):
    """Reads the request and never answers; ends when the other side hangs up."""

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        await wire.hung_up()


@dataclass(frozen=True)
class HangsMidway(Behaviour):
    """Begins a stream and then says nothing more."""

    words: str = "half"

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        await wire.head("text/event-stream")
        await wire.event(_completion({"delta": {"content": self.words}, "finish_reason": None}))
        await wire.hung_up()


class Drops(Behaviour):
    """Closes the connection without an answer."""

    async def answer(self, seen: Seen, wire: "Wire") -> None:
        wire.drop()


class Wire:
    """One connection, as behaviours use it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        await self.whole(status, json.dumps(body).encode(), "application/json", headers or {})

    async def whole(self, status: int, body: bytes, kind: str, headers: Mapping[str, str]) -> None:
        await self.head(kind, status, {"content-length": str(len(body)), **headers}, chunked=False)
        self._writer.write(body)
        await self._writer.drain()

    async def head(
        self, kind: str, status: int = 200, headers: Mapping[str, str] | None = None, *, chunked: bool = True
    ) -> None:
        self._chunked = chunked
        lines = {"content-type": kind, **(headers or {}), **({"transfer-encoding": "chunked"} if chunked else {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._writer.write(f"HTTP/1.1 {status} Scripted\r\n{head}\r\n".encode())
        await self._writer.drain()

    async def event(self, data: Any) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        await self.send(f"data: {text}\n\n".encode())

    async def send(self, data: bytes) -> None:
        self._writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self._writer.drain()

    async def end(self) -> None:
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def hung_up(self) -> None:
        """Wait until the other side closes the connection."""
        while await self._reader.read(65_536):
            pass

    def drop(self) -> None:
        self._writer.close()


class ScriptedServer:
    """The server; use it with `with`."""

    def __init__(self, *script: Behaviour, always: Behaviour | None = None) -> None:
        self._always = Status(500, {"error": "the script is over"}) if always is None else always
        self.requests: list[Seen] = []
        self.connections = 0
        self._script = list(script)
        self._loop = asyncio.new_event_loop()
        self._idle = threading.Condition()
        self._open = 0
        self._port = 0
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()

    @property
    def base_url(self) -> str:
        """Without `/v1`."""
        return f"http://127.0.0.1:{self._port}"

    def wait_until_idle(self, timeout_s: float = 120.0) -> bool:
        """Wait until no connection is open: that the client has hung up is seen here."""
        with self._idle:
            return self._idle.wait_for(lambda: self._open == 0, timeout_s)

    def __enter__(self) -> "ScriptedServer":
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**25)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with self._idle:
            self._open += 1
            self.connections += 1
        try:
            while (seen := await _read(reader)) is not None and not writer.is_closing():
                self.requests.append(seen)
                behaviour = self._script.pop(0) if self._script else self._always
                await behaviour.answer(seen, Wire(reader, writer))
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with self._idle:
                self._open -= 1
                self._idle.notify_all()


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(path=first.split(" ")[1], headers=headers, body=json.loads(body) if body else None)


def _completion(choice: Mapping[str, Any] | None = None, *, usage: Any = None) -> dict[str, Any]:
    choices = [] if choice is None else [{"index": 0, **choice}]
    made = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted", "choices": choices}
    return made if usage is None else {**made, "usage": usage}


def _call(place: int, name: str, arguments: str) -> dict[str, Any]:
    return {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
