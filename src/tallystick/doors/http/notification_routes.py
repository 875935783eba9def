"""`/api/notifications`: notifications for people; with `Accept: text/event-stream`, as a live stream."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.ai_stream import Emit, EventStream, event
from tallystick.doors.http.answers import json_answer, listing
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.forms import NOTHING
from tallystick.doors.http.pagination import documented, page
from tallystick.doors.http.problems import RequestRefused
from tallystick.doors.http.translate import error_answer
from tallystick.gate.codes import Category
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.storage.notifications import MOST, Notification, Notifications

EVENTS = "text/event-stream"
LOOK_S = 0.5
"""Polling interval in seconds: other processes add notifications too, and polling is cheap."""
LOOKS = 1200
"""Polls of one stream; then it ends and the browser reconnects, so that a stopping server need not wait for streams."""

Pause = Callable[[float], Awaitable[None]]


def notification_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/notifications", tags=["notifications"])
    notifications = Notifications(context.gate.workspace)
    _looking(router, notifications)
    _reading(router, context, notifications)
    return router


def _looking(router: APIRouter, notifications: Notifications) -> None:
    @router.get(
        "",
        openapi_extra=documented(unread="1 or true: only those that were not read; 0 or false: all."),
        summary="Notifications, the newest first; as events when text/event-stream is asked for",
    )
    @open_to(AUDIT_ROLES)
    async def every(request: Request) -> Response:
        # Restricted to audit roles, because notifications name calls and sessions of all callers.
        if EVENTS in request.headers.get("accept", ""):
            return EventStream(
                lambda emit: follow(notifications, emit), translate=error_answer, late=lambda said: event("error", said)
            )
        limit, offset = page(request)
        unread = _unread(request)
        found = await run_in_threadpool(notifications.list, unread=unread, limit=limit, offset=offset)
        total = await run_in_threadpool(notifications.count, unread=unread)
        return listing([each.as_dict() for each in found], total=total, limit=limit, offset=offset)


def _reading(router: APIRouter, context: HttpContext, notifications: Notifications) -> None:
    @router.post("/read-all", openapi_extra=NOTHING.documented, summary="Say that all were read (start-up token)")
    @open_to(AUDIT_ROLES)
    async def read_all(request: Request) -> Response:
        context.require_person(request)
        NOTHING.demand(await request.body())
        return json_answer({"read": await run_in_threadpool(notifications.read_all)})

    @router.post(
        "/{notification_id}/read", openapi_extra=NOTHING.documented, summary="Say that one was read (start-up token)"
    )
    @open_to(AUDIT_ROLES)
    async def read(notification_id: str, request: Request) -> Response:
        context.require_person(request)
        NOTHING.demand(await request.body())
        found = await run_in_threadpool(notifications.read, notification_id)
        if found is None:
            raise RequestRefused(404, Category.DOWNSTREAM_ERROR, "no such notification", hint="GET /api/notifications")
        return json_answer(found.as_dict())


async def follow(notifications: Notifications, emit: Emit, *, pause: Pause = asyncio.sleep, looks: int = LOOKS) -> None:
    """Emit the number of unread notifications and each new notification.

    Args:
        notifications: The workspace's notifications.
        emit: Sends an event.
        pause: Waits between two polls.
        looks: The number of polls.
    """
    seen: object = ()
    known: frozenset[tuple[str, str]] | None = None
    for _ in range(looks):
        stamp = notifications.stamp()
        if stamp != seen:
            seen = stamp
            listed = await asyncio.to_thread(notifications.list, limit=MOST)
            # Do not emit notifications from before the stream started.
            for each in () if known is None else _fresh(listed, known):
                emit(event("notification", each.as_dict()))
            known = frozenset(map(_news, listed))
            emit(event("unread", {"count": sum(not each.read for each in listed)}))
        await pause(LOOK_S)


def _unread(request: Request) -> bool:
    given = request.query_params.get("unread", "0")
    if given not in _SWITCH:
        raise RequestRefused(400, Category.VALIDATION_ERROR, f"unread is one of {', '.join(_SWITCH)}")
    return _SWITCH[given]


def _fresh(listed: Sequence[Notification], known: frozenset[tuple[str, str]]) -> list[Notification]:
    """Return the unread notifications that are new, oldest first."""
    return [each for each in reversed(listed) if _news(each) not in known and not each.read]


def _news(one: Notification) -> tuple[str, str]:
    return one.id, one.created


_SWITCH = {"1": True, "true": True, "0": False, "false": False}
