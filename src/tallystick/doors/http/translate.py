"""Translate every error to a problem payload; FastAPI's 422 for an invalid body becomes a 400.

RequestRefused                  the status and category that a route sets
RequestValidationError   400 validation_error
HTTPException            404, 405 and the like, from the router; a browser gets a 404 page for a missing page
TallyError               503 tool_unavailable: the workspace, its ledger or its database cannot be used
ImportError              503 tool_unavailable if an optional part is not installed
anything else            500 downstream_error, with the stack trace in the log
"""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from tallystick.doors.http.answers import problem_answer
from tallystick.doors.http.asgi import Scope
from tallystick.doors.http.measure import OTHER, endpoint_of
from tallystick.doors.http.problems import RequestRefused
from tallystick.errors import PathRefused, TallyError
from tallystick.extras import part_of
from tallystick.gate.codes import Category

_ABSENT = frozenset({404, 409})
"""Statuses about the requested resource, not about the request."""

NO_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>No such page · Tallystick</title>
<meta name="viewport" content="width=device-width"><main><h1>There is no such page</h1>
<p>It may have been moved, or its address was mistyped. <a href="/">To the start</a></p></main></html>
"""


def translate_errors(app: FastAPI) -> None:
    """Register the exception handlers with an application."""

    async def translated(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == HTTPStatus.NOT_FOUND and _is_person(request):
            return Response(NO_PAGE, HTTPStatus.NOT_FOUND, media_type="text/html")
        return error_answer(error, request.scope)

    for kind in (RequestRefused, RequestValidationError, HTTPException, TallyError, Exception):
        app.add_exception_handler(kind, translated)


def _is_person(request: Request) -> bool:
    """Return whether a browser requests a page: a GET that accepts HTML, outside the API paths."""
    wants_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    return wants_page and not request.url.path.startswith(("/api/", "/v1/"))


def error_answer(error: Exception, scope: Scope) -> Response:
    """Build the response to an error, without a stack trace or request data."""
    named = endpoint_of(scope)
    endpoint = None if named == OTHER else named
    if isinstance(error, RequestRefused):
        return problem_answer(str(error.category), str(error), error.status, endpoint=endpoint, hint=error.hint)
    if isinstance(error, RequestValidationError):
        # The error's own text quotes the request.
        message = "the request does not fit the route"
        return problem_answer(Category.VALIDATION_ERROR, message, 400, endpoint=endpoint, hint="See /api/docs.")
    if isinstance(error, HTTPException):
        return _of_the_router(error, endpoint)
    if isinstance(error, PathRefused):
        return problem_answer(Category.VALIDATION_ERROR, str(error), 400, endpoint=endpoint, hint=error.code)
    if isinstance(error, ImportError):
        error = part_of(error) or error
    if isinstance(error, TallyError):
        return problem_answer(Category.TOOL_UNAVAILABLE, str(error), 503, endpoint=endpoint, hint=error.code)
    message, hint = "something went wrong in here", "The server's log says what; `tally doctor` looks for the cause."
    return problem_answer(Category.DOWNSTREAM_ERROR, message, 500, endpoint=endpoint, hint=hint)


def _of_the_router(error: HTTPException, endpoint: str | None) -> Response:
    category = Category.DOWNSTREAM_ERROR if error.status_code in _ABSENT else Category.VALIDATION_ERROR
    answer = problem_answer(category, str(error.detail), error.status_code, endpoint=endpoint, hint="See /api/docs.")
    headers: Mapping[str, str] = error.headers or {}
    answer.headers.update(headers)
    return answer
