"""Limits of a ticket's search, from its `tool_policy`; they bind built-in and external workers."""

from collections.abc import Mapping
from typing import Any

from tallystick.records import record
from tallystick.rooms.desk.derivation import needs_of
from tallystick.rooms.desk.model import Need, Ticket

KB, MEMORY, INSIGHT, LOGS, WEB = "kb.search", "mem.search", "insight.search", "logs.search", "web.search"
SEARCHES = (KB, MEMORY, INSIGHT, LOGS, WEB)
STRATEGIES = ("focused", "broad", "exhaustive")
_QUERIES = {"focused": 1, "broad": 3}
"""Queries for one need; an exhaustive search ends with its budget."""

MORE_TURNS, MORE_SEARCHES = 3, 10
"""What a person adds who asks for more evidence."""


@record
class Limits:
    """A ticket's `tool_policy`: what is negative counts as 0, what is missing as the default."""

    max_turns: int
    strategy: str
    searches: int
    whitelist: frozenset[str]

    @classmethod
    def of(cls, ticket: Ticket) -> "Limits":
        """Read it."""
        given = ticket.tool_input.get("tool_policy")
        policy: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        listed, strategy = policy.get("tool_whitelist"), str(policy.get("web_search_strategy"))
        return cls(
            max_turns=_count(policy.get("max_turns"), 3),
            strategy=strategy if strategy in STRATEGIES else "focused",
            searches=_count(policy.get("web_search_budget"), 5),
            whitelist=frozenset(str(one) for one in listed) if isinstance(listed, list) else frozenset(SEARCHES),
        )

    @property
    def queries(self) -> int:
        """How many queries one need may have at one tool."""
        return _QUERIES.get(self.strategy, max(1, self.searches))

    def most_searches(self, needs: int) -> int:
        """How many searches in all: what the strategy asks of every search tool, within the budget."""
        tools = len(self.whitelist.intersection(SEARCHES))
        return min(self.searches, self.queries * needs * max(1, tools))


def widened(ticket: Ticket) -> dict[str, Any]:
    """A ticket's `tool_policy` with more room: the next strategy, further searches and turns."""
    given, limits = ticket.tool_input.get("tool_policy"), Limits.of(ticket)
    at = min(STRATEGIES.index(limits.strategy) + 1, len(STRATEGIES) - 1)
    return {
        **(given if isinstance(given, Mapping) else {}),
        "max_turns": limits.max_turns + MORE_TURNS,
        "web_search_strategy": STRATEGIES[at],
        "web_search_budget": limits.searches + MORE_SEARCHES,
    }


def needs_in(ticket: Ticket) -> tuple[Need, ...]:
    """The needs that a TOOL ticket was given."""
    triage = ticket.tool_input.get("triage")
    return needs_of(triage if isinstance(triage, Mapping) else {})


def _count(value: Any, default: int) -> int:
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else default
