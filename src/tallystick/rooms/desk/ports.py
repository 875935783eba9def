"""What the desk needs of others: the server's own judgement, a place to note things, and a worker to wake."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tallystick.gate.session import Caller
from tallystick.records import record
from tallystick.rooms.desk.nouns import Judgement, Ticket


@record
class CheckedReply:
    """A draft, checked sentence by sentence."""

    judgement: Judgement
    """PROCEED: it may go out. DEFER: a person must see it."""
    text: str
    """As it would be sent: without the references."""
    sentences: int = 0
    """Of the draft, without courtesies."""
    unsupported: int = 0
    """How many of them rest on no evidence that holds."""


class Judge(Protocol):
    """The server's own word. It reads, and changes nothing: it is asked inside the transaction of a fill."""

    def verdict(self, ticket: Ticket) -> Judgement:
        """On a TOOL ticket, from the signed trace; what the worker proposed stands in its `final_outputs`."""
        ...

    def reply(self, ticket: Ticket, tool: Ticket) -> CheckedReply:
        """On a REPLY ticket with its draft in `final_outputs`, against the evidence of its TOOL ticket."""
        ...


class Note(Protocol):
    """Writes down in the ledger what somebody did or tried. Ids and digests only, never text."""

    def __call__(self, caller: Caller, action: str, ticket_id: str, metadata: Mapping[str, Any]) -> str:
        """Give the record's id.

        Raises:
            LedgerUnwritable: It cannot be recorded, so it must not be done.
        """
        ...


@record
class Surroundings:
    """All that is not in the tables."""

    judge: Callable[[], Judge]
    """Asked for when it is needed: it is joined after the desk is."""
    note: Note
    wake: Callable[[Sequence[str]], None]
    """Told of tickets that have become pending, after they are stored."""
    tell: Callable[[], None]
    """Told that a ticket has come before people, after it is stored."""
    known_tools: Callable[[], frozenset[str]]
    new_id: Callable[[str], str]
    """A kind → a new id of ours for it."""
    new_token: Callable[[], str]
    """A secret nobody can guess."""
    now: Callable[[], str]
    """RFC 3339."""


class NoJudge:
    """Stands in where no judge is joined: nothing proceeds without one."""

    def verdict(self, ticket: Ticket) -> Judgement:  # noqa: ARG002 - whatever it is
        """See `Judge`."""
        return Judgement(status="DEFER", rule_id="defer.no-judge", reason="No verdict can be computed here.")

    def reply(self, ticket: Ticket, tool: Ticket) -> CheckedReply:  # noqa: ARG002 - whatever it is
        """See `Judge`."""
        judgement = Judgement(status="DEFER", rule_id="defer.no-judge", reason="No draft can be checked here.")
        return CheckedReply(judgement=judgement, text="")
