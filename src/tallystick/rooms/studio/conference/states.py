"""The states of attendee cards and of rounds, as two tables.

begun ──► running ──► closed        everyone has spoken or abstained
            │    └──► stopped       the tool phase was refused or not heard; nobody was asked
            ▼
        cancelling ──► cancelled    somebody does not want it any more
            └────────► broken_off   its process is gone or fell over; the prompt can be sent again
"""

from collections.abc import Mapping
from typing import Literal

from tallystick.records import record

Card = Literal["moderator", "participant", "abstained", "muted"]
Colour = Literal["green", "default", "yellow", "red"]
RoundState = Literal["running", "cancelling", "closed", "stopped", "cancelled", "broken_off"]


@record
class Look:
    """How a card is shown."""

    subtitle: str
    colour: Colour
    tooltip: str


LOOKS: Mapping[Card, Look] = {
    "moderator": Look(subtitle="Moderator", colour="green", tooltip="Runs the tools of every round and speaks first."),
    "participant": Look(subtitle="Participant", colour="default", tooltip="Speaks from its role, or abstains."),
    "abstained": Look(
        subtitle="Abstained",
        colour="yellow",
        tooltip="This agent had nothing to add from their role this round.",
    ),
    "muted": Look(subtitle="Muted", colour="red", tooltip="This agent is skipped until you unmute it."),
}

_ENDS: frozenset[RoundState] = frozenset({"closed", "stopped", "cancelled", "broken_off"})
NEXT: Mapping[RoundState, frozenset[RoundState]] = {
    "running": frozenset({"cancelling", *_ENDS}),
    # A cancellation may come too late: then the round ends normally.
    "cancelling": _ENDS,
    "closed": frozenset(),
    "stopped": frozenset(),
    "cancelled": frozenset(),
    "broken_off": frozenset(),
}


def is_over(state: RoundState) -> bool:
    """Whether a round has ended."""
    return not NEXT[state]


def may_become(before: RoundState, after: RoundState) -> bool:
    """Whether a round may change from one state to another."""
    return after in NEXT[before]
