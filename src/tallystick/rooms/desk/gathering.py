"""TOOL by rules: search for every need, read where it pays, keep what can be quoted. Every call goes through the gate.

What a search may spend is the ticket's `tool_policy`: the tools it names and no others, which the gate sees to at every
call, so many turns, so many searches. Customer's words and documents are data; nothing in them chooses a tool.
"""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.rooms.desk.deriving import event_of
from tallystick.rooms.desk.gathered import Gathered
from tallystick.rooms.desk.limits import LOGS, SEARCHES, Limits, needs_in
from tallystick.rooms.desk.nouns import Ticket
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.queries import log_queries, worded

Call = Callable[[str, Mapping[str, Any], str], Outcome]
"""(tool, arguments, name of the step) → what came of it."""


class Gathering:
    """The search for one ticket."""

    def __init__(
        self, ticket: Ticket, call: Call, tools: frozenset[str], now: Callable[[], str], policy: VerdictPolicy
    ) -> None:
        """Begin.

        Args:
            ticket: A TOOL ticket.
            call: The gate, for this ticket.
            tools: Those that are here.
            now: The time, RFC 3339.
            policy: Says which sources answer.
        """
        self._needs = needs_in(ticket)
        self._said = str(event_of(ticket).get("content") or "")
        self._limits = Limits.of(ticket)
        self._tools = [name for name in SEARCHES if name in self._limits.whitelist and name in tools]
        self._call = call
        self._now = now
        self._gathered = Gathered(self._needs, policy)
        self._cut = False
        self._spent = 0

    def run(self) -> dict[str, Any]:
        """Gather, and give `final_outputs`. A turn is one query at every tool for every need that is still open."""
        planned = {
            (place, tool): self._planned(place, tool) for place in range(len(self._needs)) for tool in self._tools
        }
        rounds = max(map(len, planned.values()), default=0)
        turns = 0
        while self._wanted() and not self._cut and turns < min(rounds, self._limits.max_turns):
            # All needs in one place before the next: a budget is not to be spent on the first of them.
            for tool in tuple(self._tools):
                for place in self._wanted():
                    if turns < len(planned[place, tool]):
                        self._search(place, tool, planned[place, tool][turns], turns)
            turns += 1
        cut = self._cut or turns < rounds
        return self._gathered.outputs(
            turns_used=turns, max_turns=self._limits.max_turns, truncated=cut and bool(self._open())
        )

    def _open(self) -> list[int]:
        """The needs that nothing answers yet."""
        return [place for place in range(len(self._needs)) if not self._gathered.has(place)]

    def _wanted(self) -> list[int]:
        """The needs that are searched for; an exhaustive search goes on though something was found."""
        return list(range(len(self._needs))) if self._limits.strategy == "exhaustive" else self._open()

    def _planned(self, place: int, tool: str) -> list[str]:
        question = self._needs[place].question
        queries = log_queries(question, self._said) if tool == LOGS else worded(question)
        return list(islice(queries, self._limits.queries))

    def _search(self, place: int, tool: str, query: str, number: int) -> None:
        if self._spent >= self._limits.searches:
            self._cut = True
            return
        self._spent += 1
        args: dict[str, Any] = {"query": query}
        outcome = self._call(tool, args, f"need-{place}-{number}-{tool}")
        self._gathered.take(tool, args, outcome, at=self._now(), place=place)
        if outcome.held is not None and tool in self._tools:
            # A person is asked once.
            self._tools.remove(tool)
