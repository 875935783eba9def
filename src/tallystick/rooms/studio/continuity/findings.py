"""What a check found, each with two quotes that really stand where they are said to."""

from collections.abc import Iterator
from typing import Any, Literal

from tallystick.gate.quotes import occurrences
from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.studio.continuity.rules import RULES, Rule, Severity

Confidence = Literal["high", "medium", "low"]
_TRIED = 400


@record
class Cited:
    """A quote and where it stands."""

    path: str
    line: int
    end_line: int
    quote: str

    def shown(self) -> dict[str, Any]:
        """As tools give it."""
        return {"path": self.path, "line": self.line, "end_line": self.end_line, "quote": self.quote}


@record
class Finding:
    """One contradiction."""

    rule: str
    severity: Severity
    subject: str
    message: str
    first: Cited
    """What was said first, or what the canon says."""
    second: Cited
    """What contradicts it."""
    from_card: bool
    hard: bool
    confidence: Confidence = "high"
    """`medium` where only a pronoun says who is meant."""
    waived: str | None = None
    """The author's reason for leaving it as it is."""

    def shown(self) -> dict[str, Any]:
        """As tools give it."""
        return {
            "rule_id": self.rule,
            "severity": self.severity,
            "subject": self.subject,
            "message": self.message,
            "confidence": self.confidence,
            "canon": self.first.shown(),
            "scene": self.second.shown(),
            "waived": self.waived is not None,
            "waiver_reason": self.waived,
        }


@record
class LookedAt:
    """How much a check has seen."""

    files: int
    words: int
    facts: int
    names: int

    def shown(self) -> dict[str, int]:
        """As tools give it."""
        return {"files": self.files, "words": self.words, "facts": self.facts, "names": self.names}


@record
class Findings:
    """All that a check found."""

    findings: tuple[Finding, ...]
    looked_at: LookedAt
    not_checked: tuple[str, ...] = ()
    """Rules that need the grammar, where it is not installed."""

    @property
    def open(self) -> tuple[Finding, ...]:
        """Those that nobody has waived."""
        return tuple(finding for finding in self.findings if finding.waived is None)


CITED_SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer"},
        "end_line": {"type": "integer"},
        "quote": {"type": "string"},
    },
    "required": ["path", "line", "end_line", "quote"],
    "additionalProperties": False,
}
FINDING_SCHEMA = {
    "type": "object",
    "properties": {
        "rule_id": {"enum": sorted(RULES)},
        "severity": {"enum": ["error", "warning", "note"]},
        "subject": {"type": "string"},
        "message": {"type": "string"},
        "confidence": {"enum": ["high", "medium", "low"]},
        "canon": CITED_SCHEMA,
        "scene": CITED_SCHEMA,
        "waived": {"type": "boolean"},
        "waiver_reason": {"type": ["string", "null"]},
    },
    "required": [
        "rule_id",
        "severity",
        "subject",
        "message",
        "confidence",
        "canon",
        "scene",
        "waived",
        "waiver_reason",
    ],
    "additionalProperties": False,
}
LOOKED_AT_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in ("files", "words", "facts", "names")},
    "required": ["files", "words", "facts", "names"],
    "additionalProperties": False,
}


NOT_CHECKED_SCHEMA = {"type": "array", "items": {"enum": sorted(RULES)}}


def cite(source: Source, line: int, quote: str) -> Cited | None:
    """A quote with its lines, checked as replies are; what cannot be found is never shown."""
    for wanted in _tries(source, line, quote):
        for at, match in enumerate(occurrences(wanted, source.folded)):
            if match.first_line <= line <= match.last_line:
                return Cited(path=source.path, line=match.first_line, end_line=match.last_line, quote=wanted)
            if match.first_line > line or at >= _TRIED:
                break
    return None


def _tries(source: Source, line: int, quote: str) -> Iterator[str]:
    """The sentence, or else the line it stands on."""
    yield quote
    if 0 < line <= len(source.lines):
        yield " ".join(source.lines[line - 1].split())


def weighed(rule: Rule, *, hard: bool) -> Severity:
    """A soft fact is worth a warning at most."""
    return rule.severity if hard or rule.severity == "note" else "warning"
