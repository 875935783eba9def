"""Ports of the desk: the judge, the ledger's notes, and the call that wakes a worker."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tallystick.gate.session import Caller
from tallystick.records import record
from tallystick.rooms.desk.model import Judgement, Ticket


@record
class CheckedReply:
    """A draft, checked sentence by sentence."""

    judgement: Judgement
    """PROCEED: it may be sent. DEFER: a person must see it."""
    text: str
    """As it would be sent: without the references."""
    sentences: int = 0
    """Of the draft, without courtesies."""
    unsupported: int = 0
    """The number of them without valid evidence."""
    waits: Judgement | None = None
    """Why a person must approve it, whatever `send` says; None: `send` decides."""


class Judge(Protocol):
    """Computes the server's verdict without side effects; called inside the transaction of a fill."""

    def categories(self, content: str) -> tuple[str, ...]:
        """The categories of a message, the most probable first; none: it belongs to no special one."""
        ...

    def verdict(self, ticket: Ticket) -> Judgement:
        """Judge a TOOL ticket from its signed receipts; the worker's proposal is in its `final_outputs`."""
        ...

    def reply(self, ticket: Ticket, tool: Ticket) -> CheckedReply:
        """On a REPLY ticket with its draft in `final_outputs`, against the evidence of its TOOL ticket."""
        ...


class Undelivered(Exception):  # noqa: N818 - not an internal error; the message is tried again
    """A channel did not accept a message; the text gives the reason without the address."""

    def __init__(self, why: str, *, final: bool = False) -> None:
        """Create the error.

        Args:
            why: The reason.
            final: Whether not to retry, because a retry is pointless or the message may have arrived.
        """
        super().__init__(why)
        self.final = final


class Note(Protocol):
    """Records an action or attempt in the ledger: ids and digests, never text."""

    def __call__(self, caller: Caller, action: str, ticket_id: str, metadata: Mapping[str, Any]) -> str:
        """Give the record's id.

        Raises:
            LedgerUnwritable: It cannot be recorded, so it must not be done.
        """
        ...


@record
class ServicePorts:
    """Everything the services need besides the tables."""

    judge: Callable[[], Judge]
    """Asked for when it is needed: it is joined after the desk is."""
    note: Note
    wake: Callable[[Sequence[str]], None]
    """Told of tickets that have become pending, after they are stored."""
    tell: Callable[[], None]
    """Called after a ticket that waits for people is stored."""
    known_tools: Callable[[], frozenset[str]]
    new_id: Callable[[str], str]
    """Kind → a new id."""
    new_token: Callable[[], str]
    """Creates a random token."""
    now: Callable[[], str]
    """RFC 3339."""


class NoJudge:
    """Used until a judge is set: defers every ticket."""

    def categories(self, content: str) -> tuple[str, ...]:  # noqa: ARG002 - whatever it is
        """See `Judge`."""
        return ()

    def verdict(self, ticket: Ticket) -> Judgement:  # noqa: ARG002 - whatever it is
        """See `Judge`."""
        return Judgement(status="DEFER", rule_id="defer.no-judge", reason="No verdict can be computed here.")

    def reply(self, ticket: Ticket, tool: Ticket) -> CheckedReply:  # noqa: ARG002 - whatever it is
        """See `Judge`."""
        judgement = Judgement(status="DEFER", rule_id="defer.no-judge", reason="No draft can be checked here.")
        return CheckedReply(judgement=judgement, text="")
