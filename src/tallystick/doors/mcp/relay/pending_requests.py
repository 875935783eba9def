"""Track requests to an HTTP server until they are answered.

A stdio server that stops responding has ended, and every request fails with it. Over HTTP each request can fail on its
own, so the relay must know which one a failure belongs to.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tallystick.doors.mcp import answers, jsonrpc

REMEMBERED = 1024
"""Number of failed requests to remember; late responses to them are dropped."""


@dataclass(kw_only=True, eq=False, slots=True)
class PendingRequest:
    """One pending request."""

    ident: Any
    method: Any
    sessionless: bool = False
    open: bool = True


class Owed:
    """The pending requests, whichever stream their responses arrive on."""

    def __init__(self) -> None:
        self._waiting: dict[Any, list[PendingRequest]] = {}
        self._told: deque[Any] = deque(maxlen=REMEMBERED)

    def ask(self, message: Any) -> list[PendingRequest]:
        """Track the requests in a client's message: one, several in a batch, or none."""
        asked = [
            PendingRequest(
                ident=part["id"], method=part["method"], sessionless=answers.sessionless_revision(part) is not None
            )
            for part in _parts(message)
            if "id" in part and "method" in part
        ]
        for question in asked:
            self._waiting.setdefault(_key(question.ident), []).append(question)
        return asked

    def answered_by(self, message: Any) -> list[PendingRequest]:
        """Return the requests that a server's message answers; of two with the same id, the older one."""
        return [
            waiting[0]
            for part in _parts(message)
            if jsonrpc.is_answer(part) and (waiting := self._waiting.get(_key(part.get("id"))))
        ]

    def is_late(self, message: Any) -> bool:
        """Return whether a message only answers requests that the relay has already failed."""
        parts = _parts(message)
        return bool(parts) and all(jsonrpc.is_answer(part) and _key(part.get("id")) in self._told for part in parts)

    def settle(self, questions: Iterable[PendingRequest]) -> list[PendingRequest]:
        """Mark these requests as answered; return those that were still pending."""
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

    def give_up(self, questions: Iterable[PendingRequest]) -> list[PendingRequest]:
        """Mark these requests as failed; return those whose client must be told."""
        left = self.settle(questions)
        self._told.extend(_key(question.ident) for question in left)
        return left


def read(line: bytes) -> Any:
    """Parse a message, including one that only some parsers accept; None if it is not JSON."""
    message = jsonrpc.read(line)
    return jsonrpc.read_anyhow(line) if message is None else message


def _parts(message: Any) -> list[jsonrpc.Message]:
    return [part for part in (message if isinstance(message, list) else [message]) if isinstance(part, dict)]


def _key(ident: Any) -> Any:
    """Return an id in the form in which the relay compares ids."""
    key = jsonrpc.lenient(ident)
    # "nan" would become a number that is not equal to itself.
    return ident if key != key else key  # noqa: PLR0124
