"""The relay forwards lines between a client and a server and sends calls and tool lists through the gate.

    client ──line──► is it a call? ──no───────────────────────────────► server
                          │ yes
                          └──► gate: admit, decide, record ──line─────► server

    client ◄──line── gate: check, record ◄──answers a call? yes──line── server
    client ◄──line───────────────────────────────────────── no ──line── server

Everything else in the protocol is forwarded byte for byte: resources, prompts, sampling, elicitation, roots, logging,
progress, completions. `from_client` and `from_server` are the two directions, `connection` is their shared state,
`gate_side` is the gate's side. The gate loads while the server starts.
"""

import asyncio
from collections.abc import Awaitable, Callable

from tallystick.doors.mcp import answers, jsonrpc
from tallystick.doors.mcp.jsonrpc import Message
from tallystick.doors.mcp.lines import STUCK_S, LineReader, LineWriter
from tallystick.doors.mcp.relay.connection import Switch
from tallystick.doors.mcp.relay.from_client import FromClient
from tallystick.doors.mcp.relay.from_server import FromServer
from tallystick.doors.mcp.relay.messages import Keeper, RelayedCall, Upstream, Wires
from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.doors.mcp.relay.refused_messages import CANCELLED_EARLY, Refusals
from tallystick.doors.presentation.meta import CODE
from tallystick.errors import TallyError

FAREWELL_S = 5.0
"""Seconds that calls in flight get to finish after the client has closed its end."""


class Relay:
    """One client, one server, and the gate between them."""

    _opening: "asyncio.Future[Keeper] | None" = None
    _polite = False
    """Whether calls in flight may finish during shutdown."""

    def __init__(
        self,
        wrapping: Wrapping,
        upstream: Upstream,
        open_keeper: Callable[[Wires], Awaitable[Keeper]],
        *,
        token: str,
        streams: tuple[int, int] = (0, 1),
    ) -> None:
        """Connect client, server and gate.

        Args:
            wrapping: The options.
            upstream: The connection to the server.
            open_keeper: Opens the gate, when it is first needed.
            token: An unguessable prefix for the ids of the relay's own requests.
            streams: File descriptors of the client, for reading and for writing.
        """
        self._upstream, self._longest = upstream, wrapping.longest
        self._open_keeper = open_keeper
        self._switch = Switch(upstream, LineWriter(streams[1], on_gone=self.stop), token=token)
        self._refusals = Refusals(self._keeper, on_room=self._switch.hear_client, note=self._switch.note)
        self._switch.crowded = self._refusals.full
        self._client = FromClient(
            self._switch,
            on_call=self._begin,
            on_refused=self._refused,
            on_hello=self._hello,
            start_timeout_s=wrapping.start_timeout_s,
        )
        self._server = FromServer(self._switch, on_list=self._on_list, on_changed=self._changed)
        self._reader = LineReader(
            streams[0],
            longest=wrapping.longest,
            on_line=self._client.take,
            on_long=self._client.too_long,
            on_end=self._farewell,
            stuck_s=STUCK_S,
        )
        self._switch.reader = self._reader

    @property
    def fatal(self) -> TallyError | None:
        """The unrecoverable error that stopped the relay, if any."""
        return self._switch.fatal

    async def run(self) -> None:
        """Relay until one side ends or `stop` is called."""
        switch = self._switch
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            self._upstream.start(
                longest=self._longest, on_line=self._server.take, on_long=self._server.too_long, on_end=self._gone
            )
            self._reader.start()
            await switch.stopping.wait()
            self._reader.pause()
            await self._let_finish()
            await self._refusals.finish(FAREWELL_S)
            await self._upstream.end()
            switch.lose_all()
            await switch.client.flush(FAREWELL_S)
            switch.client.close(end=False)

    def stop(self) -> None:
        """Stop the relay."""
        self._switch.stopping.set()

    # -- calls and lists -----------------------------------------------------------------------------------------------

    def _begin(self, asked: RelayedCall) -> None:
        asked.task = self._tasks.create_task(self._serve(asked))

    def _refused(self, text: bytes, reason: str) -> None:
        self._refusals.add(text, reason)
        if self._refusals.full():
            self._reader.pause()

    async def _serve(self, asked: RelayedCall) -> None:
        switch, ident = self._switch, asked.message["id"]
        try:
            answer = await (await self._keeper()).answer(asked)
        except TallyError as error:
            switch.fail(error)
            answer = answers.error(ident, jsonrpc.SERVER_ERROR, f"tallystick: {error.code}: {error}")
        except asyncio.CancelledError:
            if not asked.decided:
                self._refusals.add(asked.line, CANCELLED_EARLY)
            raise
        except Exception as error:  # noqa: BLE001 - one call must not end the others
            switch.note(f"a bug in the relay: {type(error).__name__}: {error}")
            answer = answers.tool_error(asked.message, "Tallystick: the relay failed; see its log.", {CODE: "bug"})
        finally:
            switch.calls.pop(asked.key, None)
            if asked.forwarded and asked.answer is None:
                switch.given_up.append(asked.key)
        switch.to_client(answer)

    def _on_list(self, line: bytes, message: Message, request: Message) -> None:
        self._tasks.create_task(self._pass_list(line, message, request))

    async def _pass_list(self, line: bytes, message: Message, request: Message) -> None:
        try:
            shown = await (await self._keeper()).listed(line, message, request)
        except TallyError as error:
            self._switch.fail(error)
            text = f"tallystick: {error.code}: {error}"
            shown = answers.error(message.get("id"), jsonrpc.SERVER_ERROR, text)
        except Exception as error:  # noqa: BLE001 - an unusable list must not end the calls in flight
            self._switch.note(f"the server's list of tools cannot be used: {type(error).__name__}: {error}")
            text = "tallystick: the server's list of tools cannot be used"
            shown = answers.error(message.get("id"), jsonrpc.SERVER_ERROR, text)
        self._switch.to_client(shown)

    def _changed(self) -> None:
        if self._opening is not None and self._opening.done() and self._opening.exception() is None:
            self._opening.result().changed()

    def _hello(self) -> None:
        # Not awaited here: an unawaited shield would print a stack trace if opening fails.
        self._opened_once()

    def _keeper(self) -> "asyncio.Future[Keeper]":
        opening = self._opened_once()
        # Cancelling one call must not cancel the opening of the gate for the others; once open, it cannot be cancelled.
        return opening if opening.done() else asyncio.shield(opening)

    def _opened_once(self) -> "asyncio.Future[Keeper]":
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open_keeper(self._switch))
            self._opening.add_done_callback(self._opened)
        return self._opening

    def _opened(self, opened: "asyncio.Future[Keeper]") -> None:
        if not opened.cancelled() and isinstance(error := opened.exception(), TallyError):
            self._switch.fail(error)

    # -- shutdown ------------------------------------------------------------------------------------------------------

    def _farewell(self) -> None:
        """The client closed its end: shut down, but let calls in flight finish."""
        self._polite = True
        self.stop()

    def _gone(self) -> None:
        """The server ended: fail each call that waits for it, so that it gets its receipt."""
        self._switch.note(f"the server is gone: {self._upstream.how_it_ended()}")
        self._switch.lose_all()
        self._farewell()

    async def _let_finish(self) -> None:
        running = [asked for asked in self._switch.calls.values() if asked.task is not None]
        for asked in running:
            if asked.task is not None and (asked.waiting or not self._polite or self._switch.client.gone):
                asked.task.cancel()
        tasks = [asked.task for asked in running if asked.task is not None]
        if tasks:
            _, left = await asyncio.wait(tasks, timeout=FAREWELL_S)
            for task in left:
                task.cancel()
