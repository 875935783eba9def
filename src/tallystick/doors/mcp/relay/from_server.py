"""From the server to the client: what passes, and what answers a call."""

from collections.abc import Callable
from typing import Any

import orjson

from tallystick.doors.mcp import answers, jsonrpc
from tallystick.doors.mcp.jsonrpc import Key, Message
from tallystick.doors.mcp.relay.connection import Switch
from tallystick.doors.mcp.relay.messages import Asked, TooLongError, UnreadableError

NOT_ASKED = "the server answered something that it was not asked; the answer was left out"
NO_MESSAGE = "the server printed a line that is no message; it was left out"


class FromServer:
    """Reads what the server says, as far as it must be read."""

    def __init__(
        self, switch: Switch, *, on_list: Callable[[bytes, Message, Message], None], on_changed: Callable[[], None]
    ) -> None:
        self._switch = switch
        self._on_list = on_list
        self._on_changed = on_changed

    def take(self, line: bytes) -> None:
        """One line of the server."""
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
        told = _fail(asked, TooLongError(size)) or asked is not None
        if not told and key is not None and switch.in_use(key) and b'"method"' not in head:
            self._answer_for(key, f"the server's message has {size} bytes; --max-output allows more")

    def _take_odd(self, line: bytes) -> None:
        """A line that is JSON to some only; the text was cut in the middle of a character, or a number is none."""
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
        """Tell the client that there will be no answer to this request."""
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
        """Whether a response is not simply to be passed on."""
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
            # What nobody asked, or what was answered before, would come in the place of something that is checked.
            switch.note(NOT_ASKED)
        return True

    def _is_nobodys(self, message: Message) -> bool:
        """Whether an answer without an id that counts is left out: only that something could not be read has none."""
        told = "error" in message and "result" not in message and message.get("id") is None
        if not told:
            self._switch.note("the server answered nobody: its answer has no id that counts; it was left out")
        return not told

    def _answered(self, asked: Asked, line: bytes, message: Message) -> None:
        if asked.answered is None or asked.answered.done():
            self._switch.note(NOT_ASKED)
            return
        asked.answered.set_result((line, message))

    def _split(self, line: bytes, batch: list[Any]) -> None:
        """A batch may hold answers to calls; then each of its messages goes its own way."""
        if all(isinstance(part, dict) and not jsonrpc.is_answer(part) for part in batch):
            self._switch.to_client(line)
            return
        for part in batch:
            if isinstance(part, dict):
                try:
                    alone = orjson.dumps(part)
                except TypeError:
                    self._switch.note(NO_MESSAGE)  # deeper than it can be written
                else:
                    self._read(alone, part)


def _fail(asked: Asked | None, error: Exception) -> bool:
    """Tell a call that its answer cannot be had; False if nobody waits."""
    if asked is None or asked.answered is None or asked.answered.done():
        return False
    asked.answered.set_exception(error)
    return True


def _instructions(hello: Message, *, before: str | None) -> str | None:
    """What the server says about itself; a refused greeting says nothing of it."""
    result = hello.get("result")
    if not isinstance(result, dict):
        return before
    said = result.get("instructions")
    return said if isinstance(said, str) else ""
