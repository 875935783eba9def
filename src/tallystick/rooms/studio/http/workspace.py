"""`/api/workspace…`: the author's files. Anyone who may call may look and propose; a person decides."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.problem import Problem
from tallystick.doors.http.kit import (
    NOTHING,
    Form,
    HttpContext,
    RequestRefused,
    documented,
    json_answer,
    listing,
    open_to,
    page,
)
from tallystick.gate.codes import Category
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.gate.session import Caller
from tallystick.rooms.studio.workspace.model import Change, Edit, Patch

if TYPE_CHECKING:
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    Opened = Callable[[], WorkspaceService]

T = TypeVar("T")
_PATH = {"type": "string", "minLength": 1, "maxLength": 4096, "description": "Inside the workspace, with /."}
_BASE = {
    "type": "string",
    "pattern": "^([0-9a-f]{64})?$",
    "description": "SHA-256 of the file that was read; empty: the file must not exist.",
}
_LINE = {"type": "integer", "minimum": 0, "maximum": 100_000_000}
_WAYS: dict[str, Any] = {
    "text": {"type": "string", "description": "The whole new text."},
    "edits": {
        "type": "array",
        "minItems": 1,
        "maxItems": 10_000,
        "description": "Replacements of lines of the base.",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["start_line", "end_line", "text"],
            "properties": {"start_line": _LINE, "end_line": _LINE, "text": {"type": "string"}},
        },
    },
    "diff": {"type": "string", "description": "A unified diff against the base."},
    "note": {"type": "string", "maxLength": 2000, "description": "Why."},
}
PATCH = Form(
    properties={
        "path": _PATH,
        "base_sha256": _BASE,
        **_WAYS,
        "remove": {"type": "boolean", "description": "The file shall go."},
    },
    required=("path", "base_sha256"),
    example={"path": "Story/Scenes/SCN-arrival.md", "base_sha256": "", "text": "# Arrival\n", "note": "A first draft."},
)
OUTLINE = Form(
    properties={"base_sha256": _BASE, **_WAYS},
    required=("base_sha256",),
    example={"base_sha256": "", "text": "# Outline\n\n1. Arrival\n"},
)
REASON = Form(
    properties={"reason": {"type": "string", "maxLength": 2000, "description": "Why not."}}, example={"reason": "No."}
)
UNDO = Form(
    properties={
        "path": _PATH,
        "to": {"type": "string", "pattern": "^([0-9a-f]{64})?$", "description": "The version to restore."},
    },
    required=("path",),
    example={"path": "Story/Scenes/SCN-arrival.md"},
)
_STATUS = {
    "not_found": 404,
    "patch_unknown": 404,
    "outline_missing": 404,
    "version_unknown": 404,
    "changed_meanwhile": 409,
    "patch_decided": 409,
    "patches_too_many": 409,
    "name_taken": 409,
    "nothing_to_undo": 409,
    "snapshot_missing": 409,
    "diff_mismatch": 409,
}
_STATES = ("proposed", "applied", "rejected")


def workspace_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/workspace", tags=["workspace"])
    workspace = _opening(context)
    _look(router, workspace)
    _outline(router, context, workspace)
    _look_at_patches(router, workspace)
    _propose(router, context, workspace)
    _decide(router, context, workspace)
    return router


def _look(router: APIRouter, workspace: "Opened") -> None:
    @router.get("/tree", summary="All folders and files, nested")
    @open_to(EVERY_ROLE)
    async def tree() -> Response:
        root, complete = await run_in_threadpool(workspace().tree)
        return json_answer({"root": root.as_dict(), "complete": complete})

    @router.get("/file", openapi_extra=_query(path="Inside the workspace."), summary="A text file as it is")
    @open_to(EVERY_ROLE)
    async def file(request: Request) -> Response:
        return json_answer(_good(await run_in_threadpool(workspace().read, _asked_path(request))).as_dict())

    @router.get(
        "/history",
        openapi_extra=documented(path="Only of this file."),
        summary="What was changed, the newest first",
    )
    @open_to(EVERY_ROLE)
    async def history(request: Request) -> Response:
        limit, offset = page(request)
        found = await run_in_threadpool(workspace().history, request.query_params.get("path"))
        items = [version.as_dict() for version in found[offset : offset + limit]]
        return listing(items, total=len(found), limit=limit, offset=offset)


def _outline(router: APIRouter, context: HttpContext, workspace: "Opened") -> None:
    @router.get("/outline", summary="The outline: its file as it is, and the entries read out of it")
    @open_to(EVERY_ROLE)
    async def outline() -> Response:
        return json_answer(_good(await run_in_threadpool(workspace().outline)).as_dict())

    @router.put(
        "/outline",
        openapi_extra=OUTLINE.documented,
        status_code=201,
        summary="Propose another outline; a person applies it",
    )
    @open_to(WORK_ROLES)
    async def propose(request: Request) -> Response:
        caller = context.require(request)
        wanted = OUTLINE.demand(await request.body())
        found = await run_in_threadpool(workspace().outline)
        path = _USUAL_OUTLINE if isinstance(found, Problem) else found.file.path
        return await _proposed(workspace(), {**wanted, "path": path}, caller)


def _look_at_patches(router: APIRouter, workspace: "Opened") -> None:
    @router.get(
        "/patches",
        openapi_extra=documented(state="proposed, applied or rejected", path="Only of this file."),
        summary="Changes that were proposed, the newest first",
    )
    @open_to(EVERY_ROLE)
    async def every(request: Request) -> Response:
        limit, offset = page(request)
        state = request.query_params.get("state")
        if state is not None and state not in _STATES:
            raise RequestRefused(400, Category.VALIDATION_ERROR, "no such state", hint=f"One of {', '.join(_STATES)}.")
        path = request.query_params.get("path")
        found = await run_in_threadpool(workspace().patches, state=state, path=path)
        items = [patch.as_dict() for patch in found[offset : offset + limit]]
        return listing(items, total=len(found), limit=limit, offset=offset)

    @router.get("/patches/{patch_id}", summary="One patch, with its differences")
    @open_to(EVERY_ROLE)
    async def one(patch_id: str) -> Response:
        return json_answer(_good(await run_in_threadpool(workspace().show, patch_id)).as_dict())


def _propose(router: APIRouter, context: HttpContext, workspace: "Opened") -> None:
    @router.post("/patches", openapi_extra=PATCH.documented, status_code=201, summary="Propose a change of a file")
    @open_to(WORK_ROLES)
    async def propose(request: Request) -> Response:
        caller = context.require(request)
        return await _proposed(workspace(), PATCH.demand(await request.body()), caller)

    @router.post(
        "/undo", openapi_extra=UNDO.documented, status_code=201, summary="Propose to undo a file's last change"
    )
    @open_to(WORK_ROLES)
    async def undo(request: Request) -> Response:
        caller = context.require(request)
        wanted = UNDO.demand(await request.body())
        patch = await run_in_threadpool(workspace().undo, wanted["path"], caller=caller, to=wanted.get("to"))
        return await _shown(workspace(), _good(patch))


def _decide(router: APIRouter, context: HttpContext, workspace: "Opened") -> None:
    @router.post(
        "/patches/{patch_id}/apply", openapi_extra=NOTHING.documented, summary="Make the change (start-up token)"
    )
    @open_to(EVERY_ROLE)
    async def apply(patch_id: str, request: Request) -> Response:
        person = context.require_person(request, "tally studio apply")
        NOTHING.demand(await request.body())
        return json_answer(_good(await run_in_threadpool(workspace().apply, patch_id, caller=person)).as_dict())

    @router.post(
        "/patches/{patch_id}/reject", openapi_extra=REASON.documented, summary="Decide against it (start-up token)"
    )
    @open_to(EVERY_ROLE)
    async def reject(patch_id: str, request: Request) -> Response:
        person = context.require_person(request, "tally studio reject")
        reason = REASON.demand(await request.body()).get("reason", "")
        patch = await run_in_threadpool(workspace().reject, patch_id, caller=person, reason=reason)
        return json_answer(_good(patch).as_dict())


async def _proposed(workspace: "WorkspaceService", wanted: dict[str, Any], caller: Caller) -> Response:
    edits = wanted.get("edits")
    change = Change(
        path=wanted["path"],
        base_sha256=wanted["base_sha256"],
        text=wanted.get("text"),
        diff=wanted.get("diff"),
        edits=None if edits is None else tuple(Edit(**edit) for edit in edits),
        remove=wanted.get("remove", False),
        note=wanted.get("note", ""),
    )
    return await _shown(workspace, _good(await run_in_threadpool(workspace.propose, change, caller=caller)))


async def _shown(workspace: "WorkspaceService", patch: Patch) -> Response:
    """The new proposal; if its file has changed, it is stored and the answer is 409."""
    shown = _good(await run_in_threadpool(workspace.show, patch.patch_id))
    if shown.changed_meanwhile:
        message = "The file is not what the change was made against. The proposal is kept and shows both."
        raise RequestRefused(409, Category.DOWNSTREAM_ERROR, message, hint=f"changed_meanwhile {patch.patch_id}")
    return json_answer(shown.as_dict(), 201)


def _opening(context: HttpContext) -> "Opened":
    """Opens the workspace on first use, because loading it takes time."""

    @cache
    def opened() -> "WorkspaceService":
        from tallystick.rooms.studio.services.workspace import WorkspaceService  # noqa: PLC0415 - see above

        return WorkspaceService(context.gate)

    return opened


def _asked_path(request: Request) -> str:
    path = request.query_params.get("path")
    if not path:
        raise RequestRefused(400, Category.VALIDATION_ERROR, "no path was given", hint="?path=Story/SCN-outline.md")
    return path


def _good(value: T | Problem) -> T:
    if isinstance(value, Problem):
        status = _STATUS.get(value.code, 400)
        category = Category.DOWNSTREAM_ERROR if value.code in _STATUS else Category.VALIDATION_ERROR
        raise RequestRefused(status, category, value.message, hint=" ".join(filter(None, (value.code, value.pointer))))
    return value


def _query(**parameters: str) -> dict[str, Any]:
    return {
        "parameters": [
            {"name": name, "in": "query", "required": True, "schema": {"type": "string"}, "description": meaning}
            for name, meaning in parameters.items()
        ]
    }


_USUAL_OUTLINE = "Story/SCN-outline.md"
