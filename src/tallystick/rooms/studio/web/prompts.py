"""Tool prompts and the agents' proposals for them, which a person decides."""

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson
from nicegui import run, ui

from tallystick.agents.problem import Problem
from tallystick.doors.web.kit import PageContext, Visitor, badge, block, failed, log_in_hint, person, section
from tallystick.rooms.studio.prompts.model import Prompt
from tallystick.rooms.studio.prompts.proposals import Proposal
from tallystick.rooms.studio.services.prompts import PromptService

PATH = "/settings/prompts"
SOON_S = 1.0


class Prompts:
    """The registry and its proposals, live."""

    def __init__(self, context: PageContext, visitor: Visitor) -> None:
        self._context = context
        self._visitor = visitor
        self._service = PromptService(context.gate)
        self._seen: Any = None
        self._looking = asyncio.Lock()

    async def show(self) -> None:
        """Build it."""
        section("What agents would like worded differently")
        self._wishes = ui.column().classes("w-full gap-2")
        section("The registry")
        self._listed = ui.column().classes("w-full gap-0")
        await self._again()
        ui.timer(SOON_S, self._again)

    async def _again(self) -> None:
        # One after the other: else a look from before a decision could be drawn over one from after it.
        async with self._looking:
            await self._look()

    async def _look(self) -> None:
        pending: tuple[Proposal, ...] = await run.io_bound(self._service.proposals.list, state="pending") or ()
        merged = await run.io_bound(self._service.registry.load)
        if merged is None or (pending, merged) == self._seen:
            return
        self._seen = (pending, merged)
        self._wishes.clear()
        with self._wishes:
            if not pending:
                ui.label("Nothing. When an agent proposes a wording, it waits here for you.").classes("tally-soft")
            elif not self._visitor.is_person:
                log_in_hint("Accepting one", PATH)
            for wish in pending:
                self._wish(wish, merged.prompts.get(wish.prompt_id))
        self._listed.clear()
        with self._listed:
            for caution in merged.cautions:
                failed(f"{caution.code} ({caution.layer}): {caution.id}", caution.message)
            for prompt in merged.prompts.values():
                _line(self._service.shown(prompt))

    def _wish(self, wish: Proposal, prompt: Prompt | None) -> None:
        with ui.column().classes("tally-card gap-2"):
            with ui.row().classes("tally-row"):
                badge("pending")
                ui.label(wish.prompt_id).classes("tally-mono text-weight-bold")
                ui.label(f"proposed by {wish.by}, {wish.created[:16].replace('T', ' ')}").classes("tally-soft")
            if wish.reason:
                ui.label(wish.reason).classes("tally-text")
            before = {} if prompt is None else self._service.shown(prompt)
            with ui.element("div").classes("tally-two"):
                _side("Now", {name: before.get(name) for name in wish.said})
                _side("Proposed", wish.said)
            if self._visitor.is_person:
                with ui.row().classes("tally-row"):
                    ui.button(
                        "Accept", icon="check", on_click=lambda: self._decide(wish.proposal_id, accept=True)
                    ).props('color="positive" dense')
                    ui.button(
                        "Reject", icon="close", on_click=lambda: self._decide(wish.proposal_id, accept=False)
                    ).props('outline color="negative" dense')

    async def _decide(self, proposal_id: str, *, accept: bool) -> None:
        caller = person(self._context)
        if caller is None:
            return
        after = await run.io_bound(self._service.decide, proposal_id, accept=accept, caller=caller)
        if isinstance(after, Problem):
            ui.notify(f"{after.code}: {after.message}", type="warning")
        await self._again()


def _side(title: str, said: Mapping[str, Any]) -> None:
    with ui.column().classes("gap-1"):
        ui.label(title).classes("tally-soft")
        for value in said.values():
            block(value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def _line(shown: Mapping[str, Any]) -> None:
    with ui.column().classes("tally-line gap-0 w-full"):
        with ui.row().classes("tally-row"):
            ui.label(str(shown["title"])).classes("text-weight-bold")
            ui.label(str(shown["tool"])).classes("tally-mono tally-soft")
            badge(str(shown["layer"]))
            if not shown["installed"]:
                ui.label("its tool is not here").classes("tally-soft")
        ui.label(str(shown["description"] or "")).classes("tally-text")
