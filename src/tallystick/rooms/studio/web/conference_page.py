"""Conference: agents at one table. Tools run once, then everyone reads the same and speaks, or abstains."""

from nicegui import run, ui

from tallystick.agents.answers import Unanswered
from tallystick.doors.web.kit import (
    PageContext,
    Place,
    Visitor,
    counted,
    empty,
    failed,
    heading,
    may_act,
    page,
    section,
)
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.rooms.studio.conference.nouns import Conference
from tallystick.rooms.studio.services.conference import Conferences
from tallystick.rooms.studio.web.conference_view import Table

MOST = 50


def register(house: PageContext) -> tuple[str, ...]:
    """Make the pages."""
    house.places.append(Place(path="/conference", name="Conference", icon="groups", order=10, roles=EVERY_ROLE))
    conferences = Conferences(house.gate, house.conversation)

    @page(house, "/conference", "Conference", roles=EVERY_ROLE)
    async def every(visitor: Visitor) -> None:
        heading(
            "Conference", "Ask everyone at once. Each answer shows what it rests on; what does not hold is refused."
        )
        found: list[Conference] = await run.io_bound(conferences.list, visitor.caller) or []
        _new(house, conferences, visitor)
        if not found:
            empty("No conference yet", "Choose who sits at the table, and begin.", icon="groups")
            return
        section("Earlier")
        for one in found[:MOST]:
            with ui.row().classes("tally-row tally-line"):
                ui.link(one.name or "Conference", f"/conference/{one.conference_id}").classes("text-weight-bold")
                ui.label(f"{counted(len(one.rounds), 'round')}, {counted(len(one.attendees), 'agent')}").classes(
                    "tally-soft"
                )
                ui.space()
                ui.label(one.created_at[:16].replace("T", " ")).classes("tally-soft")

    @page(house, "/conference/{conference_id}", "Conference", roles=EVERY_ROLE)
    async def one(visitor: Visitor, conference_id: str) -> None:
        found = await run.io_bound(conferences.get, conference_id, visitor.caller)
        if not isinstance(found, Conference):
            empty("There is no such conference", "Begin one on the page before.", icon="search_off")
            return
        await Table(house, conferences, visitor, found).show()

    return ("/conference",)


def _new(house: PageContext, conferences: Conferences, visitor: Visitor) -> None:
    crew = house.conversation.crew.registry.load().list(enabled_only=True)
    with ui.column().classes("tally-card gap-2"):
        with ui.row().classes("tally-row"):
            name = ui.input("What it is about").props("outlined dense maxlength=200").classes("col-grow")
            begin = ui.button("Begin", icon="add")
        with ui.row().classes("tally-row").props('role="group" aria-label="Who is invited"'):
            boxes = {}
            for agent in crew:
                box = ui.checkbox(agent.name, value=True)
                boxes[agent.agent_id] = box
                if agent.agent_id == "assistant":
                    box.disable()
                    box.tooltip("The Chief of Staff runs the tools and is always there.")
        place = ui.column().classes("w-full")

    async def go() -> None:
        if not may_act(visitor, WORK_ROLES):
            return
        chosen = [agent_id for agent_id, box in boxes.items() if box.value]
        made = await run.io_bound(conferences.create, chosen, caller=visitor.caller, name=name.value or "")
        if isinstance(made, Conference):
            ui.navigate.to(f"/conference/{made.conference_id}")
        elif isinstance(made, Unanswered):
            with place:
                failed(made.code, made.advice)

    begin.on_click(go)
    name.on("keydown.enter", go)
