"""Started calls without a recorded outcome.

A `started` record names the process that wrote it. If that process has ended and no outcome links to the record, it is
unknown whether the tool ran: recovery appends an outcome with status `unknown`, never "did not happen".
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from tallystick.gate.record.receipt import Draft
from tallystick.gate.session import Caller, Session

T = TypeVar("T")
Header = Mapping[str, Any]
_REMEMBER_EVERY = 256
"""Number of calls after which the registry's start position for recovery is updated."""


@dataclass(kw_only=True, slots=True)
class EndedProcess:
    """A process that has ended."""

    token: str
    since: int
    """Sequence number at or after which its unfinished calls, if any, begin."""
    settled: bool = False
    """Set once its calls are recovered; the registry then drops it."""


class ProcessRegistry(Protocol):
    """The processes that may have calls in flight; `storage/journal/live.py` implements it."""

    def enter(self, size: int) -> str:
        """Return this process's token; on first use it is made durable, together with the log's `size`."""
        ...

    def oldest(self, seq: int) -> None:
        """Store that all calls of this process before this record are finished."""
        ...

    def leave(self, *, finished: bool) -> None:
        """Remove this process from the registry; unless `finished`, its entry stays for recovery."""
        ...

    def gone(self) -> Iterator[EndedProcess]:
        """Yield the processes that have ended, one at a time, each locked against other processes meanwhile."""
        ...


class InFlightCalls:
    """In-flight calls of this process, announced in the registry so that another process can recover them."""

    def __init__(self, registry: ProcessRegistry | None) -> None:
        self._roster = registry
        self._begun: dict[str, int] = {}
        self._number = 0
        self.sure = True
        """False: a `started` record may have been stored without being tracked here."""

    def process(self, size: Callable[[], int]) -> str | None:
        """Return this process's token for its `started` records; None without a registry."""
        # The first call registers this process; a crash before that leaves nothing to recover.
        return None if self._roster is None else self._roster.enter(size() if self._number == 0 else 0)

    def began(self, receipt_id: str, seq: int) -> None:
        """Add a call that is now in flight."""
        self._number += 1
        self._begun[receipt_id] = seq
        if self._roster is not None and self._number % _REMEMBER_EVERY == 0:
            self._roster.oldest(min(self._begun.values()))

    def ended(self, receipt_id: str | None) -> None:
        """Remove a call that has an outcome."""
        self._begun.pop(receipt_id or "", None)

    def leave(self) -> None:
        """Remove this process from the registry; its entry stays if a call has no outcome."""
        if self._roster is not None:
            self._roster.leave(finished=self.sure and not self._begun)

    def gone(self) -> Iterator[EndedProcess]:
        """Yield the processes that have ended."""
        return iter(()) if self._roster is None else self._roster.gone()

    def recover(self, started_by: Callable[[EndedProcess], Iterable[Header]], end: Callable[[Header], T]) -> list[T]:
        """Apply `end` to all unfinished calls of ended processes, and mark these processes as settled."""
        ended: list[T] = []
        for gone in self.gone():
            ended += map(end, started_by(gone))
            gone.settled = True
        return ended


def unfinished(headers: Iterable[Mapping[str, Any]], token: str | None = None) -> list[Mapping[str, Any]]:
    """Return the `started` headers without an outcome, of one process or of all."""
    started: dict[str, Mapping[str, Any]] = {}
    for header in headers:
        links = header.get("links", {})
        if header.get("kind") == "started" and token in {None, links.get("process")}:
            started[header["receipt_id"]] = header
        elif header.get("kind") == "outcome" and "started" in links:
            started.pop(links["started"], None)
    return list(started.values())


def unknown_outcome(started: Mapping[str, Any]) -> Draft:
    """Build the outcome draft for a call whose outcome is unknown."""
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
    """Rebuild the session that a header describes."""
    caller = header["caller"]
    names = ("agent_id", "turn_id", "round_id", "conference_id", "task_id", "run_id", "ticket_id")
    return Session(
        session_id=header["session_id"],
        caller=Caller(subject=caller["subject"], roles=frozenset(caller["roles"]), channel=caller["channel"]),
        **{name: header[name] for name in names if name in header},
    )
