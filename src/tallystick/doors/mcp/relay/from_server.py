"""Messages from the server to the client: forward them, or match them with pending calls and lists."""

from collections.abc import Callable
from typing import Any

import orjson

from tallystick.doors.mcp import answers, jsonrpc
from tallystick.doors.mcp.jsonrpc import Key, Message
from tallystick.doors.mcp.relay.connection import Switch
from tallystick.doors.mcp.relay.messages import RelayedCall, TooLongError, UnreadableError

NOT_ASKED = "the server answered something that it was not asked; the answer was left out"
NO_MESSAGE = "the server printed a line that is no message; it was left out"


class FromServer:
    """Parses the server's lines as far as routing needs it."""

    def __init__(
        self, switch: Switch, *, on_list: Callable[[bytes, Message, Message], None], on_changed: Callable[[], None]
    ) -> None:
        self._switch = switch
        self._on_list = on_list
        self._on_changed = on_changed

    def take(self, line: bytes) -> None:
        """Handle one line from the server."""
        message = jsonrpc.read(line)
        if isinstance(message, dict):
            self._read(line, message)
        elif isinstance(message, list):
            self._split(line, message)
        else:
            self._take_odd(line)

    def too_long(self, head: bytes, tail: bytes, size: int) -> None:
        """Drop a line over the size limit and fail the request it answers, so that nobody waits for it forever."""
        switch = self._switch
        switch.note(f"the server sent a message of {size} bytes; it was left out (--max-output allows more)")
        key = jsonrpc.key_in_ends(head, tail)
        asked = None if key is None else switch.calls.get(key)
        if asked is None and len(switch.calls) == 1:
            (asked,) = switch.calls.values()
        told = _fail(asked, TooLongError(size)) or asked is not None
        if not told and key is not None and switch.in_use(key) and b'"method"' not in head:
            self._answer_for(key, f"the server's message has {size} bytes; --max-output allows more")

    def _take_odd(self, line: bytes) -> None:
        """Handle a line that only some parsers accept: it has a lone surrogate or an invalid number."""
        switch, message = self._switch, jsonrpc.read_anyhow(line)
        if message is None:
            switch.note(NO_MESSAGE)
            return
        key = switch.key_meant(message) if jsonrpc.is_answer(message) else None
        if not jsonrpc.is_answer(message):
            switch.to_client(line)
        elif key in switch.requests:
            switch.requests.discard(key)
            switch.to_client(line)
        elif key is not None and (key in switch.lists or key in switch.hellos):
            self._answer_for(key, "the server's answer cannot be read: half a character, or a number that is none")
        elif not _fail(switch.calls.get(key) if key else None, UnreadableError()):
            switch.note(NOT_ASKED)

    def _answer_for(self, key: Key, text: str) -> None:
        """Send the client an error in place of the missing response."""
        switch = self._switch
        switch.forget(key)
        switch.hellos.discard(key)
        switch.client.send(answers.error(key[1], jsonrpc.SERVER_ERROR, f"tallystick: {text}"))

    def _read(self, line: bytes, message: Message) -> None:
        if message.get("method") == jsonrpc.LIST_CHANGED.decode():
            self._on_changed()
        if not jsonrpc.is_answer(message) or not self._is_ours(line, message, self._switch.key_meant(message)):
            self._switch.to_client(line)

    def _is_ours(self, line: bytes, message: Message, key: Key | None) -> bool:
        """Return whether the relay consumed a response, so that it must not be forwarded."""
        switch = self._switch
        if key is None:
            return self._is_nobodys(message)
        asked = switch.calls.get(key)
        if asked is not None:
            self._answered(asked, line, message)
        elif switch.is_own(key, "server"):
            switch.settle(key, message)
        elif key in switch.lists:
            self._on_list(line, message, switch.lists.pop(key))
        elif key in switch.hellos:
            switch.hellos.discard(key)
            switch.instructions = _instructions(message, before=switch.instructions)
            return False
        elif key in switch.requests:
            switch.requests.discard(key)
            return False
        elif key not in switch.given_up:
            # An unrequested or repeated response could replace one that the gate checks.
            switch.note(NOT_ASKED)
        return True

    def _is_nobodys(self, message: Message) -> bool:
        """Return whether to drop a response without a valid id: only parse errors may have none."""
        told = "error" in message and "result" not in message and message.get("id") is None
        if not told:
            self._switch.note("the server answered nobody: its answer has no id that counts; it was left out")
        return not told

    def _answered(self, asked: RelayedCall, line: bytes, message: Message) -> None:
        if asked.answered is None or asked.answered.done():
            self._switch.note(NOT_ASKED)
            return
        asked.answered.set_result((line, message))

    def _split(self, line: bytes, batch: list[Any]) -> None:
        """Process each message of a batch on its own if the batch may contain responses."""
        if all(isinstance(part, dict) and not jsonrpc.is_answer(part) for part in batch):
            self._switch.to_client(line)
            return
        for part in batch:
            if isinstance(part, dict):
                try:
                    alone = orjson.dumps(part)
                except TypeError:
                    self._switch.note(NO_MESSAGE)  # nested too deeply to serialise
                else:
                    self._read(alone, part)


def _fail(asked: RelayedCall | None, error: Exception) -> bool:
    """Fail a pending call; return False if nothing is waiting for its response."""
    if asked is None or asked.answered is None or asked.answered.done():
        return False
    asked.answered.set_exception(error)
    return True


def _instructions(hello: Message, *, before: str | None) -> str | None:
    """Return the server's instructions; an error response to `initialize` keeps the earlier ones."""
    result = hello.get("result")
    if not isinstance(result, dict):
        return before
    said = result.get("instructions")
    return said if isinstance(said, str) else ""
