"""Issues as JSON, in files, HTTP and command line, and the validation of their fields."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from tallystick.agents.problem import Problem, misfit, text
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.rooms.studio.issues.model import (
    COMMENT_KINDS,
    LINK_KINDS,
    PRIORITIES,
    SAID,
    STATUSES,
    Comment,
    Heading,
    Issue,
    Link,
    NewIssue,
)

MAX_BODY = 2_000_000
"""Characters: the transcript of a round with many agents, and room to spare."""
MAX_COMMENT = 200_000
MAX_TAGS = 32
MAX_LINKS = 5_000
SUMMARY = 240
TAG: Mapping[str, Any] = {"type": "string", "pattern": r"^[\p{L}\p{N}][\p{L}\p{N}._:/-]{0,63}$"}
NAMED = text(128, shortest=1)
LINK: Mapping[str, Any] = {
    "type": "object",
    "properties": {"kind": {"enum": list(LINK_KINDS)}, "id": text(300, shortest=1)},
    "required": ["kind", "id"],
    "additionalProperties": False,
}
FIELDS: dict[str, Mapping[str, Any]] = {
    "title": text(300, shortest=1),
    "body": {"type": "string", "maxLength": MAX_BODY},
    "tags": {"type": "array", "items": TAG, "maxItems": MAX_TAGS},
    "priority": {"enum": list(PRIORITIES)},
    "assigned_to": {"anyOf": [{"type": "null"}, NAMED]},
    "links": {"type": "array", "items": LINK, "maxItems": MAX_LINKS},
}
"""The fields a caller may set."""
_STAMP = {"type": "string", "minLength": 1, "maxLength": 40}
_HEADING = {
    **{name: field for name, field in FIELDS.items() if name not in {"body", "links"}},
    "issue_id": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"},
    "number": {"type": "integer", "minimum": 1},
    "status": {"enum": list(STATUSES)},
    "opened_by": NAMED,
    "created_at": _STAMP,
    "updated_at": _STAMP,
    "frozen": {"type": "boolean"},
    "summary": {"type": "string", "maxLength": SUMMARY + 1},
    "comment_count": {"type": "integer", "minimum": 0},
}
_COMMENT = {
    "type": "object",
    "properties": {
        "comment_id": NAMED,
        "author": NAMED,
        "by": {"enum": list(SAID)},
        "at": _STAMP,
        "body": {"type": "string"},
        "kind": {"enum": list(COMMENT_KINDS)},
    },
    "required": ["comment_id", "author", "by", "at", "body", "kind"],
    "additionalProperties": False,
}
_HEADING_NAMES = tuple(each.name for each in fields(Heading))
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Control characters (except tab and line feed) and surrogates."""


def clean(given: str) -> str:
    """A text with uniform line ends, and a replacement character for invalid ones."""
    return _CONTROL.sub("\ufffd", given.replace("\r\n", "\n").replace("\r", "\n"))


def tag_of(given: str) -> str:
    """A tag in the one form in which tags are compared."""
    return "-".join(given.casefold().split())


def summary_of(body: str) -> str:
    """The beginning of a body, in one line; of text with sections below it, the text alone."""
    # Read more than the length, because marks and white space are removed.
    lines = [line for line in body[: 4 * SUMMARY].splitlines() if line.strip(" #*_>-")]
    begins_with_text = bool(lines) and not lines[0].startswith("#")
    end = next((at for at, line in enumerate(lines) if line.startswith("#") and begins_with_text), len(lines))
    plain = " ".join(line.strip(" #*_>-") for line in lines[:end])
    return plain if len(plain) <= SUMMARY else plain[:SUMMARY].rstrip() + "…"


def problem_of(given: Mapping[str, Any]) -> Problem | None:
    """Why the fields of an issue are refused."""
    return misfit(_given_schema(), dict(given), code="issue_invalid", what="The issue is not valid")


def given_of(new: NewIssue) -> dict[str, Any] | Problem:
    """The fields of a new issue in their one form."""
    plain: dict[str, Any] = {
        "title": clean(" ".join(new.title.split())),
        "body": clean(new.body),
        "tags": tags_of(new.tags),
        "priority": new.priority,
        "assigned_to": new.assigned_to or None,
        "links": links_wire(new.links),
    }
    return problem_of(plain) or plain


def tags_of(tags: Iterable[str]) -> list[str]:
    """Tags in their one form, each once, in the order given."""
    return list(dict.fromkeys(tag_of(tag) for tag in tags))


def links_wire(links: Iterable[Link | str]) -> list[dict[str, str]]:
    """Links as JSON, each once."""
    return [{"kind": link.kind, "id": link.id} for link in dict.fromkeys(Link.of(each) for each in links)]


def heading_wire(heading: Heading) -> dict[str, Any]:
    """A heading's JSON form."""
    wire = {name: getattr(heading, name) for name in _HEADING_NAMES}
    return wire | {"tags": list(heading.tags)}


def heading_from(value: Any) -> Heading | Problem:
    """A heading from its JSON form."""
    problem = misfit(_heading_schema(), value, code="issues_damaged", what="An issue cannot be read")
    return problem or Heading(**{**value, "tags": tuple(value["tags"])})


def texts_wire(issue: Issue) -> dict[str, Any]:
    """The content of an issue's own file: texts and links."""
    return {"issue_id": issue.issue_id, **_said(issue)}


def texts_from(value: Any) -> dict[str, Any] | Problem:
    """Body, links and comments from an issue's own file."""
    problem = misfit(_texts_schema(), value, code="issues_damaged", what="An issue cannot be read")
    return problem or {
        "body": value["body"],
        "links": tuple(Link(**each) for each in value["links"]),
        "comments": tuple(Comment(**each) for each in value["comments"]),
    }


def comment_wire(comment: Comment) -> dict[str, Any]:
    """A comment's JSON form."""
    return {each.name: getattr(comment, each.name) for each in fields(Comment)}


def issue_wire(issue: Issue) -> dict[str, Any]:
    """A whole issue as JSON."""
    return heading_wire(issue) | _said(issue)


def _said(issue: Issue) -> dict[str, Any]:
    comments = [comment_wire(each) for each in issue.comments]
    return {"body": issue.body, "links": links_wire(issue.links), "comments": comments}


@cache
def _given_schema() -> CompiledSchema:
    return compile_schema({"type": "object", "properties": FIELDS, "additionalProperties": False}, closed=True)


@cache
def _heading_schema() -> CompiledSchema:
    schema = {"type": "object", "properties": _HEADING, "required": list(_HEADING_NAMES), "additionalProperties": False}
    return compile_schema(schema, closed=True)


@cache
def _texts_schema() -> CompiledSchema:
    properties = {
        "version": {"type": "integer"},
        "issue_id": NAMED,
        "body": {"type": "string"},
        "links": FIELDS["links"],
        "comments": {"type": "array", "items": _COMMENT},
    }
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return compile_schema(schema, closed=True)
