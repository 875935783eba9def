"""What was gathered for a ticket: pieces that can be quoted, and the trace of the calls they come from.

Whoever gathers, by rules or by a model, only makes calls. What of their results is evidence is worked out here, alike.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.rooms.desk.judging.case import best_need, headings_of
from tallystick.rooms.desk.nouns import Evidence, Need

LOGS, MEMORY, WEB = "logs.search", "mem.search", "web.search"
KEPT = 4
"""Pieces of evidence kept for each need."""
WORTH = 0.2
"""A snippet that speaks of less than this share of a need is not kept."""
ANSWERS = 0.5
"""A snippet that speaks of this share of a need is what was looked for."""
_KINDS = {LOGS: "logs_hits", MEMORY: "graph_nodes", WEB: "web_summaries"}
_LISTS = ("passages", "hits", "results", "items", "facts")


class Gathered:
    """The evidence of one ticket while it is gathered."""

    def __init__(self, needs: Sequence[Need]) -> None:
        self._needs = tuple(needs)
        self._evidence: list[Evidence] = []
        self._trace: list[dict[str, Any]] = []
        self._others: dict[str, list[Any]] = {"logs_hits": [], "graph_nodes": [], "web_summaries": []}

    def take(self, tool: str, args: Mapping[str, Any], outcome: Outcome, *, at: str, place: int | None = None) -> None:
        """Take what a call gave.

        Args:
            tool: Which was called.
            args: With what.
            outcome: What came of it.
            at: When, RFC 3339.
            place: The need that the call was made for; None: the one that was asked for in its own words, if any.
        """
        self._trace.append(_traced(tool, args, outcome, at))
        if not outcome.ok:
            return
        meant = self._asked_for(args) if place is None else place
        for found in found_in(outcome.result):
            self._piece(found, outcome.receipt_id, meant)
        kind = _KINDS.get(tool)
        if kind is not None:
            self._others[kind].append({"receipt_id": outcome.receipt_id})

    def has(self, place: int) -> bool:
        """Whether something speaks to a need, so that nothing else needs to be asked."""
        return any(one.need == place and one.relevance_score >= ANSWERS for one in self._evidence)

    def outputs(
        self, *, turns_used: int, max_turns: int, truncated: bool = False, doubt: str | None = None
    ) -> dict[str, Any]:
        """`final_outputs` of the ticket, with a verdict of our own: a proposal like any worker's.

        Args:
            turns_used: Rounds of calls.
            max_turns: As many as there might have been.
            truncated: Whether the search stopped before it was done.
            doubt: Why a person should look at it all the same.
        """
        context = {
            "evidence": [one.as_dict() for one in self._best()], **self._others, "tool_trace": self._trace,
            "truncated": truncated, "turn_control": {"turns_used": turns_used, "max_turns": max_turns},
        }  # fmt: skip
        covered = {one.need for one in self._evidence}
        enough = bool(self._needs) and len(covered) == len(self._needs)
        reason = doubt or ("Something was found for every need." if enough else "Not every need was answered.")
        status = "PROCEED" if enough and doubt is None else "DEFER"
        return {"tool_context": context, "tool_verdict": {"status": status, "reason": reason}}

    def _piece(self, found: Mapping[str, Any], receipt_id: str, meant: int | None) -> None:
        snippet, source = str(found["snippet"]), str(found["source"])
        if not snippet or not source or not self._needs:
            return
        need, score = best_need(self._needs, snippet, found["about"], meant=meant)
        if score < WORTH or any(one.snippet == snippet and one.source == source for one in self._evidence):
            return
        self._evidence.append(
            Evidence(
                evidence_id=f"ev_{len(self._evidence) + 1}", source=source, snippet=snippet, relevance_score=score,
                need=need, quote_ok=True, receipt_id=receipt_id, place=found.get("place"),
            )
        )  # fmt: skip

    def _asked_for(self, args: Mapping[str, Any]) -> int | None:
        return next((at for at, need in enumerate(self._needs) if need.question == args.get("query")), None)

    def _best(self) -> list[Evidence]:
        kept: list[Evidence] = []
        for place in range(len(self._needs)):
            mine = [one for one in self._evidence if one.need == place]
            kept += sorted(mine, key=lambda one: -one.relevance_score)[:KEPT]
        return kept


def found_in(result: Any) -> list[dict[str, Any]]:
    """What a call gave, in one form: source, snippet, place. Every tool says it a little differently."""
    if not isinstance(result, Mapping):
        return []
    listed: Any = next((result[name] for name in _LISTS if name in result), None)
    if isinstance(listed, list):
        return [_piece(one) for one in listed if isinstance(one, Mapping)]
    text = result.get("text")
    if not isinstance(text, str) or result.get("status") in {"withdrawn", "superseded"}:
        return []
    # A document that was read: what of it speaks to a need is a paragraph, not the whole and not a heading.
    parts = (part.strip("\n") for part in text.split("\n\n"))
    return [_piece({**result, "text": part}) for part in parts if "\n" in part or not part.startswith("#")]


def _piece(one: Mapping[str, Any]) -> dict[str, Any]:
    source = (
        one.get("doc") or one.get("path") or one.get("file") or one.get("url") or one.get("id") or one.get("ticket_id")
    )
    snippet = one.get("snippet") or one.get("text") or one.get("quote") or one.get("line") or ""
    lines = one.get("lines")
    place = f"lines {lines[0]}-{lines[1]}" if isinstance(lines, list) and len(lines) == 2 else one.get("section")  # noqa: PLR2004
    return {
        "source": "" if source is None else str(source), "snippet": str(snippet), "place": place,
        "about": headings_of(one),
    }  # fmt: skip


def _traced(tool: str, args: Mapping[str, Any], outcome: Outcome, at: str) -> dict[str, Any]:
    """The contract's four fields, and the receipt that proves them."""
    result: Any = {"status": str(outcome.status)}
    if outcome.ok and isinstance(outcome.result, Mapping):
        result = {"status": "accepted", "found": len(found_in(outcome.result))}
    return {
        "tool_name": tool, "args": dict(args), "result": result, "timestamp": at,
        "receipt_id": outcome.receipt_id,
    }  # fmt: skip
