"""`search_issues`: the issues that fit, with what they are about and what an agent makes of them."""

from typing import Any

from tallystick.errors import ConfigError, ToolError
from tallystick.gate.execute.call import current_call
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.issues.joined import Matters
from tallystick.rooms.studio.issues.nouns import PRIORITIES, STATUSES, Heading, Wanted
from tallystick.rooms.studio.issues.recollection import View
from tallystick.rooms.studio.issues.searching import Personal, search
from tallystick.rooms.studio.issues.wire import tags_of

NAME = "search_issues"
MOST = 50
"""Issues of one answer; who finds more should narrow the search."""
_TAGS = {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 64}, "maxItems": 32}
_INPUT = {
    "type": "object",
    "properties": {
        "tags": {**_TAGS, "description": "Only issues that have all of these tags."},
        "assignedTo": {"type": "string", "minLength": 1, "maxLength": 128, "description": "Only issues of this agent."},
        "status": {"enum": [*STATUSES, "all"], "default": "all", "description": "open, closed or all."},
        "priority": {"enum": list(PRIORITIES), "description": "Only issues of this priority."},
        "personalTags": {**_TAGS, "description": "Only issues to which the agent gave all of these tags of its own."},
        "personalAgent": {
            "type": "string", "minLength": 1, "maxLength": 64,
            "description": "Whose own tags and interest count; the calling agent's if not given.",
        },
        "excludePersonalTags": {**_TAGS, "description": "No issues to which the agent gave one of these tags."},
        "minInterestLevel": {
            "type": "integer", "minimum": 1, "maximum": 5, "description": "Only issues the agent cares for so much.",
        },
    },
    "additionalProperties": False,
}  # fmt: skip
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_ISSUE = {
    "type": "object",
    "properties": {
        "issue_id": _TEXT, "number": {"type": "integer"}, "title": _TEXT, "status": _TEXT, "priority": _TEXT,
        "tags": _TEXTS, "assignedTo": {"type": ["string", "null"]}, "frozen": {"type": "boolean"},
        "comments": {"type": "integer"}, "updated_at": _TEXT, "interest": {"type": ["integer", "null"]},
        "personalTags": _TEXTS, "deferred": {"type": "boolean"}, "summary": _TEXT,
    },
    "required": ["issue_id", "number", "title", "status", "priority", "tags", "assignedTo", "summary"],
    "additionalProperties": False,
}  # fmt: skip
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


def search_issues(matters: Matters) -> Tool:
    """The tool over one workspace's issues."""

    def handler(
        *,
        tags: list[str] | None = None,
        assignedTo: str | None = None,  # noqa: N803 - as the contract spells it
        status: str = "all",
        priority: Any = None,
        personalTags: list[str] | None = None,  # noqa: N803
        personalAgent: str | None = None,  # noqa: N803
        excludePersonalTags: list[str] | None = None,  # noqa: N803
        minInterestLevel: int | None = None,  # noqa: N803
    ) -> dict[str, Any]:
        wanted = Wanted(
            status="open" if status == "open" else "closed" if status == "closed" else None,
            tags=tuple(tags_of(tags or ())), priority=priority, assigned_to=assignedTo,
        )  # fmt: skip
        needed = personalTags is not None or excludePersonalTags is not None or minInterestLevel is not None
        agent = _agent(personalAgent, needed=needed)
        try:
            personal = None if agent is None else Personal(
                agent_id=agent, views=matters.memory.views(agent), tags=tuple(tags_of(personalTags or ())),
                without=tuple(tags_of(excludePersonalTags or ())), min_interest=minInterestLevel,
            )  # fmt: skip
            headings = matters.issues.matching()
        except ConfigError as damaged:
            raise ToolError(str(damaged), hint="Repair the file, or move it away.") from None
        found = search(headings, wanted, personal)
        views = {} if personal is None else personal.views
        return {
            "searched": len(headings),
            "found": len(found),
            "personalAgent": agent,
            "issues": [_shown(each, views.get(each.issue_id)) for each in found[:MOST]],
        }

    return Tool(card=_CARD, handler=handler)


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
