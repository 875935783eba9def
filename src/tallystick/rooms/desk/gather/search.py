"""Search by rules: query every search tool for each need through the gate, and keep what can be quoted.

What a search may spend is the ticket's `tool_policy`: the tools it names and no others, which the gate sees to at every
call, so many turns, so many searches. Customer's words and documents are data; nothing in them chooses a tool.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, combinations, islice
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.rooms.desk.derivation import event_of
from tallystick.rooms.desk.gather.evidence import EvidenceCollector
from tallystick.rooms.desk.gather.limits import LOGS, SEARCHES, Limits, needs_in
from tallystick.rooms.desk.language.overlap import stems_of
from tallystick.rooms.desk.model import Ticket
from tallystick.rooms.desk.options import VerdictPolicy

_EDGES = ".,;:!?()[]{}<>\"'`“”‘’#*"  # noqa: RUF001 - as people type them
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)+|[A-Z]{4,}")
"""How programs name what went wrong: ERR_TIMEOUT, ECONNRESET."""
_LONG, _MIXED = 4, 3
"""A number of so many digits names something; fewer do beside letters."""
_LOUD = 0.6
"""From this share of capitalised words on, capitals are ignored."""
Call = Callable[[str, Mapping[str, Any], str], Outcome]
"""(tool, arguments, step name) → outcome."""


class EvidenceSearch:
    """Searches for the evidence of one ticket."""

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
        self._gathered = EvidenceCollector(self._needs, policy)
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


def worded(question: str) -> Iterator[str]:
    """The question itself, then what is left of it when its rarer words are asked for alone."""
    words = _rare(question)
    heads = (" ".join(words[:count]) for count in (4, 2))
    pairs = (" ".join(pair) for pair in combinations(words, 2))
    yield from _once(chain([question], heads, words, pairs))


def log_queries(question: str, message: str = "") -> Iterator[str]:
    """Queries for log entries, which contain no whole question: ids and codes, then the rarest words.

    Args:
        question: What must be known.
        message: The customer's words, where an order is named once for all questions.
    """
    words = _rare(question)
    yield from _once(chain(_ids(question), _ids(message), [" ".join(words[:2])], words))


def _rare(question: str) -> list[str]:
    """Words that say what it is about; the longer, the rarer."""
    return sorted(stems_of(question), key=lambda word: (-len(word), word))


def _ids(text: str) -> Iterator[str]:
    tokens = [token for raw in text.split() if (token := raw.strip(_EDGES))]
    loud = sum(map(str.isupper, tokens)) > len(tokens) * _LOUD
    for token in tokens:
        if _is_number(token) or (not loud and _CODE.fullmatch(token) is not None):
            yield token


def _is_number(token: str) -> bool:
    if not any(map(str.isdigit, token)):
        return False
    return len(token) >= (_LONG if token.isdigit() else _MIXED) and any(map(str.isalnum, token))


def _once(found: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for one in found:
        if one and one not in seen:
            seen.add(one)
            yield one
