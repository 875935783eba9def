"""The table of a conference: cards, the transcript that goes on over all rounds, and the place to ask."""

import asyncio
from collections.abc import Mapping
from typing import Any

from nicegui import background_tasks, run, ui

from tallystick.agents.answers import Unanswered
from tallystick.doors.web.kit import PageContext, Visitor, failed, heading, may_act
from tallystick.gate.role_names import WORK_ROLES
from tallystick.rooms.studio.conference.nouns import Conference, Round
from tallystick.rooms.studio.flows.round import Told
from tallystick.rooms.studio.services.conference import Conferences
from tallystick.rooms.studio.web.agent_cards import Cards
from tallystick.rooms.studio.web.transcript import prompt_line, reply_line, round_end
from tallystick.turns.request import Progress
from tallystick.turns.result import Step

SOON_S = 0.6
"""How often it is looked whether anything was said, here or in another window."""
SHOWN_CHARS = 8_000
"""Of what is not checked yet."""


class Table:
    """One conference in one window. What is shown comes from its files, so every window shows the same."""

    def __init__(self, house: PageContext, conferences: Conferences, visitor: Visitor, conference: Conference) -> None:
        self._house = house
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
                self._cards = Cards(self._house, self._conferences, self._visitor, self._conference)
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
        """It goes on when the window is closed: its end is in the files."""
        self._busy(busy=True)
        with self._live:
            ui.run_javascript("tallyFollow()")
        held = await self._conferences.hold(
            self._conference.conference_id, prompt, caller=self._visitor.caller, again=again, tell=self._told,
            stepped=self._stepped, heard=self._heard,
        )  # fmt: skip
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
        """Somebody is speaking: the words as they come, until they are checked."""
        if agent_id not in self._saying:
            with self._live, ui.column().classes("tally-bubble tally-unchecked gap-0") as bubble:
                ui.label(f"{agent_id}, not checked yet").classes("tally-soft")
                self._saying[agent_id] = (bubble, ui.label("").classes("tally-text"))
        words = self._saying[agent_id][1]
        words.text = (words.text + piece)[:SHOWN_CHARS]

    def _checked(self, agent_id: str) -> None:
        """What was said is in the transcript by now, or was an abstention."""
        if agent_id in self._saying:
            self._saying.pop(agent_id)[0].delete()

    def _told(self, told: Told) -> None:
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
        """Show what was said since, here or elsewhere; one at a time, or a line would be shown twice."""
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
            await reply_line(self._house, line)

    def _ends(self, rounds: tuple[Round, ...]) -> None:
        for each in rounds:
            if each.over and each.number not in self._ended:
                self._ended.add(each.number)
                round_end(each, self._again)
