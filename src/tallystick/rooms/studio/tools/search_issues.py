"""`search_issues`: finds issues by public fields and by what one agent remembers of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.errors import ConfigError, ToolError
from tallystick.gate.execute.call import current_call
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.records import record
from tallystick.rooms.studio.issues.memory_file import View
from tallystick.rooms.studio.issues.model import PRIORITIES, STATUSES, Heading, IssueFilter
from tallystick.rooms.studio.issues.tracker import IssueTracker
from tallystick.rooms.studio.issues.wire import tags_of


@record
class PersonalFilter:
    """A filter by one agent's own tags and interest."""

    agent_id: str
    views: Mapping[str, View]
    tags: tuple[str, ...] = ()
    """All of them must be there."""
    without: tuple[str, ...] = ()
    """None of them may be there."""
    min_interest: int | None = None

    def fits(self, issue_id: str) -> bool:
        """Whether an issue is looked for; what the agent does not remember has no tags of its own and no level."""
        view = self.views.get(issue_id)
        tags = frozenset[str]() if view is None else frozenset(view.personal_tags)
        interest = 0 if view is None else view.interest
        return (
            tags.issuperset(self.tags)
            and tags.isdisjoint(self.without)
            and (self.min_interest is None or interest >= self.min_interest)
        )


_URGENCY = {"urgent": 0, "high": 1, "normal": 2, "low": 3}


def search(headings: Sequence[Heading], wanted: IssueFilter, personal: PersonalFilter | None) -> list[Heading]:
    """The issues that fit: the most urgent first, then what the agent cares for most, then the newest.

    Args:
        headings: All there are, the newest first.
        wanted: What all see.
        personal: What one agent makes of them; None: nobody is asked.
    """
    found = [each for each in headings if wanted.fits(each) and (personal is None or personal.fits(each.issue_id))]
    views = {} if personal is None else personal.views
    return sorted(found, key=lambda each: (_URGENCY[each.priority], -_interest(views.get(each.issue_id))))


def _interest(view: View | None) -> int:
    return 0 if view is None else view.interest


NAME = "search_issues"
MOST = 50
"""Issues in one answer."""
_TAGS = {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 64}, "maxItems": 32}
_INPUT = {
    "type": "object",
    "properties": {
        "tags": {**_TAGS, "description": "All of these tags."},
        "assignedTo": {"type": "string", "minLength": 1, "maxLength": 128, "description": "Its assignee."},
        "status": {"enum": [*STATUSES, "all"], "default": "all"},
        "priority": {"enum": list(PRIORITIES)},
        "personalTags": {**_TAGS, "description": "All of these tags of the agent's own."},
        "personalAgent": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "description": "Whose own tags count; default: the caller.",
        },
        "excludePersonalTags": {**_TAGS, "description": "None of these tags of the agent's own."},
        "minInterestLevel": {
            "type": "integer",
            "minimum": 1,
            "maximum": 5,
            "description": "The agent's interest, at least.",
        },
    },
    "additionalProperties": False,
}
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_ISSUE = {
    "type": "object",
    "properties": {
        "issue_id": _TEXT,
        "number": {"type": "integer"},
        "title": _TEXT,
        "status": _TEXT,
        "priority": _TEXT,
        "tags": _TEXTS,
        "assignedTo": {"type": ["string", "null"]},
        "frozen": {"type": "boolean"},
        "comments": {"type": "integer"},
        "updated_at": _TEXT,
        "interest": {"type": ["integer", "null"]},
        "personalTags": _TEXTS,
        "deferred": {"type": "boolean"},
        "summary": _TEXT,
    },
    "required": ["issue_id", "number", "title", "status", "priority", "tags", "assignedTo", "summary"],
    "additionalProperties": False,
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "searched": {"type": "integer"},
        "found": {"type": "integer"},
        "personalAgent": {"type": ["string", "null"]},
        "issues": {"type": "array", "items": _ISSUE},
    },
    "required": ["searched", "found", "personalAgent", "issues"],
    "additionalProperties": False,
}


_CARD = Card(
    name=NAME,
    roles=EVERY_ROLE,
    # Plain words of the trade only: whoever chooses tools by their words must not think of issues at every question.
    description="Search the issue tracker: issues by tag, status, priority, assignee, or an agent's personal tags.",
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
)


def search_issues(tracker: IssueTracker) -> Tool:
    """The tool over one workspace's issues."""

    def handler(**asked: Any) -> dict[str, Any]:
        status = asked.get("status")
        wanted = IssueFilter(
            status=None if status == "all" else status,
            tags=tuple(tags_of(asked.get("tags") or ())),
            priority=asked.get("priority"),
            assigned_to=asked.get("assignedTo"),
        )
        try:
            personal = _personal(tracker, asked)
            headings = tracker.issues.matching()
        except ConfigError as damaged:
            raise ToolError(str(damaged), hint="Repair the file, or move it away.") from None
        found = search(headings, wanted, personal)
        views = {} if personal is None else personal.views
        return {
            "searched": len(headings),
            "found": len(found),
            "personalAgent": None if personal is None else personal.agent_id,
            "issues": [_shown(each, views.get(each.issue_id)) for each in found[:MOST]],
        }

    return Tool(card=_CARD, handler=handler)


def _personal(tracker: IssueTracker, asked: Mapping[str, Any]) -> PersonalFilter | None:
    needed = any(asked.get(name) is not None for name in ("personalTags", "excludePersonalTags", "minInterestLevel"))
    agent = _agent(asked.get("personalAgent"), needed=needed)
    if agent is None:
        return None
    return PersonalFilter(
        agent_id=agent,
        views=tracker.memory.views(agent),
        tags=tuple(tags_of(asked.get("personalTags") or ())),
        without=tuple(tags_of(asked.get("excludePersonalTags") or ())),
        min_interest=asked.get("minInterestLevel"),
    )


def _agent(named: str | None, *, needed: bool) -> str | None:
    """Whose tags and interest count."""
    call = current_call()
    agent = named or (None if call is None else call.session.agent_id)
    if agent is None and needed:
        raise ToolError("Whose own tags and interest are meant?", status=404, hint="Give personalAgent.")
    return agent


def _shown(heading: Heading, view: View | None) -> dict[str, Any]:
    return {
        "issue_id": heading.issue_id,
        "number": heading.number,
        "title": heading.title,
        "status": heading.status,
        "priority": heading.priority,
        "tags": list(heading.tags),
        "assignedTo": heading.assigned_to,
        "frozen": heading.frozen,
        "comments": heading.comment_count,
        "updated_at": heading.updated_at,
        "interest": None if view is None else view.interest,
        "personalTags": [] if view is None else list(view.personal_tags),
        "deferred": view is not None and view.deferred,
        # Last, so that a result that is cut keeps all that says what it is.
        "summary": heading.summary,
    }
