"""Insight's tools at their own paths; further reads are in `insight_reading_routes`."""

import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from tallystick.doors.http.kit import HttpContext, RequestRefused, open_to
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import Category
from tallystick.rooms.insight.http.calls import (
    ROLES,
    WHOLE,
    answers_of,
    body_args,
    body_of,
    called,
    is_number,
    may_call,
    query_args,
    query_of,
)
from tallystick.rooms.insight.ingest.source_file import put_upload, remove_upload
from tallystick.rooms.insight.ingest.table import UnusableFile

CHUNK = 1024 * 1024
MAX_FIELDS = 8
_WORD = {"type": "string", "minLength": 1}
_LIST = {"type": "array", "items": {"type": "string"}}
_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary", "description": "CSV, XLSX, JSON or JSON Lines."},
                        "dataset_name": {"type": "string", "description": "The file's own name if not given."},
                    },
                }
            }
        },
    }
}
SEARCH_KINDS = {
    "dataset_id": "number",
    "q": "text",
    "k": "number",
    "department": "list",
    "product": "list",
    "rerank": "truth",
    "rerank_backend": "text",
}
_HISTORY_KINDS = {
    "limit": "number",
    "offset": "number",
    "dataset_id": "number",
    "prompt_version": "text",
    "date_from": "text",
    "date_to": "text",
}
SEARCHED: dict[str, Any] = {
    "dataset_id": WHOLE,
    "q": _WORD,
    "k": WHOLE,
    "department": _LIST,
    "product": _LIST,
    "rerank": {"type": "boolean"},
    "rerank_backend": {"type": "string", "enum": ["builtin", "cross-encoder"]},
}


def insight_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(tags=["insight"])
    _ingest(router, context)
    _bodies(router, context)
    _queries(router, context)
    _prompts(router, context)
    return router


def _ingest(router: APIRouter, context: HttpContext) -> None:
    tool = "tool.ingest.upload"

    @router.post(
        "/ingest/upload",
        openapi_extra=_UPLOAD,
        responses=answers_of(context.gate, tool),
        summary="Take a file of tickets",
    )
    @open_to(ROLES[tool], refuses_itself=True)
    async def upload(request: Request) -> Response:
        if not may_call(context, request, tool):
            # Before anything is read: nobody fills the disk without a token and a role.
            return await called(context, request, tool, {})
        form = await _form(request)
        try:
            file, name = _parts(form)
            path = await run_in_threadpool(_put, context, file)
        finally:
            await form.close()
        try:
            args = {"file_path": path, "dataset_name": name}
            return await called(context, request, tool, args)
        finally:
            await run_in_threadpool(remove_upload, context.gate.workspace, path)


def _bodies(router: APIRouter, context: HttpContext) -> None:
    for path, tool, summary in (
        ("/embed/run", "tool.embed.run", "Make vectors of a dataset's tickets"),
        ("/cluster/run", "tool.cluster.run", "Group a dataset's tickets"),
        ("/analysis/run", "tool.analysis.run", "Ask a question of a dataset"),
        ("/analysis/query", "tool.analysis.query", "Run a typed query over a dataset"),
        ("/prompts", "tool.prompts.save", "Keep a version of the analyst's instructions"),
    ):
        _body_route(router, context, path, tool, summary)


def _body_route(router: APIRouter, context: HttpContext, path: str, tool: str, summary: str) -> None:
    @router.post(
        path,
        openapi_extra=body_of(context.gate, tool),
        responses=answers_of(context.gate, tool),
        summary=summary,
        name=tool,
    )
    @open_to(ROLES[tool], refuses_itself=True)
    async def run(request: Request) -> Response:
        return await called(context, request, tool, await body_args(request))


def _queries(router: APIRouter, context: HttpContext) -> None:
    @router.get(
        "/search/nn",
        openapi_extra=query_of(("dataset_id", "q"), **SEARCHED),
        responses=answers_of(context.gate, "tool.search.nn"),
        summary="The tickets nearest to a text",
    )
    @open_to(ROLES["tool.search.nn"], refuses_itself=True)
    async def search(request: Request) -> Response:
        asked = query_args(request, SEARCH_KINDS)
        if not isinstance(asked, Rejection):
            asked = search_args(asked)
        return await called(context, request, "tool.search.nn", asked)

    @router.get("/reports/{dataset_id}", responses=answers_of(context.gate, "tool.reports.get"), summary="The report")
    @open_to(ROLES["tool.reports.get"], refuses_itself=True)
    async def report(dataset_id: str, request: Request) -> Response:
        given: Any = int(dataset_id) if is_number(dataset_id) else dataset_id
        return await called(context, request, "tool.reports.get", {"dataset_id": given})

    @router.get(
        "/history/analyses",
        openapi_extra=_HISTORY,
        responses=answers_of(context.gate, "tool.history.list"),
        summary="What was asked, the newest first",
    )
    @open_to(ROLES["tool.history.list"], refuses_itself=True)
    async def history(request: Request) -> Response:
        asked = query_args(request, _HISTORY_KINDS)
        if not isinstance(asked, Rejection):
            asked = {"limit": 50, "offset": 0, **asked}
        return await called(context, request, "tool.history.list", asked)


def _prompts(router: APIRouter, context: HttpContext) -> None:
    @router.get("/prompts", responses=answers_of(context.gate, "tool.prompts.list"), summary="The versions there are")
    @open_to(ROLES["tool.prompts.list"], refuses_itself=True)
    async def versions(request: Request) -> Response:
        return await called(context, request, "tool.prompts.list", {})

    @router.get(
        "/prompts/{version:path}",
        responses=answers_of(context.gate, "tool.prompts.load"),
        summary="The newest of a version",
    )
    @open_to(ROLES["tool.prompts.load"], refuses_itself=True)
    async def load(version: str, request: Request) -> Response:
        return await called(context, request, "tool.prompts.load", {"version": version})


def search_args(asked: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a search as the tool names them."""
    filters = {name: asked.pop(name) for name in ("department", "product") if name in asked}
    if "q" in asked:
        asked["query_text"] = asked.pop("q")
    return asked | ({"filters": filters} if filters else {})


async def _form(request: Request) -> FormData:
    """The form that the body holds.

    Raises:
        RequestRefused: 400, it holds none.
    """
    try:
        return await request.form(max_files=1, max_fields=MAX_FIELDS)
    except HTTPException as error:
        raise RequestRefused(
            400, Category.VALIDATION_ERROR, "the form cannot be read", hint=str(error.detail)
        ) from None


def _parts(form: FormData) -> tuple[UploadFile, str]:
    """The file, and the name that the dataset is to have.

    Raises:
        RequestRefused: 400, there is no file, or something else besides.
    """
    file, name = form.get("file"), form.get("dataset_name")
    if not isinstance(file, UploadFile) or isinstance(name, UploadFile) or set(form) - {"file", "dataset_name"}:
        hint = "Send multipart/form-data with one file in the field 'file', and 'dataset_name' if you like."
        raise RequestRefused(400, Category.VALIDATION_ERROR, "there is no file in the form", hint=hint)
    return file, name or file.filename or "upload"


def _put(context: HttpContext, file: UploadFile) -> str:
    limit = context.gate.settings.server.max_upload_bytes
    try:
        return put_upload(
            context.gate.workspace, file.filename or "", _chunks(file.file), random=os.urandom, max_bytes=limit
        )
    except UnusableFile as refused:
        raise RequestRefused(413, Category.VALIDATION_ERROR, str(refused), hint=refused.hint) from None


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


_HISTORY = query_of(
    (),
    limit={"type": "integer", "minimum": 1, "maximum": 500, "default": 50},
    offset={"type": "integer", "minimum": 0, "default": 0},
    dataset_id=WHOLE,
    prompt_version={"type": "string"},
    date_from={"type": "string", "format": "date-time"},
    date_to={"type": "string", "format": "date-time"},
)
