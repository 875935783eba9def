"""Insight's HTTP routes."""

from collections.abc import Iterator

from fastapi import APIRouter

from tallystick.doors.http.kit import HttpContext
from tallystick.rooms.insight.http.datasets import insight_routes
from tallystick.rooms.insight.http.queries import insight_reading_routes


def routers(context: HttpContext) -> Iterator[APIRouter]:
    """The routers, in the order in which they are matched."""
    yield insight_routes(context)
    yield insight_reading_routes(context)
