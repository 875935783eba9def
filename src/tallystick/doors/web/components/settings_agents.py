"""The agents and their models: shown, tested, and changed by a person. Keys are named, never shown."""

import time
from collections.abc import Callable
from dataclasses import replace

from nicegui import run, ui

from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster
from tallystick.agents.wire import ENDPOINT_FIELDS, OFFLINE, endpoint_from, endpoint_wire
from tallystick.app.agents import administration_of
from tallystick.doors.web.components.badge import badge
from tallystick.doors.web.components.figures import facts
from tallystick.doors.web.components.person import log_in_hint, person
from tallystick.doors.web.components.schema_form import SchemaForm
from tallystick.doors.web.components.states import failed, section
from tallystick.doors.web.context import PageContext, Visitor
from tallystick.turns.agent import CHIEF, Agent, Endpoint
from tallystick.turns.model import Ask, Message, Said

PATH = "/settings/agents"
ASKED = ("provider", "model", "base_url", "api_key_env", "api_key_file", "protocol")
"""The editable fields of an endpoint; the others keep their values."""
PROBE = Ask(messages=(Message(role="user", content="Say the one word: here."),), max_tokens=16)
Change = Callable[[Roster], Roster | Problem]


class Agents:
    """The list of agents, redrawn after each change."""

    def __init__(self, context: PageContext, visitor: Visitor) -> None:
        self._context = context
        self._visitor = visitor
        self._administration = administration_of(context.gate)

    async def show(self) -> None:
        """Build the list."""
        section("Agents and their models")
        if not self._visitor.is_person:
            log_in_hint("Changing an agent", PATH)
        self._place = ui.column().classes("w-full gap-2")
        await self._again()

    async def _again(self) -> None:
        roster: Roster | None = await run.io_bound(self._administration.registry.load)
        ladder = await run.io_bound(self._administration.tiers.load)
        if roster is None or ladder is None:
            return
        self._place.clear()
        with self._place:
            for agent in roster.list():
                endpoint = roster.endpoint(agent.agent_id)
                tier = ladder.standing(agent.agent_id, endpoint.model).tier
                caps = ladder.caps(agent.agent_id, endpoint.model).as_dict()
                may = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in caps.items())
                self._card(agent, endpoint, f"T{tier}: {may}")

    def _card(self, agent: Agent, endpoint: Endpoint, may: str) -> None:
        with ui.column().classes("tally-card gap-2"):
            with ui.row().classes("tally-row"):
                ui.label(agent.name).classes("text-weight-bold")
                ui.label(agent.agent_id).classes("tally-mono tally-soft")
                badge("on" if agent.enabled else "off")
                ui.space()
                place = ui.row().classes("tally-row").props('role="status"')
            ui.label(agent.purpose).classes("tally-text")
            facts([("Model", _model(endpoint)), ("Key", _key(endpoint)), ("May use", may)])
            form = ui.column().classes("w-full gap-2")
            with ui.row().classes("tally-row"):
                self._buttons(agent, endpoint, place, form)

    def _buttons(self, agent: Agent, endpoint: Endpoint, place: ui.row, form: ui.column) -> None:
        try_it = ui.button("Test connection", icon="network_check", on_click=lambda: self._test(endpoint, place))
        try_it.props("outline dense no-caps").props["aria-label"] = f"Test connection of {agent.name}"
        if not self._visitor.is_person:
            return
        change = ui.button("Another model", icon="edit", on_click=lambda: self._ask(endpoint, form))
        change.props("outline dense no-caps").props["aria-label"] = f"Another model for {agent.name}"
        if agent.agent_id != CHIEF:
            word = "Switch off" if agent.enabled else "Switch on"
            turned = replace(agent, enabled=not agent.enabled)
            ui.button(
                word,
                on_click=lambda: self._change(lambda roster: roster.change(turned), "agent.change", agent.agent_id),
            ).props("outline dense no-caps").props["aria-label"] = f"{word} {agent.name}"

    async def _test(self, endpoint: Endpoint, place: ui.row) -> None:
        """Ask the model for one word; its reply is treated as text like any other."""
        place.clear()
        if endpoint.provider == OFFLINE:
            with place:
                badge("ok")
                ui.label("It is part of this program; nothing to reach.").classes("tally-soft")
            return
        with place:
            ui.spinner(size="sm").props('aria-label="Asking"')
        begun = time.monotonic()
        heard = await self._context.conversation.crew.model(replace(endpoint, retries=0)).ask(PROBE)
        place.clear()
        with place:
            if isinstance(heard, Said):
                badge("ok")
                ui.label(f"It answered in {time.monotonic() - begun:.1f} s").classes("tally-soft")
            else:
                badge("failed")
                ui.label(f"{heard.code}: {heard.message}").classes("tally-text tally-bad")

    def _ask(self, endpoint: Endpoint, place: ui.column) -> None:
        place.clear()
        with place:
            now = {name: getattr(endpoint, name) or "" for name in ASKED}
            schema = {name: {**_plain(name), "default": now[name]} for name in ASKED}
            form = SchemaForm({"properties": schema, "required": ["provider", "model"]})
            ui.label("A key is named, not typed here: a variable, or a file outside the workspace.").classes(
                "tally-soft"
            )

            async def give() -> None:
                made = endpoint_from({**endpoint_wire(endpoint), **dict.fromkeys(ASKED[2:5]), **form.values()})
                if isinstance(made, Problem):
                    with place:
                        failed(made.code, made.message)
                    return
                await self._change(lambda roster: roster.set_endpoint(made), "agent.set_endpoint", who)

            who = endpoint.agent_id
            with ui.row().classes("tally-row"):
                ui.button("Use this", icon="check", on_click=give).props("dense no-caps")
                ui.button(
                    "Back to the offline agent",
                    on_click=lambda: self._change(
                        lambda roster: roster.clear_endpoint(who), "agent.clear_endpoint", who
                    ),
                ).props("outline dense no-caps")

    async def _change(self, how: Change, action: str, agent_id: str) -> None:
        caller = person(self._context)
        if caller is None:
            return
        after = await run.io_bound(self._administration.change, how, caller=caller, action=action, agent_id=agent_id)
        if isinstance(after, Problem):
            ui.notify(f"{after.code}: {after.message}", type="warning")
            return
        await self._again()


def _model(endpoint: Endpoint) -> str:
    if endpoint.provider == OFFLINE:
        return "the offline agent, part of this program"
    return f"{endpoint.provider}, {endpoint.model}" + (f", at {endpoint.base_url}" if endpoint.base_url else "")


def _key(endpoint: Endpoint) -> str:
    """Describe where the key is, never its value."""
    if endpoint.api_key_env:
        return f"in the variable {endpoint.api_key_env}"
    return f"in the file {endpoint.api_key_file}" if endpoint.api_key_file else "none"


def _plain(name: str) -> dict[str, object]:
    about = ENDPOINT_FIELDS[name]
    return {"enum": about["enum"]} if "enum" in about else {"type": "string"}
