"""The cards of those at the table: who moderates, who takes part, who abstained, who is muted."""

from collections.abc import Mapping
from typing import Any

from nicegui import run, ui

from tallystick.agents.answers import Unanswered
from tallystick.doors.web.kit import PageContext, Visitor, may_act
from tallystick.gate.role_names import WORK_ROLES
from tallystick.rooms.studio.conference.nouns import Conference
from tallystick.rooms.studio.conference.seating import Action
from tallystick.rooms.studio.services.conference import Conferences

ACTIVITY = {"waiting": "", "speaking": "speaking…", "done": "", "muted": ""}


class Cards:
    """The attendees, and how one changes them."""

    def __init__(self, house: PageContext, conferences: Conferences, visitor: Visitor, conference: Conference) -> None:
        self._house = house
        self._conferences = conferences
        self._visitor = visitor
        self._conference = conference
        self._doing: dict[str, ui.label] = {}
        self._subtitles: dict[str, ui.label] = {}

    def show(self) -> None:
        """Build them."""
        self._place = ui.column().classes("w-full gap-2").props('role="list" aria-label="At the table"')
        self.renew(self._conference)

    def renew(self, conference: Conference) -> None:
        """Show them as they are now."""
        self._conference = conference
        self._doing.clear()
        self._subtitles.clear()
        self._place.clear()
        names = {agent.agent_id: agent.name for agent in self._house.conversation.crew.registry.load().list()}
        with self._place:
            for card in conference.cards():
                self._card(card, names.get(card["agent_id"], card["agent_id"]))
            self._invite(names)

    def mark(self, card: Mapping[str, Any]) -> None:
        """Show what an attendee is doing now."""
        agent_id = str(card["agent_id"])
        if agent_id in self._doing:
            self._doing[agent_id].text = ACTIVITY.get(str(card.get("activity", "")), "")
            subtitle = self._subtitles[agent_id]
            subtitle.text = str(card["subtitle"])
            subtitle.classes(replace=f"tally-subtitle tally-colour-{card['colour']}")

    def _card(self, card: Mapping[str, Any], name: str) -> None:
        agent_id, chief = str(card["agent_id"]), card["state"] == "moderator"
        with ui.row().classes("tally-card tally-agent").props('role="listitem"'):
            with ui.column().classes("gap-0 col-grow"):
                ui.label(name).classes("text-weight-bold")
                subtitle = ui.label(str(card["subtitle"])).classes(f"tally-subtitle tally-colour-{card['colour']}")
                subtitle.tooltip(str(card["tooltip"]))
                self._subtitles[agent_id] = subtitle
            self._doing[agent_id] = ui.label("").classes("tally-soft").props('aria-live="polite"')
            if not chief:
                muted = card["state"] == "muted"
                self._button("volume_up" if muted else "volume_off", "unmute" if muted else "mute", agent_id, name)
                self._button("close", "remove", agent_id, name)

    def _button(self, icon: str, action: Action, agent_id: str, name: str) -> None:
        button = ui.button(icon=icon, on_click=lambda: self._seat(action, agent_id)).props("flat round dense size=sm")
        button.props["aria-label"] = f"{action} {name}"

    def _invite(self, names: Mapping[str, str]) -> None:
        there = {attendee.agent_id for attendee in self._conference.attendees}
        others = {agent_id: name for agent_id, name in names.items() if agent_id not in there}
        if others:
            ui.select(others, label="Invite", on_change=lambda event: self._seat("add", event.value)).props(
                "outlined dense"
            ).classes("w-full")

    async def _seat(self, action: Action, agent_id: str) -> None:
        if not may_act(self._visitor, WORK_ROLES):
            return
        after = await run.io_bound(
            self._conferences.seat, self._conference.conference_id, action, [agent_id], caller=self._visitor.caller
        )
        if isinstance(after, Conference):
            self.renew(after)
        elif isinstance(after, Unanswered):
            ui.notify(f"{after.code}: {after.advice}", type="warning")
