"""The public kit for a room's `http.py`: request context, forms, responses, refusals, paging and event streams."""

from tallystick.doors.http.ai_routes import answer
from tallystick.doors.http.ai_stream import LEFT, ClientLeft, Emit, EventStream, event, while_wanted
from tallystick.doors.http.answers import CHALLENGE, JSON, json_answer, listing, outcome_answer
from tallystick.doors.http.audit_routes import session_receipts
from tallystick.doors.http.context import ANONYMOUS, HttpContext, open_to
from tallystick.doors.http.forms import ID, NAME, NOTHING, Form
from tallystick.doors.http.gate_calls import HTTP_SESSION
from tallystick.doors.http.measure import endpoint_of
from tallystick.doors.http.pagination import documented, page
from tallystick.doors.http.problems import PROBLEM, RequestRefused, granted
from tallystick.doors.http.translate import error_answer
from tallystick.doors.identity.admission import ROLE_MISSING

__all__ = [
    "ANONYMOUS",
    "CHALLENGE",
    "HTTP_SESSION",
    "ID",
    "JSON",
    "LEFT",
    "NAME",
    "NOTHING",
    "PROBLEM",
    "ROLE_MISSING",
    "ClientLeft",
    "Emit",
    "EventStream",
    "Form",
    "HttpContext",
    "RequestRefused",
    "answer",
    "documented",
    "endpoint_of",
    "error_answer",
    "event",
    "granted",
    "json_answer",
    "listing",
    "open_to",
    "outcome_answer",
    "page",
    "session_receipts",
    "while_wanted",
]
