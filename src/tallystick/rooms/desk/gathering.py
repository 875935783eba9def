"""TOOL by rules: search for every need, read where it pays, keep what can be quoted. Every call goes through the gate.

What a search may spend is the ticket's `tool_policy`: the tools it names and no others, which the gate sees to at every
call, so many turns, so many searches. Customer's words and documents are data; nothing in them chooses a tool.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.records import record
from tallystick.rooms.desk.deriving import needs_of
from tallystick.rooms.desk.gathered import LOGS, MEMORY, WEB, Gathered
from tallystick.rooms.desk.judging.matching import stems_of
from tallystick.rooms.desk.nouns import Need, Ticket

Call = Callable[[str, Mapping[str, Any], str], Outcome]
"""(tool, arguments, name of the step) → what came of it."""

KB, INSIGHT = "kb.search", "insight.search"
STRATEGY = {"focused": 1, "broad": 3, "exhaustive": 8}
"""Queries for one need."""
SEARCHES = (KB, MEMORY, INSIGHT, LOGS, WEB)


@record
class Limits:
    """A ticket's `tool_policy`, read: what is negative counts as 0, what is missing as the default."""

    max_turns: int
    queries: int
    searches: int
    whitelist: frozenset[str]

    @classmethod
    def of(cls, ticket: Ticket) -> "Limits":
        """Read it."""
        given = ticket.tool_input.get("tool_policy")
        policy: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        listed = policy.get("tool_whitelist")
        return cls(
            max_turns=_count(policy.get("max_turns"), 3),
            queries=STRATEGY.get(str(policy.get("web_search_strategy")), 1),
            searches=_count(policy.get("web_search_budget"), 5),
            whitelist=frozenset(str(one) for one in listed) if isinstance(listed, list) else frozenset(SEARCHES),
        )


class Gathering:
    """The search for one ticket."""

    def __init__(self, ticket: Ticket, call: Call, tools: frozenset[str], now: Callable[[], str]) -> None:
        """Begin.

        Args:
            ticket: A TOOL ticket.
            call: The gate, for this ticket.
            tools: Those that are here.
            now: The time, RFC 3339.
        """
        self._needs = needs_in(ticket)
        self._limits = Limits.of(ticket)
        self._tools = [name for name in SEARCHES if name in self._limits.whitelist and name in tools]
        self._call = call
        self._now = now
        self._gathered = Gathered(self._needs)
        self._cut = False
        self._spent = 0

    def run(self) -> dict[str, Any]:
        """Gather, and give `final_outputs`. A turn is one query for every need that has found nothing yet."""
        queries = [_queries(need.question, self._limits.queries) for need in self._needs]
        rounds = max(map(len, queries), default=0)
        turns = 0
        while self._open() and turns < min(rounds, self._limits.max_turns):
            # All needs in one place before the next: a budget is not to be spent on the first of them.
            for tool in self._tools if turns == 0 else [KB]:
                for place in self._open():
                    if turns < len(queries[place]) and tool in self._tools:
                        self._search(place, tool, queries[place][turns], turns)
            turns += 1
        cut = self._cut or turns < rounds
        return self._gathered.outputs(
            turns_used=turns, max_turns=self._limits.max_turns, truncated=cut and bool(self._open())
        )

    def _open(self) -> list[int]:
        """The needs that nothing answers yet."""
        return [place for place in range(len(self._needs)) if not self._gathered.has(place)]

    def _search(self, place: int, tool: str, query: str, number: int) -> None:
        if self._spent >= self._limits.searches:
            self._cut = True
            return
        self._spent += 1
        args: dict[str, Any] = {"query": query}
        outcome = self._call(tool, args, f"need-{place}-{number}-{tool}")
        self._gathered.take(tool, args, outcome, at=self._now(), place=place)


def needs_in(ticket: Ticket) -> tuple[Need, ...]:
    """The needs that a TOOL ticket was given."""
    triage = ticket.tool_input.get("triage")
    return needs_of(triage if isinstance(triage, Mapping) else {})


def _queries(question: str, most: int) -> list[str]:
    """The question itself, then what is left of it when its rarer words are asked for alone."""
    words = sorted(stems_of(question), key=lambda word: (-len(word), word))
    others = [" ".join(words[:count]) for count in (4, 2)]
    return list(dict.fromkeys([question, *(one for one in others if one)]))[:most]


def _count(value: Any, default: int) -> int:
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else default
