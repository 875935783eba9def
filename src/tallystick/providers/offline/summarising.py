"""Plain words for a result of any shape: its fields, those first that share something with the request."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tallystick.gate.reply.references import RECEIPT
from tallystick.providers.offline.kinds import spaced
from tallystick.providers.offline.results import scalars
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words

MAX_FACTS = 8
MAX_VALUE = 200
"""Characters of one value that are shown."""
_FEW = 3
_DIGEST = re.compile(r"[0-9a-f]{32,128}")
_MARKS = re.compile(r"[\"“”„‟«»`]|(?<!\w)['‘’]|['‘’](?!\w)")  # noqa: RUF001
"""Marks would make a quotation of what is only shown."""


def facts_of(value: Any, wanted: frozenset[str], *, asked_only: bool = False) -> list[str]:
    """What a result says, as short lines.

    Args:
        value: The result, as JSON gives it.
        wanted: Stems of the request; what shares one comes first.
        asked_only: What shares none is left out.
    """
    lines = _rows(value) if _is_table(value) else _fields(value)
    if asked_only:
        lines = [line for line in lines if _shared(line, wanted)]
    ranked = sorted(enumerate(lines), key=lambda pair: (-_shared(pair[1], wanted), pair[0]))
    chosen = sorted(ranked[:MAX_FACTS])
    return [line for _, line in chosen]


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _rows(value: list[Mapping[str, Any]]) -> list[str]:
    """A line a row, those first that stand out: what is the same everywhere tells least."""
    rare = _rare(value)
    order = sorted(
        range(len(value)), key=lambda at: (-sum((key, str(value[at].get(key))) in rare for key in value[at]), at)
    )
    return ["; ".join(_field(key, inner) for key, inner in _told(value[at])[:MAX_FACTS]) for at in order]


def _rare(rows: list[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Column and value, where a column has few values and this one stands in few rows."""
    counts = Counter((key, str(inner)) for row in rows for key, inner in row.items() if isinstance(inner, str))
    kinds = Counter(key for key, _ in counts)
    few = {key for key, many in kinds.items() if many <= max(_FEW, len(rows) // 4)}
    return {pair for pair, many in counts.items() if pair[0] in few and many * 4 <= len(rows)}


def _told(item: Any) -> list[tuple[str, Any]]:
    """Without receipts that a record names: they are of other calls, and not this answer's to cite."""
    return [(key, value) for key, value in scalars(item) if not (isinstance(value, str) and RECEIPT.search(value))]


def _fields(value: Any) -> list[str]:
    lines: list[str] = []
    plain = list(value.items()) if isinstance(value, dict) else [("", value)]
    for key, inner in plain:
        if _is_table(inner):
            lines += [f"{spaced(key)}: {row}" for row in _rows(inner)]
        elif isinstance(inner, list | dict):
            values = [_plain(one) for _, one in _told(inner)[:MAX_FACTS]]
            lines.append(f"{spaced(key)}: {', '.join(values) or 'none'}")
        elif inner is not None and not _is_bookkeeping(inner):
            lines.append(_field(key, inner))
    return lines


def _is_bookkeeping(value: Any) -> bool:
    """What a result says of itself: that nothing was left out, which bytes were read."""
    return value is False or (isinstance(value, str) and _DIGEST.fullmatch(value) is not None)


def _field(key: str, value: Any) -> str:
    return f"{spaced(key)}: {_plain(value)}" if key else _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = " ".join(_MARKS.sub("", str(value)).split())
    return text if len(text) <= MAX_VALUE else text[:MAX_VALUE].rpartition(" ")[0] or text[:MAX_VALUE]


def _shared(line: str, wanted: frozenset[str]) -> int:
    return len({stem(word) for word in identifier_words(line)} & wanted)
