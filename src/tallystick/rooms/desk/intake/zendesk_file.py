"""Zendesk JSON: an export `{"tickets": […]}`, a list, or JSON Lines. One event per open ticket.

What waits is what the customer wrote after our last answer. A ticket that is solved, or whose last word is ours, is
left alone: to answer it again would be a surprise to the customer.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_strict
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.desk.intake.file_event import FileEvent, SkippedItem

MAX_BYTES = 64 * 1024 * 1024
"""Of a file that is one JSON value; one ticket a line may be any number."""
BOM = b"\xef\xbb\xbf"
MAX_LINE = 4 * 1024 * 1024
LINES = frozenset({".jsonl", ".ndjson"})
CLOSED = frozenset({"solved", "closed", "deleted", "spam"})
Comment = Mapping[str, Any]


def zendesk_events(path: Path, _limits: ImportLimits = DEFAULT) -> Iterator[FileEvent | SkippedItem] | Problem:
    """The events of a file; a problem if it is no such JSON."""
    if path.suffix.lower() in LINES:
        return _lines(path)
    if path.stat().st_size > MAX_BYTES:
        return Problem(code="file_too_large", message="Write one ticket a line (.jsonl) instead.")
    whole = parse_strict(path.read_bytes().removeprefix(BOM))
    if isinstance(whole, Rejection):
        return Problem(code="json_malformed", message=f"It is no JSON: {whole.reason}.")
    tickets = whole.get("tickets", [whole]) if isinstance(whole, dict) else whole
    if not isinstance(tickets, list):
        return Problem(code="tickets_missing", message='Give {"tickets": [...]}, a list, or one ticket a line.')
    return (_found(ticket, number) for number, ticket in enumerate(tickets, start=1))


def _lines(path: Path) -> Iterator[FileEvent | SkippedItem]:
    with path.open("rb") as opened:
        number = 0
        while line := opened.readline(MAX_LINE):
            number += 1
            if line.strip():
                yield _found(parse_strict(line.removeprefix(BOM).strip()), number)


def _found(ticket: Any, number: int) -> FileEvent | SkippedItem:
    if not isinstance(ticket, Mapping) or not isinstance(ticket.get("id"), int | str):
        return SkippedItem(place=f"ticket {number}", reason="ticket_malformed")
    place = f"ticket {ticket['id']}"
    if str(ticket.get("status", "")).lower() in CLOSED:
        return SkippedItem(place=place, reason="ticket_closed")
    waiting = _waiting(ticket)
    if not waiting:
        return SkippedItem(place=place, reason="already_answered")
    return FileEvent(place=place, event=_event(ticket, waiting))


def _waiting(ticket: Mapping[str, Any]) -> list[Comment]:
    """What the customer wrote since our last answer."""
    given = ticket.get("comments")
    comments = [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
    public = [one for one in comments if one.get("public") is not False]
    if not public:
        return [{"body": ticket.get("description"), "created_at": ticket.get("created_at")}]
    customer = ticket.get("requester_id", public[0].get("author_id"))
    waiting: list[Comment] = []
    for one in reversed(public):
        if one.get("author_id", customer) != customer:
            break
        waiting.insert(0, one)
    return waiting


def _event(ticket: Mapping[str, Any], waiting: list[Comment]) -> dict[str, Any]:
    texts = [text for one in waiting if (text := _text(one.get("plain_body") or one.get("body")))]
    subject = _text(ticket.get("subject"))
    body = "\n\n".join(texts)
    content = f"{subject}\n\n{body}" if subject and subject not in body else body
    last = waiting[-1]
    number = f"zendesk-{ticket['id']}"
    told = {
        "thread_id": number,
        "event_id": f"{number}-{last.get('id', 'description')}",
        "actor": _actor(ticket),
        "timestamp": _text(last.get("created_at") or ticket.get("created_at")),
    }
    return {"type": "zendesk_ticket", "content": content, **{name: value for name, value in told.items() if value}}


def _actor(ticket: Mapping[str, Any]) -> str:
    requester = ticket.get("requester")
    named = requester.get("email") or requester.get("name") if isinstance(requester, Mapping) else None
    via = ticket.get("requester_id")
    return _text(named) or (f"zendesk-user-{via}" if isinstance(via, int | str) else "")


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
