"""TOOL by rules: search for every need, read where it pays, keep what can be quoted. Every call goes through the gate.

What a search may spend is the ticket's `tool_policy`, enforced by the gate at every call: the tools it names and no
others, so many calls, so many searches. Customer's words and documents are data; nothing in them chooses a tool.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.records import record
from tallystick.rooms.desk.deriving import needs_of
from tallystick.rooms.desk.judging.case import best_need
from tallystick.rooms.desk.judging.matching import relevance, stems_of
from tallystick.rooms.desk.nouns import Evidence, Need, Ticket

Call = Callable[[str, Mapping[str, Any], str], Outcome]
"""(tool, arguments, name of the step) → what came of it."""

KB, LOGS, MEMORY, INSIGHT, WEB = "kb.search", "logs.search", "mem.search", "insight.search", "web.search"
STRATEGY = {"focused": 1, "broad": 3, "exhaustive": 8}
"""Queries for one need."""
KEPT = 4
"""Pieces of evidence kept for each need."""
WORTH = 0.2
"""A snippet that speaks of less than this share of a need is not kept."""
_SEARCHES = (KB, MEMORY, INSIGHT, LOGS, WEB)


@record
class Limits:
    """A ticket's `tool_policy`, read: what is negative counts as 0, what is missing as the default."""

    max_turns: int
    queries: int
    searches: int
    whitelist: frozenset[str]

    @classmethod
    def of(cls, policy: Mapping[str, Any]) -> "Limits":
        """Read it."""
        listed = policy.get("tool_whitelist")
        return cls(
            max_turns=_count(policy.get("max_turns"), 3),
            queries=STRATEGY.get(str(policy.get("web_search_strategy")), 1),
            searches=_count(policy.get("web_search_budget"), 5),
            whitelist=frozenset(str(one) for one in listed) if isinstance(listed, list) else frozenset(_SEARCHES),
        )


class Gathering:
    """The evidence of one ticket while it is gathered."""

    def __init__(self, ticket: Ticket, call: Call, tools: frozenset[str], now: Callable[[], str]) -> None:
        """Begin.

        Args:
            ticket: A TOOL ticket.
            call: The gate, for this ticket.
            tools: Those that are here.
            now: The time, RFC 3339.
        """
        triage = ticket.tool_input.get("triage")
        policy = ticket.tool_input.get("tool_policy")
        self._needs = needs_of(triage if isinstance(triage, Mapping) else {})
        self._limits = Limits.of(policy if isinstance(policy, Mapping) else {})
        self._tools = [name for name in _SEARCHES if name in self._limits.whitelist and name in tools]
        self._call = call
        self._now = now
        self._evidence: list[Evidence] = []
        self._trace: list[dict[str, Any]] = []
        self._others: dict[str, list[Any]] = {"logs_hits": [], "graph_nodes": [], "web_summaries": []}
        self._truncated = False
        self._turns = 0
        self._spent = 0

    def run(self) -> dict[str, Any]:
        """Gather, and give `final_outputs` with a verdict of our own: a proposal like any worker's."""
        for place, need in enumerate(self._needs):
            self._for(place, need)
        context = {
            "evidence": [one.as_dict() for one in self._best()], **self._others, "tool_trace": self._trace,
            "truncated": self._truncated,
            "turn_control": {"turns_used": self._turns, "max_turns": self._limits.max_turns},
        }  # fmt: skip
        covered = {one.need for one in self._evidence}
        enough = bool(self._needs) and len(covered) == len(self._needs)
        verdict = {
            "status": "PROCEED" if enough else "DEFER",
            "reason": "Something was found for every need." if enough else "Not every need was answered.",
        }
        return {"tool_context": context, "tool_verdict": verdict}

    def _for(self, place: int, need: Need) -> None:
        if self._turns >= self._limits.max_turns and self._limits.queries > 1:
            return
        for number, query in enumerate(_queries(need.question, self._limits.queries)):
            for tool in self._tools:
                if tool != KB and number:
                    continue  # in other words only where documents are searched
                if self._spent >= self._limits.searches:
                    self._truncated = self._truncated or not self._has(place)
                    return
                self._search(place, tool, query, number)
            self._turns += 1
            if self._has(place):
                return

    def _search(self, place: int, tool: str, query: str, number: int) -> None:
        self._spent += 1
        args: dict[str, Any] = {"query": query}
        outcome = self._call(tool, args, f"need-{place}-{number}-{tool}")
        self._trace.append(_traced(tool, args, outcome, self._now()))
        if outcome.ok:
            self._take(place, tool, outcome)

    def _take(self, place: int, tool: str, outcome: Outcome) -> None:
        for found in _found(outcome.result):
            snippet, source = str(found.get("snippet", "")), str(found.get("source", ""))
            if not snippet or not source:
                continue
            need, score = best_need(self._needs, snippet)
            mine = max(relevance(self._needs[place].question, snippet), found.get("score") or 0.0)
            if mine >= score:
                need, score = place, mine
            if score < WORTH or any(one.snippet == snippet and one.source == source for one in self._evidence):
                continue
            self._evidence.append(
                Evidence(
                    evidence_id=f"ev_{len(self._evidence) + 1}", source=source, snippet=snippet, relevance_score=score,
                    need=need, quote_ok=True, receipt_id=outcome.receipt_id, place=found.get("place"),
                )
            )  # fmt: skip
        kind = {LOGS: "logs_hits", MEMORY: "graph_nodes", WEB: "web_summaries"}.get(tool)
        if kind is not None:
            self._others[kind].append({"receipt_id": outcome.receipt_id})

    def _has(self, place: int) -> bool:
        asked = len(stems_of(self._needs[place].question))
        return any(one.need == place and one.relevance_score * asked >= min(asked, 2) for one in self._evidence)

    def _best(self) -> list[Evidence]:
        kept: list[Evidence] = []
        for place in range(len(self._needs)):
            mine = [one for one in self._evidence if one.need == place]
            kept += sorted(mine, key=lambda one: (-one.relevance_score, one.evidence_id))[:KEPT]
        return kept


def _queries(question: str, most: int) -> list[str]:
    """The question itself, then what is left of it when its rarer words are asked for alone."""
    words = sorted(stems_of(question), key=lambda word: (-len(word), word))
    others = [" ".join(words[:count]) for count in (4, 2)]
    return list(dict.fromkeys([question, *(one for one in others if one)]))[:most]


def _traced(tool: str, args: Mapping[str, Any], outcome: Outcome, at: str) -> dict[str, Any]:
    """The contract's four fields, and the receipt that proves them."""
    result: Any = {"status": str(outcome.status)}
    if outcome.ok and isinstance(outcome.result, Mapping):
        result = {"status": "accepted", "found": len(list(_found(outcome.result)))}
    return {
        "tool_name": tool, "args": dict(args), "result": result, "timestamp": at,
        "receipt_id": outcome.receipt_id,
    }  # fmt: skip


def _found(result: Any) -> list[dict[str, Any]]:
    """What a search gave, in one form: source, snippet, place. Every search tool says it a little differently."""
    if not isinstance(result, Mapping):
        return []
    listed: Any = next(
        (result[name] for name in ("passages", "hits", "results", "items", "facts") if name in result), []
    )
    return [_piece(one) for one in listed if isinstance(one, Mapping)]


def _piece(one: Mapping[str, Any]) -> dict[str, Any]:
    source = (
        one.get("doc") or one.get("path") or one.get("file") or one.get("url") or one.get("id") or one.get("ticket_id")
    )
    snippet = one.get("snippet") or one.get("text") or one.get("quote") or one.get("line") or ""
    lines = one.get("lines")
    place = f"lines {lines[0]}-{lines[1]}" if isinstance(lines, list) and len(lines) == 2 else one.get("section")  # noqa: PLR2004
    score = one.get("score")
    known = float(score) if isinstance(score, int | float) and 0 <= score <= 1 else 0.0
    return {"source": "" if source is None else str(source), "snippet": str(snippet), "place": place, "score": known}


def _count(value: Any, default: int) -> int:
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else default
