"""Widgets of the conference page: attendee cards, and the transcript with replies, refusals and round ends."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import run, ui

from tallystick.agents.answers import Unanswered
from tallystick.doors.web.kit import PageContext, Visitor, badge, block, evidence_chips, may_act
from tallystick.gate.role_names import WORK_ROLES
from tallystick.rooms.studio.conference.attendees import Action
from tallystick.rooms.studio.conference.model import Conference, Round
from tallystick.rooms.studio.services.conference import ConferenceService

ACTIVITY = {"waiting": "", "speaking": "speaking…", "done": "", "muted": ""}


class AttendeeCards:
    """The attendees, and how one changes them."""

    def __init__(
        self, context: PageContext, conferences: ConferenceService, visitor: Visitor, conference: Conference
    ) -> None:
        self._context = context
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
        names = {agent.agent_id: agent.name for agent in self._context.conversation.crew.registry.load().list()}
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


ENDS = {
    "stopped": "The round ended before anyone was asked.",
    "cancelled": "The round was cancelled.",
    "broken_off": "The round was broken off: the server stopped while it ran.",
}


def prompt_line(line: Mapping[str, Any]) -> None:
    """What the user asked."""
    with ui.column().classes("tally-bubble tally-mine gap-0"):
        ui.label(f"You, round {line.get('round')}").classes("tally-soft")
        ui.label(str(line.get("text", ""))).classes("tally-text")


async def reply_line(context: PageContext, line: Mapping[str, Any]) -> None:
    """A reply with its evidence, or a refused reply with the reason."""
    rejected = line.get("rejected")
    with ui.column().classes("tally-bubble gap-1" + (" tally-refused" if rejected else "")):
        with ui.row().classes("tally-row"):
            ui.label(str(line.get("name") or line.get("agent_id"))).classes("text-weight-bold")
            if line.get("status") != "accepted":
                badge(str(line.get("status")))
        if isinstance(rejected, Mapping):
            _refused(rejected)
        elif line.get("text"):
            ui.label(_without_evidence(str(line["text"]), line.get("evidence"))).classes("tally-text")
        else:
            ui.label(str(line.get("reason") or line.get("code") or "")).classes("tally-text tally-soft")
        await evidence_chips(context, line.get("check_receipt"), "" if rejected else str(line.get("text") or ""))


def _refused(rejected: Mapping[str, Any]) -> None:
    nearest = rejected.get("nearest")
    # The advice ends with the nearest line too; below it stands better.
    advice = str(rejected.get("reason")).partition(" Closest: ")[0]
    ui.label(f"{rejected.get('code')}: {advice}").classes("tally-bad tally-text")
    if isinstance(nearest, Mapping):
        ui.label(f"The nearest real line, {nearest.get('source')}:L{nearest.get('line')}:").classes("tally-soft")
        block(str(nearest.get("text", "")))
    with ui.expansion("What it said").classes("w-full"):
        ui.label(str(rejected.get("text", ""))).classes("tally-text tally-struck")


def _without_evidence(text: str, evidence: Any) -> str:
    """The chips say it better."""
    return text.replace(evidence, "").rstrip() if isinstance(evidence, str) and evidence else text


def round_end(each: Round, again: Callable[[int], None]) -> None:
    """The line under a round: receipts, issue, and a retry button if it was interrupted."""
    with ui.row().classes("tally-row tally-round-end"):
        if each.state != "closed":
            badge(each.state)
            said = ENDS.get(each.state, each.state) + (f" {each.stop_hook}" if each.stop_hook else "")
            ui.label(said).classes("tally-soft tally-text")
            ui.button("Send again", icon="replay", on_click=lambda: again(each.number)).props("flat dense")
        ui.label(f"Round {each.number}: {len(each.receipts)} tool calls").classes("tally-soft")
        for receipt in each.receipts:
            ui.link(receipt[:17] + "…", f"/receipts/{receipt}").classes("tally-chip")
        if each.issue_id:
            ui.link("Issue of this round", f"/issues/{each.issue_id}").classes("tally-chip")
