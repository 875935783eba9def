"""The machine-readable appendix of a report: one line of JSON per number and quote."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import orjson

HEADING = "Figures"
FENCE = "```"
_LARGEST = 2**31 - 1
"""Of an id, in both databases."""


def lines_of(appendix: Mapping[str, Any], body: str) -> list[str]:
    """The appendix, line by line; the first says what the report is of, and what its text was.

    Args:
        appendix: As the report has it.
        body: The text above it, whose digest the appendix holds.
    """
    head = {key: value for key, value in appendix.items() if key not in {"figures", "quotes"}}
    head["text_sha256"] = digest(body)
    return [_line({"report": head}), *(_line(each) for each in (*appendix["figures"], *appendix["quotes"]))]


def read_lines(lines: Iterable[str]) -> dict[str, Any] | None:
    """The appendix out of its lines; None: it cannot be read."""
    found: dict[str, Any] = {"figures": [], "quotes": []}
    for line in lines:
        try:
            each = orjson.loads(line)
        except orjson.JSONDecodeError:
            return None
        if not isinstance(each, dict):
            return None
        if isinstance(each.get("report"), dict):
            found |= {key: value for key, value in each["report"].items() if key not in {"figures", "quotes"}}
        elif "ticket_id" not in each:
            found["figures"].append(each)
        elif not _is_id(each["ticket_id"]):
            return None
        else:
            found["quotes"].append(each)
    return found if _is_id(found.get("dataset_id")) else None


def _is_id(given: Any) -> bool:
    return type(given) is int and 0 < given <= _LARGEST


def digest(body: str) -> str:
    """The digest of a text; line ends and trailing white space are ignored."""
    plain = "\n".join(line.rstrip() for line in body.strip().splitlines())
    return sha256(plain.encode("utf-8", "replace")).hexdigest()


def _line(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value).decode()
