"""Present all servers of a gateway as one, in every revision of the protocol.

    tools/call, prompts/get         to the server that the name begins with, under its own name there
    resources/*, completion         to the server that listed the resource
    tools/list and the other lists  from all servers, merged
    initialize, server/discover     answered here: what any server can do, and what all say about themselves
    a server's requests             to a client with a session that can answer them; others are refused

A client without a session and a server with one (or the other way round) are translated: `_meta` and `resultType`.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from tallystick.doors.mcp import answers, jsonrpc
from tallystick.doors.mcp.gateway.backend import HANDSHAKE, NAME, SESSIONLESS, Backend, BackendError, Passed, unusable
from tallystick.doors.mcp.gateway.lists import KINDS, Lists
from tallystick.doors.mcp.gateway.servers import FILE, GatewayServer, ServerList, read_servers
from tallystick.doors.mcp.jsonrpc import Message
from tallystick.doors.mcp.lines import OnLine, OnLong
from tallystick.doors.mcp.relay.names import split_name
from tallystick.errors import ConfigError
from tallystick.records import record

MEET_S = 25.0
"""Seconds that the first answer to a client waits for servers that start; later ones are announced as a change."""
LOOK_S = 1.0
"""Seconds between two looks at the list of servers."""
AGAIN_S = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds before a server that ended is started again, by the number of its ends."""
NO_METHOD = -32601
CHANGES = {
    "tools": "notifications/tools/list_changed",
    "prompts": "notifications/prompts/list_changed",
    "resources": "notifications/resources/list_changed",
}
"""Capability → the notification that its list has changed."""
_FILTERS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


@record
class Asked:
    """A request of a server that waits for the client's answer."""

    backend: Backend
    ident: Any


class Router:
    """The servers of a gateway as one upstream."""

    failed = False
    unreached: str | None = None

    def __init__(self, workspace: Path, *, view: str | None = None, timeout_s: float = 60.0) -> None:
        """Read the list of servers.

        Raises:
            ConfigError: The list cannot be used, or it has no such view.
        """
        self._workspace, self._view, self._timeout_s = workspace, view, timeout_s
        self._list_of_servers: ServerList = read_servers(workspace)
        self._list_of_servers.shown(view)
        self._seen = self._signature()
        self._token = os.urandom(9).hex()
        self._backends: dict[str, Backend] = {}
        self._ends: dict[str, int] = {}
        self._lists = Lists()
        self._tasks: dict[str, str] = {}
        """Id of a task → name of its server."""
        self._asked: dict[str, Asked] = {}
        self._numbers = count(1)
        self._streams: dict[Any, Message] = {}
        """Id of a `subscriptions/listen` request → what it wants to hear."""
        self._can: Message = {}
        self._met: asyncio.Task[None] | None = None
        self._work: set[asyncio.Task[None]] = set()
        self._own_answers: dict[str, Callable[[Message], Coroutine[Any, Any, None]]] = {
            jsonrpc.INITIALIZE: self._greet,
            jsonrpc.DISCOVER: self._greet,
            "ping": self._pong,
            "completion/complete": self._complete,
            "logging/setLevel": self._set_level,
            "subscriptions/listen": self._listen,
        }

    # -- the upstream's interface --------------------------------------------------------------------------------------

    def start(self, *, longest: int, on_line: OnLine, on_long: OnLong, on_end: Callable[[], None]) -> None:  # noqa: ARG002 - the gateway stays when its servers end
        """Store the callbacks; the servers start with the client's first message."""
        self._longest, self._on_line, self._on_long = longest, on_line, on_long
        self._begin(self._watch())

    async def connect(self) -> None:
        """Start the servers before any client is there, where none of them can ask a client."""
        await self._begun({})

    @property
    def full(self) -> bool:
        """Whether a server does not accept more data at the moment."""
        return any(one.up.full for one in self._backends.values() if one.up is not None)

    def when_room(self, call: Callable[[], None]) -> None:
        """Call back when the first full server accepts data again."""
        full = next((one.up for one in self._backends.values() if one.up is not None and one.up.full), None)
        if full is None:
            call()
        else:
            full.when_room(call)

    def pause(self) -> None:
        """Stop reading from the servers."""
        for backend in self._backends.values():
            if backend.up is not None:
                backend.up.pause()

    def resume(self) -> None:
        """Continue reading from the servers."""
        for backend in self._backends.values():
            if backend.up is not None:
                backend.up.resume()

    async def end(self) -> None:
        """End all servers."""
        for task in list(self._work):
            task.cancel()
        await asyncio.gather(*self._work, *(one.end() for one in self._backends.values()), return_exceptions=True)

    def how_it_ended(self) -> str:
        """Describe for people how the connection ended."""
        return "the gateway ended"

    def send(self, line: bytes) -> None:
        """Take one message of the client."""
        message = jsonrpc.read(line) or jsonrpc.read_anyhow(line)
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict):
                self._take(one)

    # -- from the client -----------------------------------------------------------------------------------------------

    def _take(self, message: Message) -> None:
        method = message.get("method")
        if not isinstance(method, str):
            self._settle(message)
        elif "id" not in message:
            self._notified(method, message)
        elif method == jsonrpc.CALL and self._met is not None and self._met.done():
            self._pass_named(message)
        else:
            self._begin(self._answer(method, message))

    async def _answer(self, method: str, message: Message) -> None:
        await self._meet(message)
        answer = self._own_answers.get(method)
        params = answers.params_of(message)
        if answer is not None:
            await answer(message)
        elif method in KINDS:
            await self._list(method, message)
        elif method in {jsonrpc.CALL, "prompts/get"}:
            self._pass_named(message)
        elif method in {"resources/read", "resources/subscribe", "resources/unsubscribe"}:
            await self._pass_resource(message, params.get("uri"))
        elif method.startswith("tasks/") and params.get("taskId") in self._tasks:
            self._pass(self._tasks[params["taskId"]], message)
        else:
            self._refuse(message, NO_METHOD, f"no server behind the gateway has `{method}`")

    async def _greet(self, message: Message) -> None:
        self._say(message, self._hello(message))

    async def _pong(self, message: Message) -> None:
        self._say(message, {})

    async def _set_level(self, message: Message) -> None:
        for backend in self._ready("logging"):
            self._begin(backend.tell(message["method"], answers.params_of(message)))
        self._say(message, {})

    def _hello(self, message: Message) -> Message:
        """Return the handshake's result: what all servers can do together."""
        backends = self._ready()
        can: Message = {kind: {"listChanged": True} for kind in CHANGES}
        if any(one.capabilities.get("resources", {}).get("subscribe") for one in backends):
            can["resources"]["subscribe"] = True
        can |= {name: {} for name in ("logging", "completions") if any(name in one.capabilities for one in backends)}
        told = [f"# {one.name}\n{said}" for one in backends if (said := one.hello.get("instructions"))]
        result: Message = {"capabilities": can, "serverInfo": NAME, "instructions": "\n\n".join(told)}
        if message["method"] == jsonrpc.DISCOVER:
            return {**result, "supportedVersions": [SESSIONLESS], "ttlMs": 0, "cacheScope": "private"}
        wanted = answers.params_of(message).get("protocolVersion")
        return {**result, "protocolVersion": wanted if wanted in answers.WITH_SESSION else HANDSHAKE}

    async def _list(self, method: str, message: Message) -> None:
        items, failed = await self._lists.merged(method, self._ready())
        for name, why in failed:
            _note(f"{name}: {why}")
        cached = {"ttlMs": 0, "cacheScope": "private"} if answers.sessionless_revision(message) is not None else {}
        self._say(message, {KINDS[method].key: items, **cached})

    def _pass_named(self, message: Message) -> None:
        params = answers.params_of(message)
        server, name = split_name(str(params.get("name")))
        self._pass(server, {**message, "params": {**params, "name": name}})

    async def _pass_resource(self, message: Message, address: Any) -> None:
        if self._lists.owner(str(address)) is None:
            for method in ("resources/list", "resources/templates/list"):
                await self._lists.merged(method, self._ready())
        self._pass(self._lists.owner(str(address)), message)

    async def _complete(self, message: Message) -> None:
        params = answers.params_of(message)
        ref = params.get("ref")
        named = ref.get("name") if isinstance(ref, dict) else None
        if isinstance(ref, dict) and isinstance(named, str):
            server, name = split_name(named)
            self._pass(server, {**message, "params": {**params, "ref": {**ref, "name": name}}})
        else:
            await self._pass_resource(message, ref.get("uri") if isinstance(ref, dict) else None)

    def _pass(self, server: str | None, message: Message) -> None:
        backend = self._backends.get(server or "")
        if backend is None or backend not in self._ready():
            self._refuse(message, jsonrpc.INVALID_PARAMS, "no server behind the gateway answers to this name now")
        else:
            backend.pass_on(message, sessionless=answers.sessionless_revision(message) is not None)

    def _notified(self, method: str, message: Message) -> None:
        params = answers.params_of(message)
        if method == jsonrpc.CANCELLED:
            ident = params.get("requestId")
            self._streams.pop(ident, None)
            backend = next((one for one in self._backends.values() if one.has(ident)), None)
            if backend is not None:
                backend.send(jsonrpc.written(message))
        elif method == "notifications/roots/list_changed":
            for backend in self._ready():
                backend.send(jsonrpc.written(message))

    def _settle(self, message: Message) -> None:
        """Pass the client's answer to the server that asked."""
        asked = self._asked.pop(str(message.get("id")), None)
        if asked is not None:
            asked.backend.send(jsonrpc.written({**message, "id": asked.ident}))

    async def _listen(self, message: Message) -> None:
        wanted = answers.params_of(message).get("notifications")
        asked = wanted if isinstance(wanted, dict) else {}
        honoured = {name: True for name in _FILTERS.values() if asked.get(name) is True}
        self._streams[message["id"]] = honoured
        told = {"notifications": honoured, "_meta": {answers.SUBSCRIPTION: message["id"]}}
        self._on_line(jsonrpc.notification("notifications/subscriptions/acknowledged", told))

    # -- from the servers ----------------------------------------------------------------------------------------------

    def _heard(self, backend: Backend, line: bytes, message: Message) -> None:
        """Take a request or a notification of a server."""
        method = message["method"]
        if "id" not in message:
            changed = next((kind for kind, name in CHANGES.items() if name == method), None)
            if changed is None:
                self._on_line(line)
            elif backend in self._ready():
                self._changed(changed)
        elif method == "ping":
            backend.send(jsonrpc.written({"jsonrpc": "2.0", "id": message["id"], "result": {}}))
        elif method.partition("/")[0] in self._can:
            ident = f"gateway-{self._token}-asks-{next(self._numbers)}"
            self._asked[ident] = Asked(backend=backend, ident=message["id"])
            self._on_line(jsonrpc.written({**message, "id": ident}))
        else:
            backend.send(answers.error(message["id"], NO_METHOD, "the client of this gateway cannot answer that"))

    def _answered(self, backend: Backend, passed: Passed, line: bytes, message: Message) -> None:
        """Pass a server's answer to the client, in the client's kind of revision."""
        result = message.get("result")
        task = result.get("task", result) if isinstance(result, dict) else None
        if isinstance(task, dict) and isinstance(task.get("taskId"), str):
            self._tasks.setdefault(task["taskId"], backend.name)
        if passed.sessionless and isinstance(result, dict) and "resultType" not in result:
            line = jsonrpc.written({**message, "result": {"resultType": "complete", **result}})
        self._on_line(line)

    def _too_long(self, passed: Passed, size: int) -> None:
        self._on_long(jsonrpc.written({"id": passed.ident}), b"", size)

    def _changed(self, *kinds: str) -> None:
        for kind in kinds or CHANGES:
            self._on_line(jsonrpc.notification(CHANGES[kind], {}))
            for ident, wanted in self._streams.items():
                if wanted.get(_FILTERS[kind]):
                    self._on_line(jsonrpc.notification(CHANGES[kind], {"_meta": {answers.SUBSCRIPTION: ident}}))

    # -- the servers ---------------------------------------------------------------------------------------------------

    def _ready(self, capability: str | None = None) -> list[Backend]:
        """Return the connected servers of this view that have a capability."""
        found = [one for one in self._backends.values() if one.hello and not one.ended]
        return [one for one in found if capability is None or capability in one.capabilities]

    async def _meet(self, message: Message) -> None:
        """Start all servers with the first request, and wait for them, but not too long."""
        can = answers.params_of(message).get("capabilities")
        # Only a client with a session can be asked by a server.
        await self._begun(can if message["method"] == jsonrpc.INITIALIZE and isinstance(can, dict) else {})

    async def _begun(self, can: Message) -> None:
        if self._met is None:
            self._can = can
            self._met = asyncio.ensure_future(self._connect_all(self._wanted().values()))
        await asyncio.wait([self._met], timeout=MEET_S)

    async def _connect_all(self, servers: Iterable[GatewayServer]) -> None:
        await asyncio.gather(*(self._connect(server) for server in servers))

    async def _connect(self, server: GatewayServer) -> bool:
        backend = Backend(
            server,
            longest=self._longest,
            timeout_s=self._timeout_s,
            token=self._token,
            on_message=self._heard,
            on_answer=self._answered,
            on_long=self._too_long,
            on_end=self._ended,
        )
        self._backends[server.name] = backend
        try:
            await backend.connect(self._can)
        except (ConfigError, BackendError) as error:
            _note(f"{server.name}: {unusable(error)}")
            await backend.end()
            return False
        return True

    def _ended(self, backend: Backend) -> None:
        """Announce that a server is gone, and start it again after a while."""
        if self._backends.get(backend.name) is not backend:
            return
        how = "" if backend.up is None else backend.up.how_it_ended()
        _note(f"the server {backend.name} is gone: {how}")
        self._changed()
        self._begin(self._again(backend))

    async def _again(self, backend: Backend) -> None:
        ends = self._ends[backend.name] = self._ends.get(backend.name, 0) + 1
        await backend.end()
        await asyncio.sleep(AGAIN_S[min(ends, len(AGAIN_S)) - 1])
        if self._backends.get(backend.name) is backend and await self._connect(backend.server):
            self._changed()

    def _wanted(self) -> dict[str, GatewayServer]:
        shown = self._list_of_servers.shown(self._view)
        return {name: server for name, server in self._list_of_servers.servers.items() if name in shown}

    def _signature(self) -> tuple[int, int] | None:
        with suppress(OSError):
            found = (self._workspace / FILE).stat()
            return found.st_mtime_ns, found.st_size
        return None

    async def _watch(self) -> None:
        """Take up changes of the list of servers."""
        while True:
            await asyncio.sleep(LOOK_S)
            seen = self._signature()
            if seen == self._seen:
                continue
            self._seen = seen
            try:
                listed = read_servers(self._workspace)
                listed.shown(self._view)
            except ConfigError as error:
                _note(f"the servers stay as they were: {error}")
                continue
            self._list_of_servers = listed
            if self._met is not None:
                await self._update()

    async def _update(self) -> None:
        wanted = self._wanted()
        gone = [one for name, one in self._backends.items() if wanted.get(name) != one.server]
        for backend in gone:
            del self._backends[backend.name]
        await asyncio.gather(*(one.end() for one in gone))
        added = [server for name, server in wanted.items() if name not in self._backends]
        await self._connect_all(added)
        if gone or added:
            self._changed()

    # -- answers of its own --------------------------------------------------------------------------------------------

    def _say(self, message: Message, result: Message) -> None:
        kind = {"resultType": "complete"} if answers.sessionless_revision(message) is not None else {}
        self._on_line(jsonrpc.written({"jsonrpc": "2.0", "id": message["id"], "result": {**kind, **result}}))

    def _refuse(self, message: Message, code: int, text: str) -> None:
        self._on_line(answers.error(message["id"], code, f"tallystick: {text}"))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)


def _note(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(f"tallystick: {text}\n")
        sys.stderr.flush()
