"""The studio's HTTP routes: files, conferences, runs, canon, issues and prompts."""

from collections.abc import Iterator

from fastapi import APIRouter

from tallystick.doors.http.kit import HttpContext
from tallystick.rooms.studio.http.canon import canon_routes
from tallystick.rooms.studio.http.conference import conference_routes
from tallystick.rooms.studio.http.issue_memory import issue_memory_routes
from tallystick.rooms.studio.http.issues import issue_link_routes, issue_routes
from tallystick.rooms.studio.http.prompts import prompt_routes
from tallystick.rooms.studio.http.runs import run_routes
from tallystick.rooms.studio.http.workspace import workspace_routes


def routers(context: HttpContext) -> Iterator[APIRouter]:
    """The routers, in the order in which they are matched."""
    yield workspace_routes(context)
    yield conference_routes(context)
    yield run_routes(context)
    yield canon_routes(context)
    yield issue_memory_routes(context)
    yield issue_routes(context)
    yield issue_link_routes(context)
    yield prompt_routes(context)
