"""From the server to the client: what passes, and what answers a call."""

from collections.abc import Callable
from typing import Any

import orjson

from tallystick.doors.mcp import jsonrpc
from tallystick.doors.mcp.jsonrpc import Key, Message
from tallystick.doors.mcp.relay_asked import Asked, TooLongError, UnreadableError
from tallystick.doors.mcp.relay_switch import Switch

NO_MESSAGE = "the server printed a line that is no message; it was left out"


class FromServer:
    """Reads what the server says, as far as it must be read."""

    def __init__(
        self, switch: Switch, *, on_list: Callable[[bytes, Message, bool], None], on_changed: Callable[[], None]
    ) -> None:
        self._switch = switch
        self._on_list = on_list
        self._on_changed = on_changed

    def take(self, line: bytes) -> None:
        """One line of the server."""
        if not self._switch.awaited and jsonrpc.LIST_CHANGED not in line:
            if jsonrpc.looks_like_message(line):
                self._switch.to_client(line)
            else:
                self._switch.note(NO_MESSAGE)
            return
        message = jsonrpc.read(line)
        if isinstance(message, dict):
            self._read(line, message)
        elif isinstance(message, list):
            self._split(line, message)
        else:
            self._take_odd(line)

    def too_long(self, head: bytes, tail: bytes, size: int) -> None:
        """A line that is longer than it may be: whoever waits for it must not wait for ever."""
        switch = self._switch
        switch.note(f"the server sent a message of {size} bytes; it was left out (--max-output allows more)")
        key = jsonrpc.key_in_ends(head, tail)
        asked = None if key is None else switch.calls.get(key)
        if asked is None and len(switch.calls) == 1:
            (asked,) = switch.calls.values()
        if not _fail(asked, TooLongError(size)) and key is not None and b'"method"' not in head:
            self._answer_for(key, f"the server's message has {size} bytes; --max-output allows more")

    def _take_odd(self, line: bytes) -> None:
        """A line that is JSON to some only; the text was cut in the middle of a character, or a number is none."""
        switch, message = self._switch, jsonrpc.read_anyhow(line)
        key = None if message is None or not jsonrpc.is_answer(message) else switch.key_meant(message)
        if message is None or switch.is_own(key) or key in switch.given_up:
            switch.note(NO_MESSAGE)
        elif _fail(switch.calls.get(key) if key else None, UnreadableError()):
            return
        elif key in switch.lists:
            self._answer_for(key, "the server's list cannot be read: half a character, or a number that is none")
        else:
            switch.to_client(line)

    def _answer_for(self, key: Key, text: str) -> None:
        """Tell the client that there will be no answer to this request."""
        self._switch.lists.pop(key, None)
        self._switch.client.send(jsonrpc.error(key[1], jsonrpc.SERVER_ERROR, f"tallystick: {text}"))

    def _read(self, line: bytes, message: Message) -> None:
        if message.get("method") == jsonrpc.LIST_CHANGED.decode():
            self._on_changed()
        if not jsonrpc.is_answer(message) or not self._is_ours(line, message, self._switch.key_meant(message)):
            self._switch.to_client(line)

    def _is_ours(self, line: bytes, message: Message, key: Key | None) -> bool:
        """Whether a response is not simply to be passed on."""
        switch = self._switch
        if key is None:
            return self._is_nobodys(message)
        asked = switch.calls.get(key)
        if asked is not None:
            self._answered(asked, line, message)
        elif switch.is_own(key):
            switch.settle(key, message)
        elif key in switch.lists:
            self._on_list(line, message, switch.lists.pop(key))
        elif key == switch.initialize:
            switch.initialize = None
            switch.instructions = _instructions(message)
            return False
        else:
            # Somebody gave up waiting for it; what it says stands in no receipt, so nobody is shown it.
            return key in switch.given_up
        return True

    def _is_nobodys(self, message: Message) -> bool:
        """Whether an answer without an id that counts is left out: only that something could not be read has none."""
        told = "error" in message and "result" not in message and message.get("id") is None
        if not told:
            self._switch.note("the server answered nobody: its answer has no id that counts; it was left out")
        return not told

    def _answered(self, asked: Asked, line: bytes, message: Message) -> None:
        if asked.answered is None or asked.answered.done():
            self._switch.note("the server answered a call that it was not asked; the answer was left out")
            return
        asked.answered.set_result((line, message))

    def _split(self, line: bytes, batch: list[Any]) -> None:
        """A batch may hold answers to calls; then each of its messages goes its own way."""
        if all(isinstance(part, dict) and not jsonrpc.is_answer(part) for part in batch):
            self._switch.to_client(line)
            return
        for part in batch:
            if isinstance(part, dict):
                self._read(orjson.dumps(part), part)


def _fail(asked: Asked | None, error: Exception) -> bool:
    """Tell a call that its answer cannot be had; False if nobody waits."""
    if asked is None or asked.answered is None or asked.answered.done():
        return False
    asked.answered.set_exception(error)
    return True


def _instructions(hello: Message) -> str:
    result = hello.get("result")
    said = result.get("instructions") if isinstance(result, dict) else None
    return said if isinstance(said, str) else ""
