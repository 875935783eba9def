"""Evidence of a ticket: quotable pieces of tool results, and the trace of the calls that returned them.

Rules and models only make calls; what counts as evidence in the results is decided here for both.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.rooms.desk.gather.limits import LOGS, MEMORY, WEB
from tallystick.rooms.desk.gather.provenance import author_of, counts, quotable_texts
from tallystick.rooms.desk.language.overlap import relevance
from tallystick.rooms.desk.model import Evidence, Need
from tallystick.rooms.desk.options import VerdictPolicy

KEPT = 4
"""Pieces of evidence kept for each need."""
ANSWERS = 0.5
"""From this probability on a need is not searched for again."""
_KINDS = {LOGS: "logs_hits", MEMORY: "graph_nodes", WEB: "web_summaries"}
_LISTS = ("passages", "hits", "results", "items", "facts")
_SOURCES = ("doc", "path", "file", "url", "cite", "id", "observation_id", "source_id", "ticket_id")
_TEXTS = ("snippet", "text", "quote", "line")
LISTED = 10
"""Results of one call in `logs_hits`, `graph_nodes` or `web_summaries`."""
TRACED = 3
"""Results of one call in the trace."""
LONGEST = 400
"""Characters of a text that is only shown; the receipt holds all of it."""


class EvidenceCollector:
    """Collects the evidence of one ticket."""

    def __init__(self, needs: Sequence[Need], policy: VerdictPolicy) -> None:
        self._needs = tuple(needs)
        self._policy = policy
        self._evidence: list[Evidence] = []
        self._trace: list[dict[str, Any]] = []
        self._others: dict[str, list[Any]] = {"logs_hits": [], "graph_nodes": [], "web_summaries": []}

    def take(self, tool: str, args: Mapping[str, Any], outcome: Outcome, *, at: str, place: int | None = None) -> None:
        """Take what a call gave.

        Args:
            tool: Which was called.
            args: With what.
            outcome: Its outcome.
            at: When, RFC 3339.
            place: The need that the call was made for; None: the one that was asked for in its own words, if any.
        """
        pieces = found_in(outcome.result, tool, args=args, policy=self._policy) if outcome.ok else []
        self._trace.append(_traced(tool, args, outcome, at, pieces))
        meant = self._asked_for(args) if place is None else place
        for found in pieces:
            self._piece(found, tool, outcome.receipt_id, meant)
        kind = _KINDS.get(tool)
        if kind is not None and outcome.ok:
            results = _listed(outcome.result)[:LISTED]
            self._others[kind] += [{**_bounded(one), "receipt_id": outcome.receipt_id} for one in results]

    def has(self, place: int) -> bool:
        """Whether counting evidence answers a need, so that the search can stop."""
        return any(one.counts and one.need == place and one.relevance_score >= ANSWERS for one in self._evidence)

    def outputs(
        self, *, turns_used: int, max_turns: int, truncated: bool = False, doubt: str | None = None
    ) -> dict[str, Any]:
        """`final_outputs` of the ticket, with a proposed verdict.

        Args:
            turns_used: Rounds of calls.
            max_turns: As many as there might have been.
            truncated: Whether the search stopped before it was done.
            doubt: Why a person should look at it all the same.
        """
        context = {
            "evidence": [one.as_dict() for one in self._best()],
            **self._others,
            "tool_trace": self._trace,
            "truncated": truncated,
            "turn_control": {"turns_used": turns_used, "max_turns": max_turns},
        }
        covered = {one.need for one in self._evidence if one.counts}
        enough = bool(self._needs) and len(covered) == len(self._needs)
        reason = doubt or ("Something was found for every need." if enough else "Not every need was answered.")
        status = "PROCEED" if enough and doubt is None else "DEFER"
        return {"tool_context": context, "tool_verdict": {"status": status, "reason": reason}}

    def _piece(self, found: Mapping[str, Any], tool: str, receipt_id: str, meant: int | None) -> None:
        snippet, source = str(found["snippet"]), str(found["source"])
        if not snippet or not source or not self._needs:
            return
        need, score = best_need(self._needs, snippet, found["about"], meant=meant, found=found["found"])
        if score <= 0 or any(one.snippet == snippet and one.source == source for one in self._evidence):
            return
        self._evidence.append(
            Evidence(
                evidence_id=f"ev_{len(self._evidence) + 1}",
                source=source,
                snippet=snippet,
                relevance_score=score,
                need=need,
                quote_ok=True,
                receipt_id=receipt_id,
                place=found.get("place"),
                author=author_of(tool),
                counts=found["counts"],
            )
        )

    def _asked_for(self, args: Mapping[str, Any]) -> int | None:
        return next((at for at, need in enumerate(self._needs) if need.question == args.get("query")), None)

    def _best(self) -> list[Evidence]:
        kept: list[Evidence] = []
        for place in range(len(self._needs)):
            mine = [one for one in self._evidence if one.need == place]
            # What counts comes first, so that no number of notes displaces a document.
            kept += sorted(mine, key=lambda one: (not one.counts, -one.relevance_score))[:KEPT]
        return kept


def found_in(result: Any, tool: str, *, args: Mapping[str, Any], policy: VerdictPolicy) -> list[dict[str, Any]]:
    """What a call gave, in one form: source, snippet, place, and whether it counts.

    Args:
        result: Of the call.
        tool: Which gave it: the source of what names none.
        args: What it was called with.
        policy: Says which sources answer.
    """
    found: list[dict[str, Any]] = []
    for shown, given in _parts_of(result, tool, policy):
        piece = _piece(shown, tool)
        counted = counts(piece["snippet"], tool=tool, piece=given, args=args, policy=policy)
        found.append({**piece, "counts": counted, "found": probability_of(given, result)})
    return found


_Part = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A part of a result, as it is shown and as it was given."""


def _parts_of(result: Any, tool: str, policy: VerdictPolicy) -> Iterator[_Part]:
    """Every part of a result. Every tool says it a little differently."""
    if isinstance(result, str):
        yield {"text": result}, {"text": result}
    if not isinstance(result, Mapping) or has_doubt(result):
        return
    listed = _listed(result)
    if listed or any(name in result for name in _LISTS):
        for one in listed:
            yield one, one
            yield from (({**one, "text": text}, one) for text in _texts_beside(one, tool, policy))
        return
    text = next((result[name] for name in ("text", "answer") if isinstance(result.get(name), str)), None)
    if text is None or result.get("status") in {"withdrawn", "superseded"}:
        return
    # A document that was read: what of it speaks to a need is a paragraph, not the whole and not a heading.
    for part in (part.strip("\n") for part in text.split("\n\n")):
        if "\n" in part or not part.startswith("#"):
            yield {**result, "text": part}, result


def _texts_beside(one: Mapping[str, Any], tool: str, policy: VerdictPolicy) -> Iterator[str]:
    """How a ticket ended, beside what the customer wrote; what of a log record may be quoted, beside its line."""
    if isinstance(one.get("resolution"), str):
        yield one["resolution"]
    if tool == LOGS:
        yield from quotable_texts(tool, one, policy)


def _listed(result: Any) -> list[Mapping[str, Any]]:
    """Everything that a search lists."""
    if not isinstance(result, Mapping):
        return []
    lists = (result[name] for name in _LISTS if isinstance(result.get(name), list))
    return [one for found in lists for one in found if isinstance(one, Mapping)]


def _piece(one: Mapping[str, Any], tool: str) -> dict[str, Any]:
    source = next((one[name] for name in _SOURCES if one.get(name)), tool)
    snippet = next((one[name] for name in _TEXTS if one.get(name)), None) or fact_in(one) or ""
    lines = one.get("lines")
    place = f"lines {lines[0]}-{lines[1]}" if isinstance(lines, list) and len(lines) == 2 else None  # noqa: PLR2004
    return {
        "source": str(source),
        "snippet": str(snippet),
        "place": place or one.get("section") or one.get("source_id"),
        "about": headings_of(one),
    }


def _bounded(one: Mapping[str, Any]) -> dict[str, Any]:
    """A result without the rest of long texts."""
    short = {name: value[:LONGEST] if isinstance(value, str) else value for name, value in one.items()}
    return short if short == one else {**short, "cut": True}


def _traced(
    tool: str, args: Mapping[str, Any], outcome: Outcome, at: str, pieces: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The contract's four fields, and the receipt that proves them."""
    result: dict[str, Any] = {"status": str(outcome.status)}
    if outcome.ok:
        shown = [_bounded({"source": one["source"], "snippet": one["snippet"]}) for one in pieces[:TRACED]]
        result = {"status": "accepted", "found": len(pieces), "results": shown}
    return {"tool_name": tool, "args": dict(args), "result": result, "timestamp": at, "receipt_id": outcome.receipt_id}


def best_need(
    needs: tuple[Need, ...],
    snippet: str,
    about: tuple[str, ...] = (),
    *,
    meant: int | None = None,
    found: float | None = None,
) -> tuple[int, float]:
    """Which need a snippet answers most, and how likely. Worked out by us, whatever a worker says.

    Args:
        needs: What must be known.
        snippet: Verbatim.
        about: The headings it stands under.
        meant: The need whose own words were searched for.
        found: The probability that the search gave it; None: the search gives none.
    """
    text = "\n".join((*about, snippet))
    scores = [relevance(need.question, text) for need in needs] or [0.0]
    best = max(range(len(scores)), key=lambda place: (scores[place], place == meant, -place))
    if found is None:
        return best, scores[best]
    # What was found for other words than a need's own answers it at most as far as it speaks of it.
    return (best, min(found, scores[best])) if meant is None else (meant, found)


def probability_of(piece: Mapping[str, Any], result: Any) -> float | None:
    """The probability that a piece answers what was searched for; None: its tool gives none."""
    confidence = result.get("confidence") if isinstance(result, Mapping) else None
    score = piece.get("score")
    numbers = [value for value in (confidence, score) if isinstance(value, float | int) and 0 <= value <= 1]
    return round(numbers[0] * numbers[1], 4) if len(numbers) == 2 else None  # noqa: PLR2004


def headings_of(piece: Mapping[str, Any]) -> tuple[str, ...]:
    """Title and section of a piece, where its tool names them."""
    return tuple(value for name in ("title", "section") if isinstance(value := piece.get(name), str) and value)


def has_doubt(result: Mapping[str, Any]) -> bool:
    """Whether memory itself says that what it found may be no answer: hardly related, or said of another."""
    return isinstance(result.get("doubt"), str)


def fact_in(piece: Mapping[str, Any]) -> str | None:
    """An accepted fact of memory as a sentence; None for claimed and disputed ones."""
    parts = [piece.get(name) for name in ("subject", "predicate", "object")]
    if piece.get("status") != "accepted" or not all(isinstance(part, str) and part for part in parts):
        return None
    subject, predicate, thing = map(str, parts)
    return f"{subject} {predicate.replace('_', ' ')} {thing}"
