"""The runs pages: start, watch, cancel and resume recipes."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from nicegui import run, ui

from tallystick.agents.problem import Problem
from tallystick.app.rooms import room_in
from tallystick.doors.web.kit import (
    NavigationItem,
    PageContext,
    SchemaForm,
    Visitor,
    badge,
    block,
    empty,
    failed,
    heading,
    may_act,
    page,
    section,
)
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.rooms.studio.room import Studio

MOST = 50
SOON_S = 0.8


def register(context: PageContext) -> tuple[str, ...]:
    """Make the pages."""
    context.places.append(NavigationItem(path="/runs", name="Runs", icon="play_circle", order=35, roles=EVERY_ROLE))

    @page(context, "/runs", "Runs", roles=EVERY_ROLE)
    async def every(visitor: Visitor) -> None:
        heading("Runs", "Recipes of several steps. A step that was skipped or failed never counts as done.")
        service = _service(context)
        _start(context, visitor)
        section("Runs")
        place = ui.column().classes("w-full gap-0")
        seen: list[Any] = []

        async def again() -> None:
            found = await run.io_bound(service.page, visitor.caller, limit=MOST, offset=0)
            lines = found[0] if found else []
            now = [(line["run_id"], line["status"]) for line in lines]
            if now == seen and place.default_slot.children:
                return
            seen[:] = now
            place.clear()
            with place:
                if not lines:
                    empty("No runs yet", "Choose a recipe above.", icon="play_circle")
                for line in lines:
                    _row(line)

        await again()
        ui.timer(SOON_S, again)

    @page(context, "/runs/{run_id}", "Run", roles=EVERY_ROLE)
    async def one(visitor: Visitor, run_id: str) -> None:
        await _One(context, visitor, run_id).show()

    return ("/runs",)


def _service(context: PageContext) -> Any:
    return room_in(context.gate, "studio", Studio).runs


def _row(line: Mapping[str, Any]) -> None:
    with ui.row().classes("tally-row tally-line"):
        badge(str(line["status"]))
        ui.link(str(line.get("title") or line.get("recipe_id")), f"/runs/{line['run_id']}").classes("text-weight-bold")
        ui.space()
        ui.label(str(line["run_id"])).classes("tally-soft tally-mono")


def _start(context: PageContext, visitor: Visitor) -> None:
    service = _service(context)
    recipes = {one.id: one for one in service.recipes.list()}
    names = {
        key: (one.recipe.title if one.recipe is not None else f"{key} (cannot be read)") for key, one in recipes.items()
    }
    with ui.column().classes("tally-card gap-2"):
        choice = ui.select(names, label="Recipe").props("outlined dense").classes("w-full")
        place = ui.column().classes("w-full gap-2")

    def chosen() -> None:
        place.clear()
        listed = recipes.get(choice.value)
        with place:
            if listed is None:
                return
            if listed.recipe is None:
                failed("This recipe cannot be read.", "" if listed.problem is None else listed.problem.message)
                return
            ui.label(listed.recipe.description).classes("tally-soft")
            form = SchemaForm({"properties": listed.recipe.document.get("inputs", {})})

            async def begin() -> None:
                if not may_act(visitor, WORK_ROLES):
                    return
                begun = await run.io_bound(service.start, choice.value, form.values(), visitor.caller)
                if isinstance(begun, Problem):
                    with place:
                        failed(begun.code, begun.message)
                elif begun is not None:
                    ui.navigate.to(f"/runs/{begun['run_id']}")

            ui.button("Run it", icon="play_arrow", on_click=begin)

    choice.on_value_change(chosen)


class _One:
    """One run, live."""

    def __init__(self, context: PageContext, visitor: Visitor, run_id: str) -> None:
        self._context = context
        self._visitor = visitor
        self._run_id = run_id
        self._seen: bytes = b""

    async def show(self) -> None:
        service = _service(self._context)
        told = None if service is None else await run.io_bound(service.show, self._run_id, self._visitor.caller)
        if told is None:
            empty("There is no such run", "It may be another's, or of another workspace.", icon="search_off")
            return
        heading(str(told.get("title") or told.get("recipe_id")), self._run_id)
        self._place = ui.column().classes("w-full gap-2").props('role="status"')
        await self._draw(told)
        ui.timer(SOON_S, self._look)

    async def _look(self) -> None:
        told = await run.io_bound(_service(self._context).show, self._run_id, self._visitor.caller)
        if told is not None:
            await self._draw(told)

    async def _draw(self, told: Mapping[str, Any]) -> None:
        now = orjson.dumps(told, default=str)
        if now == self._seen:
            return
        self._seen = now
        replies = await run.io_bound(_service(self._context).replies, self._run_id, self._visitor.caller)
        self._place.clear()
        with self._place:
            self._head(told)
            for name, value in told.get("inputs", {}).items():
                ui.label(f"{name}: {value}").classes("tally-text tally-soft")
            for step in told.get("steps", ()):
                _step(step)
            for said in replies or ():
                section(f"{said['step']}: {said['agent']}")
                block(said["reply"])
            _checks(told.get("done") or ())

    def _head(self, told: Mapping[str, Any]) -> None:
        with ui.row().classes("tally-row"):
            badge(str(told["status"]))
            if told.get("message"):
                ui.label(str(told["message"])).classes("tally-text tally-soft")
            ui.space()
            if told["status"] in {"queued", "running"}:
                ui.button("Cancel", on_click=lambda: self._act("cancel")).props('outline color="negative"')
            elif told["status"] in {"failed", "cancelled", "incomplete"}:
                ui.button("Go on", icon="play_arrow", on_click=lambda: self._act("resume")).props("outline")

    async def _act(self, what: str) -> None:
        if not may_act(self._visitor, WORK_ROLES):
            return
        await run.io_bound(getattr(_service(self._context), what), self._run_id, self._visitor.caller)
        await self._look()


def _checks(done: Sequence[Mapping[str, Any]]) -> None:
    if not done:
        return
    section("Definition of done")
    for check in done:
        with ui.row().classes("tally-row tally-line"):
            badge("ok" if check.get("ok") else "failed")
            ui.label(str(check.get("check") or check.get("kind") or check)).classes("tally-text")


def _step(step: Mapping[str, Any]) -> None:
    with ui.row().classes("tally-row tally-line"):
        badge(str(step.get("status", "")))
        ui.label(str(step.get("step"))).classes("text-weight-bold")
        ui.label(str(step.get("tool") or step.get("agent") or step.get("action") or "")).classes(
            "tally-mono tally-soft"
        )
        if step.get("message"):
            ui.label(str(step["message"])).classes("tally-text tally-bad")
        ui.space()
        for receipt in step.get("receipts", ()):
            ui.link(str(receipt)[:17] + "…", f"/receipts/{receipt}").classes("tally-chip")
