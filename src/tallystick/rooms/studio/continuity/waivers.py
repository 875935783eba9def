"""What the author leaves as it is, with a reason: `waive:` in a file's front matter, or the book's list of waivers."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tallystick.errors import ConfigError
from tallystick.records import record
from tallystick.rooms.studio.book.model import Book, CanonCard, Complaint, Scene
from tallystick.rooms.studio.continuity.findings import Finding
from tallystick.rooms.studio.continuity.rules import RULES
from tallystick.storage.json_file import JsonFile

FILE = ".control-room/canon/waivers.json"


@record
class Waiver:
    """One thing that is meant as it stands."""

    rule: str
    reason: str
    path: str | None
    """The file it is for; None: the whole book."""
    subject: str | None = None
    """Only for this person or place."""

    def covers(self, finding: Finding) -> bool:
        """Whether it is for this finding."""
        if self.rule not in {finding.rule, "*"}:
            return False
        if self.path is not None and self.path not in {finding.first.path, finding.second.path}:
            return False
        return self.subject is None or self.subject.casefold() in finding.subject.casefold()


def waivers_of(book: Book) -> tuple[list[Waiver], list[Complaint]]:
    """The waivers in the front matter of scenes and cards, and what of them cannot be used."""
    waivers: list[Waiver] = []
    complaints: list[Complaint] = []
    files: list[Scene | CanonCard] = [*book.scenes, *book.cards]
    for file in files:
        for rule, reason in _entries(file.front.get("waive")):
            wrong = _wrong(rule, reason)
            if wrong is None:
                waivers.append(Waiver(rule=rule, reason=reason, path=file.path))
            else:
                complaints.append(Complaint(code="waiver_invalid", path=file.path, line=1, message=wrong))
    return waivers, complaints


def stored_waivers(workspace: Path) -> list[Waiver]:
    """The book's own list; empty where there is none.

    Raises:
        ConfigError: The file is damaged; the message says how.
    """
    file = JsonFile(workspace / FILE, code="waivers_damaged")
    held = file.read() or {}
    listed = held.get("waivers", [])
    if not isinstance(listed, list):
        raise file.damaged("'waivers' is not a list")
    return [_stored(file, item) for item in listed]


def waived(findings: Iterable[Finding], waivers: Iterable[Waiver]) -> tuple[Finding, ...]:
    """The findings, each with the reason it is waived for."""
    known = list(waivers)
    return tuple(
        replace(finding, waived=next((waiver.reason for waiver in known if waiver.covers(finding)), None))
        for finding in findings
    )


def _entries(value: Any) -> Iterable[tuple[str, str]]:
    """`[rule: reason, …]`, `{rule: reason}` or lines `rule: reason`."""
    if isinstance(value, Mapping):
        return [(str(rule).strip(), str(reason or "").strip()) for rule, reason in value.items()]
    if isinstance(value, list):
        return [entry for item in value for entry in _entries(item)]
    if isinstance(value, str):
        rule, _, reason = value.partition(":")
        return [(rule.strip(), reason.strip())]
    return []


def _wrong(rule: str, reason: str) -> str | None:
    if rule != "*" and rule not in RULES:
        return f"There is no rule '{rule:.60}' to waive. The rules are: {', '.join(sorted(RULES))}."
    if not reason:
        return f"Waiving '{rule:.60}' needs a reason: write `waive: [{rule:.60}: why it is meant]`."
    return None


def _stored(file: JsonFile, item: Any) -> Waiver:
    if not isinstance(item, dict):
        raise file.damaged("a waiver is not an object")
    rule, reason = str(item.get("rule", "")), str(item.get("reason", "")).strip()
    wrong = _wrong(rule, reason)
    if wrong is not None:
        raise file.damaged(wrong)
    path, subject = item.get("path"), item.get("subject")
    return Waiver(
        rule=rule,
        reason=reason,
        path=None if path is None else str(path),
        subject=None if subject is None else str(subject),
    )


__all__ = ["FILE", "ConfigError", "Waiver", "stored_waivers", "waived", "waivers_of"]
