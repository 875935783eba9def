"""The desk's HTTP routes: `/events`, `/v1/triage`, `/v1/tickets`, `/v1/reviews` and `/v1/desk`."""

from collections.abc import Iterator

from fastapi import APIRouter

from tallystick.doors.http.kit import HttpContext
from tallystick.rooms.desk.http.intake import desk_intake_routes
from tallystick.rooms.desk.http.review import desk_review_routes, desk_work_routes
from tallystick.rooms.desk.http.tickets import desk_metrics_routes, desk_tickets_routes


def routers(context: HttpContext) -> Iterator[APIRouter]:
    """The routers, in the order in which they are matched."""
    yield desk_intake_routes(context)
    yield desk_tickets_routes(context)
    yield desk_review_routes(context)
    yield desk_metrics_routes(context)
    yield desk_work_routes(context)
