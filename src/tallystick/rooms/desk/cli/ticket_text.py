"""A ticket as text for the terminal: line breaks are kept, and control characters are shown as escapes."""

from collections.abc import Callable, Mapping
from typing import Any

from tallystick.doors.cli.kit import Screen, context_label

Write = Callable[[str], None]


def say_text(write: Write, head: str, text: str) -> None:
    """A text under its head, line by line; what does not show stays visible as an escape.

    Args:
        write: Takes one line: `Screen.line` or `Screen.note`.
        head: What it is.
        text: As it came. Only line feeds break lines, so a lone carriage return overwrites nothing.
    """
    write(f"{head}:")
    for line in text.replace("\r\n", "\n").rstrip("\n").split("\n"):
        write(f"  {line}".rstrip(" "))


def say_ticket(screen: Screen, found: Mapping[str, Any]) -> None:
    """Print one ticket: status, message, verdict, evidence and draft."""
    from tallystick.rooms.desk.derivation import draft_of

    event, beside = _object(found.get("event")), _object(found.get("_desk"))
    outputs = _object(_object(found.get("metadata")).get("final_outputs"))
    screen.line(f"{found['id']}  {beside.get('kind') or 'unknown kind'}  {found.get('status')}")
    _say_facts(screen, event, beside)
    say_text(screen.line, "customer", _words(event.get("content")) or "(no words)")
    triage = _object(outputs.get("triage"))
    if triage:
        screen.line(f"triage: {_flat(triage.get('decision'))}  {_flat(triage.get('short_reason'))}".rstrip())
    verdict = _object(beside.get("verdict"))
    if verdict:
        screen.line(f"verdict: {verdict.get('status')}  {verdict.get('rule_id')}: {_flat(verdict.get('reason'))}")
    _say_evidence(screen, _object(outputs.get("tool_context")).get("evidence"))
    draft = draft_of(outputs)
    if draft:
        say_text(screen.line, "draft", draft)


def say_beside(screen: Screen, review: Mapping[str, Any]) -> None:
    """Print what a person is given beside a ticket that waits."""
    if review.get("no_draft"):
        screen.line(f"no draft: {review['no_draft']}")
    if review.get("question"):
        screen.line(f"ask the customer: {_flat(review['question'])}")
    for one in review.get("conversation") or ():
        say_text(screen.line, f"earlier, {_flat(one['by'])}", _words(one["text"]))
    for one in review.get("similar") or ():
        screen.line(f"similar: {one['ticket_id']}  {_flat(one['message'])[:160]}")
        say_text(screen.line, f"answered by {_flat(one['by'])}", _words(one["answer"]))


def _say_facts(screen: Screen, event: Mapping[str, Any], beside: Mapping[str, Any]) -> None:
    for name in ("actor", "thread_id", "timestamp"):
        if event.get(name):
            screen.line(f"{name.removesuffix('_id')}: {_flat(event[name])}")
    if beside.get("derived"):
        screen.line(f"led to: {', '.join(map(str, beside['derived']))}")
    for warning in beside.get("warnings") or ():
        screen.line(f"warning: {warning}")


def _say_evidence(screen: Screen, evidence: Any) -> None:
    """Anybody may have posted a ticket with outputs, so nothing here is taken to be of its type."""
    pieces = [one for one in evidence if isinstance(one, Mapping)] if isinstance(evidence, list) else []
    for one in pieces:
        place = f", {_flat(one['place'])}" if one.get("place") else ""
        head = f"evidence [{_flat(one.get('evidence_id'))}] {_flat(one.get('source'))}{place}"
        label = context_label(one)
        say_text(screen.line, f"{head} ({label})" if label else head, _words(one.get("snippet")))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _words(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _flat(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())
