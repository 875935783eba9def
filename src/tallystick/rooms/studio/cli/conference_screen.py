"""A conference on the screen: cards, steps and what was refused on stderr; replies that hold on stdout."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.kit import ChatScreen, Exit, counted

if TYPE_CHECKING:
    from tallystick.rooms.studio.conference.answers import Held
    from tallystick.rooms.studio.conference.nouns import Spoken
    from tallystick.rooms.studio.flows.round import Told
    from tallystick.turns.result import Step

COLOURS = {"green": "green", "yellow": "yellow", "red": "red", "default": ""}
"""What a card's colour is at a terminal."""


class ConferenceScreen(ChatScreen):
    """What a person sees of a conference."""

    def told(self, told: "Told") -> None:
        """Show what happens while it happens."""
        data = told.data
        if told.kind == "phase":
            self._now("retrieving" if data["phase"] == 1 else "interpreting")
        elif told.kind == "card" and data["activity"] == "speaking":
            self._now(f"{data['agent_id']} speaks")

    def stepped(self, what: "Step | str") -> None:
        """Show a step of the tool phase."""
        if not isinstance(what, str):
            self.watch(what)

    def cards(self, cards: Iterable[Mapping[str, Any]]) -> None:
        """Who sits at the table."""
        for card in cards:
            self._note(f"  {card['agent_id']:<14} {card['subtitle']}", style=COLOURS[card["colour"]])

    def held(self, held: "Held") -> Exit:
        """Show a round; gives the exit code of a command that asked only this."""
        self._screen.data(held.as_dict())
        for spoken in held.spoken:
            self._spoken(spoken)
        self.cards(held.conference.with_round(held.round).cards())
        ended = held.round
        saved = "" if ended.issue_id is None else f", saved as {ended.issue_id}"
        where = f"conference {held.conference.conference_id}, round {ended.number}"
        self._note(f"  {where}: {ended.state.replace('_', ' ')}, {counted(len(ended.receipts), 'receipt')}{saved}")
        return self._exit(held)

    def _spoken(self, spoken: "Spoken") -> None:
        if spoken.status == "abstained":
            return
        who = f"{spoken.name} ({spoken.agent_id})"
        if spoken.status == "accepted":
            self._screen.line(f"## {who}")
            self._screen.block(spoken.text or "")
            self._screen.line()
            self._note(f"  {spoken.agent_id}: evidence holds ({spoken.check_receipt})", style="green")
        elif spoken.status == "rejected":
            for line in (spoken.refused_text or "").split("\n"):
                self._note(f"  {spoken.agent_id}, unverified | {line}", style="dim")
            self._note(f"  {spoken.agent_id}: REJECTED: {spoken.code}: {spoken.reason}", style="red")
        else:
            self._note(f"  {spoken.agent_id}: not heard: {spoken.code}: {spoken.reason}", style="red")

    def _exit(self, held: "Held") -> Exit:
        retrieved = held.retrieved
        if retrieved.approval_id is not None:
            self._note(
                f"  to allow it: tally approvals approve {retrieved.approval_id}{self._screen.there}; then ask again"
            )
            return Exit.HELD
        if retrieved.stop_hook is not None:
            self._note(f"  {retrieved.stop_hook}", style="red")
            if retrieved.advice is not None:
                self._note(f"  {retrieved.advice}")
            return Exit.REFUSED
        if held.round.state != "closed":
            return Exit.REFUSED
        told = {spoken.status for spoken in held.spoken}
        # Nobody had anything to add: that is an answer. Nobody's words held: that is none.
        return Exit.OK if told <= {"accepted", "abstained"} or "accepted" in told else Exit.REFUSED
