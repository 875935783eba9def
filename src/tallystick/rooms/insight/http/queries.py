"""Read routes beyond the tools: mappings and bad rows, clusters, answers, report pages and charts."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse

from tallystick.app.audit_notes import demand_ledger, note_change
from tallystick.doors.http.kit import Form, HttpContext, RequestRefused, documented, json_answer, listing, open_to, page
from tallystick.errors import ToolError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import Category
from tallystick.gate.role_names import ANALYSIS_READERS, EVERY_ROLE
from tallystick.rooms.insight.http.calls import PROBLEMS, WHOLE, insight_of, number, query_args, query_of
from tallystick.rooms.insight.http.datasets import SEARCH_KINDS, SEARCHED
from tallystick.rooms.insight.ingest.columns import FIELDS
from tallystick.rooms.insight.model import Dataset, Where
from tallystick.rooms.insight.room import Insight

if TYPE_CHECKING:
    from tallystick.rooms.insight.search.model import SearchRequest

T = TypeVar("T")

MAX_NAME = 128
SEARCH_SCHEMA = Form(properties=SEARCHED, required=("dataset_id", "q"), example={"dataset_id": 1, "q": "refund"})
REPORT_CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
"""A report is text and pictures: nothing in it runs, whatever a customer wrote."""
SESSION = "insight"
"""The session of notes about changes that are no calls."""
MAPPING = Form(
    properties={
        name: {"type": "string", "minLength": 1, "maxLength": 200, "description": f"The column that holds {name}."}
        for name in FIELDS
    },
    example={"text": "Body", "created_at": "Opened"},
)


def insight_reading_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(tags=["insight"], responses=PROBLEMS)
    _datasets(router, context)
    _mappings(router, context)
    _why(router, context)
    _groups(router, context)
    _answers(router, context)
    _reports(router, context)
    return router


def _datasets(router: APIRouter, context: HttpContext) -> None:
    @router.get("/ingest", openapi_extra=documented(), summary="The datasets, the oldest first")
    @open_to(EVERY_ROLE)
    async def datasets(request: Request) -> Response:
        limit, offset = page(request)
        found = await _read(context, lambda room: room.store.datasets())
        shown = [_dataset(one) for one in found[offset : offset + limit]]
        return listing(shown, total=len(found), limit=limit, offset=offset)

    @router.get("/ingest/{dataset_id}", summary="How a file was read: its mapping, and the rows that were not taken")
    @open_to(EVERY_ROLE)
    async def dataset(dataset_id: str) -> Response:
        wanted = number(dataset_id, "dataset_id")
        found = there(await _read(context, lambda room: room.store.dataset(wanted)), "dataset")
        bad = [{"line": row.line, "reason": row.reason, "detail": row.detail} for row in found.bad_rows]
        return json_answer({**_dataset(found), "mapping": dict(found.mapping), "bad_rows": bad})


def _mappings(router: APIRouter, context: HttpContext) -> None:
    @router.put(
        "/ingest/mappings/{name}",
        openapi_extra=MAPPING.documented,
        summary="Say which column is which, for files or datasets of this name",
    )
    @open_to(EVERY_ROLE)
    async def put(name: str, request: Request) -> Response:
        caller = context.require(request)
        mapping = MAPPING.demand(await request.body())
        _check_name(name, insight_of(context.gate))
        demand_ledger(context.gate)
        await _read(context, lambda room: room.store.put_mapping(name, mapping))
        note_change(
            context.gate, caller, "ingest.mapping", f"mapping:{name}", {"fields": sorted(mapping)}, session=SESSION
        )
        return json_answer({"name": name, "mapping": mapping})

    @router.get("/ingest/mappings/{name}", summary="Which column is which, as it was said")
    @open_to(EVERY_ROLE)
    async def get(name: str) -> Response:
        _check_name(name, insight_of(context.gate))
        found = there(await _read(context, lambda room: room.store.mapping(name)), "mapping")
        return json_answer({"name": name, "mapping": found})


def _why(router: APIRouter, context: HttpContext) -> None:
    tickets = {"type": "array", "items": WHOLE, "description": "Only these; what the search gives if not given."}

    @router.get(
        "/search/nn/why",
        openapi_extra=query_of(("dataset_id", "q"), **SEARCHED, ticket_id=tickets),
        summary="Why tickets are found: words they share, their nearest sentence",
    )
    @open_to(EVERY_ROLE)
    async def why(request: Request) -> Response:
        asked = _granted(query_args(request, SEARCH_KINDS | {"ticket_id": "list"}))
        ids = [number(one, "ticket_id") for one in asked.pop("ticket_id", ())]
        found = await _read(context, lambda room: room.searches.why(_search(asked), ids))
        return json_answer({"dataset_id": asked["dataset_id"], "results": found})


def _search(asked: dict[str, Any]) -> "SearchRequest":
    """The question of a search, as the room takes it.

    Raises:
        ToolError: 400, a parameter is missing or not what it should be.
    """
    from tallystick.rooms.insight.search.model import SearchRequest  # noqa: PLC0415 - the core has no numpy

    misfit = SEARCH_SCHEMA.misfit(asked)
    if misfit is not None:
        raise ToolError(misfit.reason, status=400, hint=misfit.pointer)
    where = Where(department=tuple(asked.get("department", ())), product=tuple(asked.get("product", ())))
    more = {name: asked[name] for name in ("k", "rerank", "rerank_backend") if name in asked}
    return SearchRequest(dataset_id=asked["dataset_id"], query_text=asked["q"], where=where, **more)


def _groups(router: APIRouter, context: HttpContext) -> None:
    @router.get("/cluster/{run_id}", summary="A grouping: labels, medoids, stability, noise")
    @open_to(EVERY_ROLE)
    async def run(run_id: str) -> Response:
        wanted = number(run_id, "run_id")
        found = there(await _read(context, lambda room: room.store.run(wanted)), "run")
        return json_answer(
            {
                "run_id": found.run_id,
                "dataset_id": found.dataset_id,
                "algorithm": found.algorithm,
                "model_name": found.model_name,
                "created_at": _stamp(found.created_at),
                **found.figures,
            }
        )

    @router.get("/cluster/{run_id}/assignments", openapi_extra=documented(), summary="Which ticket is in which group")
    @open_to(EVERY_ROLE)
    async def assignments(run_id: str, request: Request) -> Response:
        wanted = number(run_id, "run_id")
        limit, offset = page(request)

        def read(room: Insight) -> tuple[list[tuple[int, int]], int] | None:
            if room.store.run(wanted) is None:
                return None
            return room.store.assignments(wanted, limit=limit, offset=offset), room.store.count_assignments(wanted)

        pairs, total = there(await _read(context, read), "run")
        items = [{"ticket_id": ticket, "cluster_id": cluster} for ticket, cluster in pairs]
        return listing(items, total=total, limit=limit, offset=offset)


def _answers(router: APIRouter, context: HttpContext) -> None:
    @router.get("/analysis/{analysis_id}", summary="An answer with its evidence")
    @open_to(ANALYSIS_READERS)
    async def analysis(analysis_id: str) -> Response:
        wanted = number(analysis_id, "analysis_id")
        found = there(await _read(context, lambda room: room.store.analysis(wanted)), "analysis")
        return json_answer(
            {
                "analysis_id": found.analysis_id,
                "dataset_id": found.dataset_id,
                "question": found.question,
                "prompt_version": found.prompt_version,
                "ticket_count": found.ticket_count,
                "created_at": _stamp(found.created_at),
                "answer": found.answer,
            }
        )


def _reports(router: APIRouter, context: HttpContext) -> None:
    @router.get(
        "/reports/{dataset_id}/html",
        openapi_extra=query_of(compare_dataset_id=WHOLE, run_id=WHOLE),
        responses=_PAGE,
        response_class=HTMLResponse,
        summary="The report as a page with charts",
    )
    @open_to(EVERY_ROLE)
    async def page_of(dataset_id: str, request: Request) -> Response:
        wanted = number(dataset_id, "dataset_id")
        asked = _numbers(request, "compare_dataset_id", "run_id")
        made = await _read(context, lambda room: room.analyses.report(wanted, **asked).html())
        return HTMLResponse(made, headers={"content-security-policy": REPORT_CSP})

    @router.get(
        "/analytics/metrics",
        openapi_extra=query_of(("dataset_id",), dataset_id=WHOLE, run_id=WHOLE),
        summary="The numbers behind charts of a dataset",
    )
    @open_to(EVERY_ROLE)
    async def metrics(request: Request) -> Response:
        asked = _numbers(request, "dataset_id", "run_id")
        if "dataset_id" not in asked:
            raise RequestRefused(400, Category.VALIDATION_ERROR, "which dataset?", hint="dataset_id")
        return json_answer(await _read(context, lambda room: room.analyses.metrics(**asked)))


async def _read(context: HttpContext, work: Callable[[Insight], T]) -> T:
    """Ask the room, off the loop: it asks the database."""
    room = insight_of(context.gate)
    try:
        return await run_in_threadpool(work, room)
    except ToolError as error:
        status, category = _STATUSES.get(error.status or 0, (422, Category.TOOL_UNAVAILABLE))
        raise RequestRefused(status, category, str(error), hint=error.hint) from None


def _numbers(request: Request, *names: str) -> dict[str, Any]:
    """Parameters that are whole numbers.

    Raises:
        RequestRefused: 400, one is none, or there is another.
    """
    asked = _granted(query_args(request, dict.fromkeys(names, "text")))
    return {name: number(value, name) for name, value in asked.items()}


def _granted(asked: dict[str, Any] | Rejection) -> dict[str, Any]:
    if isinstance(asked, Rejection):
        raise RequestRefused(400, Category.VALIDATION_ERROR, asked.reason, hint=asked.pointer or "See /api/docs.")
    return asked


_WHERE = {
    "dataset": "GET /ingest lists datasets.",
    "mapping": "PUT /ingest/mappings/NAME says which column is which.",
    "run": "POST /cluster/run makes one and gives its run_id.",
    "analysis": "GET /history/analyses lists them.",
}
"""How to come by one."""


def there(found: T | None, what: str) -> T:
    """What was found.

    Raises:
        RequestRefused: 404, nothing was.
    """
    if found is None:
        raise RequestRefused(404, Category.DOWNSTREAM_ERROR, f"there is no such {what}", hint=_WHERE[what])
    return found


def _check_name(name: str, room: Insight) -> None:
    """Check a mapping's name, which audit records contain: short, printable, without personal data."""
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable() or room.placeholders.clean(name) != name:
        hint = "The name of the file or of the dataset, without personal data."
        raise RequestRefused(400, Category.VALIDATION_ERROR, "not a name for a mapping", hint=hint)


def _dataset(found: Dataset) -> dict[str, Any]:
    return {
        "dataset_id": found.dataset_id,
        "name": found.name,
        "file_hash": found.file_hash,
        "row_count": found.row_count,
        "department_count": found.department_count,
        "created_at": _stamp(found.created_at),
        "bad_row_count": found.bad_row_count,
    }


_STATUSES = {
    400: (400, Category.VALIDATION_ERROR),
    404: (404, Category.DOWNSTREAM_ERROR),
    409: (409, Category.DOWNSTREAM_ERROR),
    429: (429, Category.BUDGET_EXCEEDED),
}
"""Error code → status; without a status an optional part is missing."""
_PAGE: dict[int | str, dict[str, Any]] = {200: {"description": "The page.", "content": {"text/html": {}}}}


def _stamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
