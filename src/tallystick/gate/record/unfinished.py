"""Calls that were begun and of which nobody knows the end.

A `started` record names the process that made it. When that process is gone and no outcome names the record, nobody
can say whether the tool did its work: recovery appends an outcome of status `unknown`, never "did not happen".
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from tallystick.gate.record.receipt import Draft
from tallystick.gate.session import Caller, Session

T = TypeVar("T")
Header = Mapping[str, Any]
_REMEMBER_EVERY = 256
"""Calls after which the roster is told how far back to look."""


@dataclass(kw_only=True, slots=True)
class Gone:
    """A process that is no more."""

    token: str
    since: int
    """Its unfinished calls, if any, begin at or after this record."""
    settled: bool = False
    """Set by whoever recovered its calls; then it is forgotten."""


class Roster(Protocol):
    """Which processes may have calls under way; `storage/journal/live.py` satisfies it."""

    def enter(self, size: int) -> str:
        """This process's token, durable before anything runs under it."""
        ...

    def oldest(self, seq: int) -> None:
        """Calls of this process before this record are all finished."""
        ...

    def leave(self, *, finished: bool) -> None:
        """This process lets go."""
        ...

    def gone(self) -> Iterator[Gone]:
        """Processes that are no more, one at a time, nobody else dealing with them."""
        ...


class UnderWay:
    """What this process has begun and not ended; the roster is told, so that others can end it if this one cannot."""

    def __init__(self, roster: Roster | None) -> None:
        self._roster = roster
        self._begun: dict[str, int] = {}
        self._number = 0
        self.sure = True
        """False: a `started` record may have been stored of which nobody was told."""

    def process(self, size: Callable[[], int]) -> str | None:
        """This process's token, which stands in every `started` record."""
        # The first time, this process makes itself known; a crash before that leaves nothing to recover.
        return None if self._roster is None else self._roster.enter(size() if self._number == 0 else 0)

    def began(self, receipt_id: str, seq: int) -> None:
        """A call is under way."""
        self._number += 1
        self._begun[receipt_id] = seq
        if self._roster is not None and self._number % _REMEMBER_EVERY == 0:
            self._roster.oldest(min(self._begun.values()))

    def ended(self, receipt_id: str | None) -> None:
        """It has an outcome."""
        self._begun.pop(receipt_id or "", None)

    def leave(self) -> None:
        """This process lets go."""
        if self._roster is not None:
            self._roster.leave(finished=self.sure and not self._begun)

    def gone(self) -> Iterator[Gone]:
        """Processes that are no more."""
        return iter(()) if self._roster is None else self._roster.gone()

    def recover(self, started_by: Callable[[Gone], Iterable[Header]], end: Callable[[Header], T]) -> list[T]:
        """End what they had begun; those that were ended are then forgotten."""
        ended: list[T] = []
        for gone in self.gone():
            ended += map(end, started_by(gone))
            gone.settled = True
        return ended


def unfinished(headers: Iterable[Mapping[str, Any]], token: str | None = None) -> list[Mapping[str, Any]]:
    """The `started` headers that no outcome names, of one process or of all."""
    started: dict[str, Mapping[str, Any]] = {}
    for header in headers:
        links = header.get("links", {})
        if header.get("kind") == "started" and token in {None, links.get("process")}:
            started[header["receipt_id"]] = header
        elif header.get("kind") == "outcome" and "started" in links:
            started.pop(links["started"], None)
    return list(started.values())


def unknown_outcome(started: Mapping[str, Any]) -> Draft:
    """What is recorded for a call whose end nobody saw."""
    return Draft(
        kind="outcome",
        session=session_of(started),
        tool_id=started.get("tool_id"),
        tool_version=started.get("tool_version"),
        policy_digest=started.get("policy_digest"),
        outcome={"status": "unknown", "reason": "process_ended"},
        links={"started": started["receipt_id"]},
    )


def session_of(header: Mapping[str, Any]) -> Session:
    """The surroundings that a header names."""
    caller = header["caller"]
    names = ("agent_id", "turn_id", "round_id", "conference_id", "task_id", "run_id", "ticket_id")
    return Session(
        session_id=header["session_id"],
        caller=Caller(subject=caller["subject"], roles=frozenset(caller["roles"]), channel=caller["channel"]),
        **{name: header[name] for name in names if name in header},
    )
