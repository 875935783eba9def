"""What a server with an address still owes: each request that went out, until something answers it.

A process that answers nothing has ended, and everybody hears of that. Over HTTP each request may end without an answer
by itself, so somebody has to know whose it was.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tallystick.doors.mcp import answers, jsonrpc

REMEMBERED = 1024
"""Requests of which we said ourselves that there is no answer; one that still comes is dropped."""


@dataclass(kw_only=True, eq=False, slots=True)
class Question:
    """One request on its way."""

    ident: Any
    method: Any
    sessionless: bool = False
    open: bool = True


class Owed:
    """The requests that wait, whatever stream their answers come by."""

    def __init__(self) -> None:
        self._waiting: dict[Any, list[Question]] = {}
        self._told: deque[Any] = deque(maxlen=REMEMBERED)

    def ask(self, message: Any) -> list[Question]:
        """Remember what a message of the client asks: one thing, several in a batch, or nothing."""
        asked = [
            Question(
                ident=part["id"], method=part["method"], sessionless=answers.sessionless_revision(part) is not None
            )
            for part in _parts(message)
            if "id" in part and "method" in part
        ]
        for question in asked:
            self._waiting.setdefault(_key(question.ident), []).append(question)
        return asked

    def answered_by(self, message: Any) -> list[Question]:
        """The requests that a message of the server answers; of two with one id, the older one."""
        return [
            waiting[0]
            for part in _parts(message)
            if jsonrpc.is_answer(part) and (waiting := self._waiting.get(_key(part.get("id"))))
        ]

    def is_late(self, message: Any) -> bool:
        """Whether a message answers only what nobody waits for any more, because we told them."""
        parts = _parts(message)
        return bool(parts) and all(jsonrpc.is_answer(part) and _key(part.get("id")) in self._told for part in parts)

    def settle(self, questions: Iterable[Question]) -> list[Question]:
        """These have their answers; gives those that had none before."""
        settled = []
        for question in questions:
            if not question.open:
                continue
            question.open = False
            settled.append(question)
            key = _key(question.ident)
            self._waiting[key].remove(question)
            if not self._waiting[key]:
                del self._waiting[key]
        return settled

    def give_up(self, questions: Iterable[Question]) -> list[Question]:
        """The server will not answer these; gives those that somebody has to be told of."""
        left = self.settle(questions)
        self._told.extend(_key(question.ident) for question in left)
        return left


def read(line: bytes) -> Any:
    """A message, also where it is one to some parsers only; None if it is none."""
    message = jsonrpc.read(line)
    return jsonrpc.read_anyhow(line) if message is None else message


def _parts(message: Any) -> list[jsonrpc.Message]:
    return [part for part in (message if isinstance(message, list) else [message]) if isinstance(part, dict)]


def _key(ident: Any) -> Any:
    """An id as the other side of the relay compares it."""
    key = jsonrpc.lenient(ident)
    # "nan" would be a number that equals nothing, not even itself.
    return ident if key != key else key  # noqa: PLR0124
