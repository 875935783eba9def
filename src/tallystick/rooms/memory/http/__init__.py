"""Memory's HTTP routes: `/api/memory`."""

from collections.abc import Iterator

from fastapi import APIRouter

from tallystick.doors.http.kit import HttpContext
from tallystick.rooms.memory.http.proposals import memory_routes
from tallystick.rooms.memory.http.queries import memory_query_routes
from tallystick.rooms.memory.http.texts import memory_text_routes


def routers(context: HttpContext) -> Iterator[APIRouter]:
    """The routers, in the order in which they are matched."""
    yield memory_routes(context)
    yield memory_query_routes(context)
    yield memory_text_routes(context)
