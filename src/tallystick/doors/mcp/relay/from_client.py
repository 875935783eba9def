"""Messages from the client to the server: forward them, or hand calls to the gate first."""

import asyncio
from collections.abc import Callable
from typing import Any

from tallystick.doors.mcp import answers, jsonrpc
from tallystick.doors.mcp.jsonrpc import Ambiguous, Key, Message
from tallystick.doors.mcp.relay.connection import Switch
from tallystick.doors.mcp.relay.messages import RelayedCall
from tallystick.doors.mcp.relay.refused_messages import AMBIGUOUS, ANSWER_WITHIN, BATCH, ID_IN_USE, NO_ID, TOO_LONG
from tallystick.errors import ConfigError


class FromClient:
    """Parses the client's lines as far as routing needs it."""

    def __init__(
        self,
        switch: Switch,
        *,
        on_call: Callable[[RelayedCall], None],
        on_refused: Callable[[bytes, str], None],
        on_hello: Callable[[], None],
        start_timeout_s: float,
    ) -> None:
        self._switch = switch
        self._on_call = on_call
        self._on_refused = on_refused
        self._on_hello = on_hello
        self._start_timeout_s = start_timeout_s

    def take(self, line: bytes) -> None:
        """Handle one line from the client."""
        message = jsonrpc.read_clients(line)
        if isinstance(message, Ambiguous):
            # The server could read the line differently from the gate.
            self._refuse(message.ident, jsonrpc.PARSE_ERROR, AMBIGUOUS)
            self._on_refused(line, AMBIGUOUS)
        elif isinstance(message, list):
            self._take_batch(line, message)
        elif isinstance(message, dict):
            self._read(line, message)
        elif self._switch.is_own_in(line, "client"):
            self._refuse_answer(line)
        else:
            self._switch.to_server(jsonrpc.one_line(line))

    def _take_batch(self, line: bytes, batch: list[Any]) -> None:
        if jsonrpc.calls_in(batch):
            self._refuse_batch(batch, "holds tools/call")
            self._on_refused(line, BATCH)
            return
        if any(self._switch.is_own(jsonrpc.key_of(part), "client") for part in jsonrpc.messages_in(batch)):
            self._refuse_batch(batch, "answers Tallystick")
            self._refuse_answer(line)
            return
        parts = [part for part in batch if isinstance(part, dict)]
        passed = [part for part in parts if self._expected(part)]
        if len(passed) == len(parts):
            self._switch.to_server(jsonrpc.one_line(line))
            return
        for part in passed:
            if isinstance(part.get("method"), str) and (key := jsonrpc.key_of(part)) is not None:
                self._switch.forget(key)
                self._refuse(key[1], jsonrpc.INVALID_REQUEST, "another message of the batch is refused")

    def too_long(self, head: bytes, tail: bytes, size: int) -> None:
        """Refuse a line over the size limit."""
        key = jsonrpc.key_in_ends(head, tail)
        text = f"a message of {size} bytes is more than may be sent; --max-output allows more"
        self._refuse(None if key is None else key[1], jsonrpc.INVALID_REQUEST, text)
        # The middle was not read, so it may have been a call.
        self._on_refused(head, TOO_LONG)

    def _read(self, line: bytes, message: Message) -> None:
        method, key = message.get("method"), jsonrpc.key_of(message)
        if (info := answers.meta_of(message).get(answers.CLIENT)) is not None:
            self._switch.client_name = _client_name(info)
        if method == jsonrpc.CALL:
            self._take_call(line, message, key)
            return
        if method is None and key is not None and self._switch.is_own(key, "client"):
            self._switch.settle(key, message)
            return
        if method == jsonrpc.CANCELLED:
            self._cancel(message)
        if self._expected(message):
            self._switch.to_server(jsonrpc.one_line(line))

    def _expected(self, message: Message) -> bool:
        """Track a request so that its response is recognised; return False if it must not be forwarded."""
        method, key = message.get("method"), jsonrpc.key_of(message)
        if not isinstance(method, str) or "id" not in message:
            return True
        if key is None:
            # Without a valid id the response cannot be matched, and a tool list would reach the client unfiltered.
            self._refuse(message["id"], jsonrpc.INVALID_REQUEST, "an id is a text or a whole number")
            return False
        if self._switch.in_use(key):
            self._refuse(message["id"], jsonrpc.INVALID_REQUEST, "this id is in use")
            return False
        if method == jsonrpc.LIST:
            self._switch.lists[key] = message
        elif method == jsonrpc.INITIALIZE:
            self._meet(key, message)
        elif method == jsonrpc.DISCOVER:
            self._greet(key)
        else:
            self._switch.requests.add(key)
        return True

    def _take_call(self, line: bytes, message: Message, key: Key | None) -> None:
        if key is None or self._switch.in_use(key):
            # Without an id nothing can be answered; with an id in use, the wrong request would be.
            wrong = "tools/call needs an id, a text or a whole number" if key is None else "this id is in use"
            self._refuse(message.get("id"), jsonrpc.INVALID_REQUEST, wrong)
            self._on_refused(line, NO_ID if key is None else ID_IN_USE)
            return
        asked = RelayedCall(key=key, line=line, message=message)
        self._switch.calls[key] = asked
        self._on_call(asked)

    def _refuse_batch(self, batch: list[Any], what: str) -> None:
        text = f"a batch that {what} is not passed on; send its messages one by one"
        for message in jsonrpc.messages_in(batch):
            if "id" in message and "method" in message:
                self._refuse(message["id"], jsonrpc.INVALID_REQUEST, text)

    def _refuse_answer(self, line: bytes) -> None:
        """Record an answer to one of the relay's own requests that was not sent as a separate message.

        The server must not see the ids of the relay's requests to the client, and no request is pending that could get
        an error.
        """
        self._switch.note(f"left out: {ANSWER_WITHIN}; nothing is granted by it")
        self._on_refused(line, ANSWER_WITHIN)

    def _meet(self, key: Key, message: Message) -> None:
        """Read the client's name and capabilities, and start the timeout for the server's response."""
        given = answers.params_of(message)
        can = given.get("capabilities")
        self._switch.client_name = _client_name(given.get("clientInfo"))
        self._switch.client_elicits = isinstance(can, dict) and "elicitation" in can
        asyncio.get_running_loop().call_later(self._start_timeout_s, self._silent, key)
        self._greet(key)

    def _greet(self, key: Key) -> None:
        """Track an `initialize` or `server/discover` request; the gate loads while the server prepares its response."""
        self._switch.hellos.add(key)
        asyncio.get_running_loop().call_soon(self._on_hello)

    def _silent(self, key: Key) -> None:
        if key in self._switch.hellos:
            text = (
                f"The server did not answer `initialize` within {self._start_timeout_s:g} s. Run its command by itself "
                "to see what it waits for, or give it longer with --start-timeout."
            )
            self._refuse(key[1], jsonrpc.SERVER_ERROR, text)
            self._switch.fail(ConfigError(text, code="server_silent"))

    def _cancel(self, message: Message) -> None:
        params = message.get("params")
        wanted = params.get("requestId") if isinstance(params, dict) else None
        if type(wanted) not in (int, str):
            return
        key = (type(wanted).__name__, wanted)
        # The client no longer waits; late responses are dropped.
        self._switch.forget(key)
        asked = self._switch.calls.get(key)
        if asked is not None and asked.task is not None:
            asked.cancelled = True
            # Not before the task has started: a task that never started leaves no receipt.
            asyncio.get_running_loop().call_soon(asked.task.cancel)

    def _refuse(self, ident: Any, code: int, text: str) -> None:
        self._switch.client.send(answers.error(ident, code, f"tallystick: {text}"))


def _client_name(info: Any) -> str | None:
    """Return the client's name for receipts and screens, without unprintable characters."""
    name = info.get("name") if isinstance(info, dict) else None
    return "".join(filter(str.isprintable, name)) if isinstance(name, str) else None
