"""The conference pages. Tools run once, then every agent reads the same results and replies or abstains."""

import asyncio
from collections.abc import Mapping
from typing import Any

from nicegui import background_tasks, run, ui

from tallystick.agents.answers import Unanswered
from tallystick.doors.web.kit import (
    NavigationItem,
    PageContext,
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
from tallystick.rooms.studio.conference.model import Conference, Round
from tallystick.rooms.studio.flows.round import RoundEvent
from tallystick.rooms.studio.services.conference import ConferenceService
from tallystick.rooms.studio.web.conference_widgets import AttendeeCards, prompt_line, reply_line, round_end
from tallystick.turns.request import Progress
from tallystick.turns.result import Step

SOON_S = 0.6
"""Polling interval for new replies, also from other windows."""
SHOWN_CHARS = 8_000
"""Of what is not checked yet."""


class ConferenceView:
    """One conference in one window, drawn from its files, so that every window shows the same."""

    def __init__(
        self, context: PageContext, conferences: ConferenceService, visitor: Visitor, conference: Conference
    ) -> None:
        self._context = context
        self._conferences = conferences
        self._visitor = visitor
        self._conference = conference
        self._shown = 0
        self._ended: set[int] = set()
        self._saying: dict[str, tuple[ui.column, ui.label]] = {}
        """Agent → what is shown of what it is saying."""
        self._catching_up = asyncio.Lock()

    async def show(self) -> None:
        """Build it, and keep it up to date."""
        heading(self._conference.name or "Conference")
        with ui.element("div").classes("tally-table-grid"):
            with ui.column().classes("tally-side gap-2"):
                self._cards = AttendeeCards(self._context, self._conferences, self._visitor, self._conference)
                self._cards.show()
            with ui.column().classes("tally-talk gap-2"):
                self._said = ui.column().classes("w-full gap-2").props('role="log" aria-label="Transcript"')
                self._live = ui.column().classes("w-full gap-1").props('role="status"')
                self._ask()
        await self._catch_up()
        ui.timer(SOON_S, self._catch_up)

    def _ask(self) -> None:
        with ui.row().classes("tally-row tally-ask"):
            self._prompt = ui.textarea("Ask everyone").props("outlined autogrow rows=1").classes("col-grow")
            self._send = ui.button("Send", icon="send", on_click=self._hold)
            self._stop = ui.button("Cancel", icon="stop", on_click=self._cancel).props('outline color="negative"')
            self._stop.set_visibility(False)
        self._prompt.on("keydown.enter.exact.prevent", self._hold)
        ui.label("Enter sends, Shift+Enter begins a new line").classes("tally-soft")

    # -- a round -------------------------------------------------------------------------------------------------------

    async def _hold(self) -> None:
        if not may_act(self._visitor, WORK_ROLES):
            return
        prompt = (self._prompt.value or "").strip()
        if prompt:
            background_tasks.create(self._round(prompt, None))

    def _again(self, number: int) -> None:
        if may_act(self._visitor, WORK_ROLES):
            background_tasks.create(self._round(None, number))

    async def _round(self, prompt: str | None, again: int | None) -> None:
        """Run a round; it continues when the window is closed."""
        self._busy(busy=True)
        with self._live:
            ui.run_javascript("tallyFollow()")
        held = await self._conferences.hold(
            self._conference.conference_id,
            prompt,
            caller=self._visitor.caller,
            again=again,
            tell=self._told,
            stepped=self._stepped,
            heard=self._heard,
        )
        self._busy(busy=False)
        with self._live:
            if isinstance(held, Unanswered):
                # What was typed stays where it is.
                failed(held.code, held.advice)
            elif prompt is not None and (self._prompt.value or "").strip() == prompt:
                self._prompt.value = ""
        await self._catch_up()

    async def _cancel(self) -> None:
        if not may_act(self._visitor, WORK_ROLES):
            return
        running = next((each for each in self._conference.rounds if not each.over), None)
        if running is not None:
            await run.io_bound(
                self._conferences.cancel, self._conference.conference_id, running.number, caller=self._visitor.caller
            )

    def _busy(self, *, busy: bool) -> None:
        self._send.set_enabled(not busy)
        self._stop.set_visibility(busy)
        self._live.clear()
        self._saying.clear()

    def _heard(self, agent_id: str, piece: str) -> None:
        """Show the streamed text of a reply until it is checked."""
        if agent_id not in self._saying:
            with self._live, ui.column().classes("tally-bubble tally-unchecked gap-0") as bubble:
                ui.label(f"{agent_id}, not checked yet").classes("tally-soft")
                self._saying[agent_id] = (bubble, ui.label("").classes("tally-text"))
        words = self._saying[agent_id][1]
        words.text = (words.text + piece)[:SHOWN_CHARS]

    def _checked(self, agent_id: str) -> None:
        """Remove the streamed text of a checked reply."""
        if agent_id in self._saying:
            self._saying.pop(agent_id)[0].delete()

    def _told(self, told: RoundEvent) -> None:
        if told.kind == "card":
            self._cards.mark(told.data)
            if told.data.get("activity") != "speaking":
                self._checked(str(told.data["agent_id"]))
        elif told.kind == "phase":
            words = (
                "Everyone reads what was found." if told.data.get("phase") != 1 else "The Chief of Staff looks it up."
            )
            with self._live:
                ui.label(words).classes("tally-soft")

    def _stepped(self, what: Step | Progress) -> None:
        if isinstance(what, str):
            return
        wire: Mapping[str, Any] = what.as_dict()
        with self._live, ui.row().classes("tally-row"):
            ui.icon("build").props('aria-hidden="true"').classes("tally-soft")
            ui.label(str(wire.get("tool", ""))).classes("tally-mono")
            receipt = wire.get("receipt_id")
            if receipt:
                ui.link(str(receipt)[:17] + "…", f"/receipts/{receipt}").classes("tally-chip")

    # -- what was said -------------------------------------------------------------------------------------------------

    async def _catch_up(self) -> None:
        """Show new transcript lines; serialised, so that no line is shown twice."""
        async with self._catching_up:
            where, who = self._conference.conference_id, self._visitor.caller
            now = await run.io_bound(self._conferences.get, where, who)
            lines = await run.io_bound(self._conferences.transcript, where, who)
            if not isinstance(now, Conference) or lines is None or isinstance(lines, Unanswered):
                return
            if now != self._conference:
                self._conference = now
                self._cards.renew(now)
            running = any(not each.over for each in now.rounds)
            self._stop.set_visibility(running)
            for line in lines[self._shown :]:
                self._shown += 1
                with self._said:
                    await self._line(line)
            with self._said:
                self._ends(now.rounds)

    async def _line(self, line: Mapping[str, Any]) -> None:
        if line.get("kind") == "prompt":
            prompt_line(line)
        elif line.get("kind") == "reply":
            await reply_line(self._context, line)

    def _ends(self, rounds: tuple[Round, ...]) -> None:
        for each in rounds:
            if each.over and each.number not in self._ended:
                self._ended.add(each.number)
                round_end(each, self._again)


MOST = 50


def register(context: PageContext) -> tuple[str, ...]:
    """Make the pages."""
    context.places.append(
        NavigationItem(path="/conference", name="Conference", icon="groups", order=10, roles=EVERY_ROLE)
    )
    conferences = ConferenceService(context.gate, context.conversation)

    @page(context, "/conference", "Conference", roles=EVERY_ROLE)
    async def every(visitor: Visitor) -> None:
        heading(
            "Conference", "Ask everyone at once. Each answer shows what it rests on; what does not hold is refused."
        )
        found: list[Conference] = await run.io_bound(conferences.list, visitor.caller) or []
        _new(context, conferences, visitor)
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

    @page(context, "/conference/{conference_id}", "Conference", roles=EVERY_ROLE)
    async def one(visitor: Visitor, conference_id: str) -> None:
        found = await run.io_bound(conferences.get, conference_id, visitor.caller)
        if not isinstance(found, Conference):
            empty("There is no such conference", "Begin one on the page before.", icon="search_off")
            return
        await ConferenceView(context, conferences, visitor, found).show()

    return ("/conference",)


def _new(context: PageContext, conferences: ConferenceService, visitor: Visitor) -> None:
    crew = context.conversation.crew.registry.load().list(enabled_only=True)
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
