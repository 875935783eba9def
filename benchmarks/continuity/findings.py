"""Findings as the benchmark reads them: a rule, and lines of files that it points at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Quote:
    path: str
    first: int
    last: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    rule: str
    quotes: tuple[Quote, ...]


def findings_in(answer: Any) -> list[Finding]:
    """Every finding in a JSON answer, wherever it stands in it: an object with a rule and its cited lines."""
    return list(_walk(answer))


def _walk(value: Any) -> Iterator[Finding]:
    if isinstance(value, Mapping):
        quotes = value.get("quotes") or [value[side] for side in ("canon", "scene") if side in value]
        if quotes and all(isinstance(quote, Mapping) and "path" in quote for quote in quotes):
            yield Finding(rule=str(value.get("rule", value.get("rule_id", ""))), quotes=tuple(map(_quote, quotes)))
            return
        for inner in value.values():
            yield from _walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)


def _quote(quote: Mapping[str, Any]) -> Quote:
    first = int(quote.get("line", quote.get("start_line", 0)))
    return Quote(
        path=quote["path"],
        first=first,
        last=int(quote.get("end_line", first)),
        text=str(quote.get("text", quote.get("quote", ""))),
    )
