"""`tally conference`: asks several agents at once. One tool phase, then each replies from its role.

Cards, steps and refused replies go to stderr, accepted replies to stdout. Ctrl-C cancels a round, Ctrl-D ends.
The transcript spans all rounds; the agents remember nothing from round to round.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.kit import (
    ChatScreen,
    Exit,
    Here,
    Refused,
    command,
    counted,
    line_history,
    next_line,
    read_stdin,
    running_tools,
)

if TYPE_CHECKING:
    import asyncio

    from tallystick.gate.session import Caller
    from tallystick.rooms.studio.conference.model import AgentReply, Conference
    from tallystick.rooms.studio.conference.results import RoundResult
    from tallystick.rooms.studio.flows.round import RoundEvent
    from tallystick.rooms.studio.services.conference import ConferenceService
    from tallystick.turns.result import Step


COLOURS = {"green": "green", "yellow": "yellow", "red": "red", "default": ""}
"""Terminal styles of card colours."""


class ConferenceScreen(ChatScreen):
    """Shows a conference at the terminal."""

    def told(self, told: "RoundEvent") -> None:
        """Show progress while a round runs."""
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

    def held(self, held: "RoundResult") -> Exit:
        """Show a round and return the exit code for a single question."""
        self._screen.data(held.as_dict())
        for spoken in held.spoken:
            self._spoken(spoken)
        self.cards(held.conference.with_round(held.round).cards())
        ended = held.round
        saved = "" if ended.issue_id is None else f", saved as {ended.issue_id}"
        where = f"conference {held.conference.conference_id}, round {ended.number}"
        self._note(f"  {where}: {ended.state.replace('_', ' ')}, {counted(len(ended.receipts), 'receipt')}{saved}")
        return self._exit(held)

    def _spoken(self, spoken: "AgentReply") -> None:
        if spoken.status == "abstained":
            return
        who = f"{spoken.name} ({spoken.agent_id})"
        if spoken.status == "accepted":
            self._screen.line(f"## {who}")
            self._screen.block(spoken.text or "")
            self._screen.line()
            for sentence in spoken.unsure:
                self._note(f"  {spoken.agent_id}, unsure: {sentence}", style="yellow")
            self._note(f"  {spoken.agent_id}: evidence holds ({spoken.check_receipt})", style="green")
        elif spoken.status == "rejected":
            for line in (spoken.refused_text or "").split("\n"):
                self._note(f"  {spoken.agent_id}, unverified | {line}", style="dim")
            self._note(f"  {spoken.agent_id}: REJECTED: {spoken.code}: {spoken.reason}", style="red")
        else:
            self._note(f"  {spoken.agent_id}: not heard: {spoken.code}: {spoken.reason}", style="red")

    def _exit(self, held: "RoundResult") -> Exit:
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
        # All agents abstaining is a valid answer; all replies being rejected is a failure.
        return Exit.OK if told <= {"accepted", "abstained"} or "accepted" in told else Exit.REFUSED


CANCELLED = "cancelled; what ran before that has its receipt"
COMMANDS = (
    "/add ID, /remove ID     invite an agent, or ask it to leave",
    "/mute ID, /unmute ID    skip an agent, or hear it again",
    "/cards                  list the attendees",
    "/again N                send the prompt of round N once more",
    "/quit                   end; Ctrl-D does it too",
)


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "conference")(conference)


Prompt = Annotated[
    str | None, typer.Argument(metavar="[PROMPT]", help="Ask only this and end; - reads stdin.", show_default=False)
]
Agents = Annotated[
    str | None,
    typer.Option("--agents", "-a", metavar="A,B", help="Who is invited besides the Chief of Staff. Default: all."),
]
ConferenceId = Annotated[
    str | None, typer.Option("--id", metavar="ID", help="Go on with this conference. Default: a new one.")
]


def conference(
    here: Here,
    prompt: Prompt = None,
    agents: Agents = None,
    conference_id: ConferenceId = None,
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="What to call a new one.")] = "",
    offline: Annotated[bool, typer.Option("--offline", help="Use no model, whatever endpoints are set.")] = False,
) -> Exit:
    """Ask several agents at once.

    Cards, tool steps and receipts go to stderr, replies that hold to stdout.
    Ctrl-C cancels a round, Ctrl-D ends.
    """
    import asyncio

    from tallystick.app.agents import conversation_of
    from tallystick.gate.session import LOCAL_OWNER, Caller
    from tallystick.rooms.studio.services.conference import ConferenceService

    owner = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel="cli")
    with here.gate(plugins=True, make=True) as gate, asyncio.Runner() as runner:
        conferences = ConferenceService(gate, conversation_of(gate))
        opened = _opened(conferences, owner, conference_id, agents, name)
        meeting = Meeting(
            conferences=conferences,
            runner=runner,
            shown=ConferenceScreen(here.screen),
            owner=owner,
            conference_id=opened.conference_id,
            offline=offline,
        )
        if prompt is not None:
            return meeting.ask_once(here, read_stdin() if prompt == "-" else prompt)
        here.screen.note(f"conference {opened.conference_id}")
        meeting.show_cards()
        with line_history(here):
            return meeting.go_on(here)


@dataclass(kw_only=True)
class Meeting:
    """A conference at the terminal."""

    conferences: "ConferenceService"
    runner: "asyncio.Runner"
    shown: ConferenceScreen
    owner: "Caller"
    conference_id: str
    offline: bool

    def ask(self, prompt: str | None, *, again: int | None = None) -> Exit:
        """Hold a round and show it.

        Raises:
            KeyboardInterrupt: Ctrl-C; the round was cancelled.
        """
        from tallystick.agents.answers import Unanswered

        holding = self.conferences.hold(
            self.conference_id,
            prompt,
            caller=self.owner,
            again=again,
            offline=self.offline,
            tell=self.shown.told,
            stepped=self.shown.stepped,
        )
        with running_tools(), self.shown.live():
            held = self.runner.run(holding)
        return self.shown.unanswered(held) if isinstance(held, Unanswered) else self.shown.held(held)

    def ask_once(self, here: Here, prompt: str) -> Exit:
        """Ask only this."""
        try:
            return self.ask(prompt)
        except KeyboardInterrupt:
            here.screen.note(CANCELLED)
            return Exit.INTERRUPTED

    def show_cards(self) -> None:
        """Who sits at the table."""
        from tallystick.agents.answers import Unanswered

        found = self.conferences.get(self.conference_id, self.owner)
        if isinstance(found, Unanswered):
            self.shown.unanswered(found)
        else:
            self.shown.cards(found.cards())

    def go_on(self, here: Here) -> Exit:
        """One round after the other, until the end of input."""
        if sys.stdin.isatty():
            here.screen.note("Ctrl-C cancels a round, Ctrl-D ends, /help lists the commands")
        ended = Exit.OK
        while True:
            try:
                line = next_line()
            except KeyboardInterrupt:
                here.screen.note("")
                continue
            if line is None or line.strip() == "/quit":
                here.screen.note(f"to continue: tally conference --id {self.conference_id}{here.screen.there}")
                # Scripts get the exit code of the last round; a person has seen it.
                return Exit.OK if sys.stdin.isatty() else ended
            try:
                ended = self._line(here, line.strip(), ended)
            except KeyboardInterrupt:
                here.screen.note(CANCELLED)

    def _line(self, here: Here, line: str, ended: Exit) -> Exit:
        if not line.startswith("/"):
            return self.ask(line) if line else ended
        word, _, rest = line.partition(" ")
        action, agent_id = word.removeprefix("/"), rest.strip()
        if action == "again" and agent_id.isdecimal():
            return self.ask(None, again=int(agent_id[:9]))
        if action == "cards":
            self.show_cards()
        elif action in {"add", "remove", "mute", "unmute"} and agent_id:
            self._seat(action, agent_id)
        else:
            for known in COMMANDS:
                here.screen.note(known)
        return ended

    def _seat(self, action: str, agent_id: str) -> None:
        from tallystick.agents.answers import Unanswered
        from tallystick.rooms.studio.conference.attendees import ACTIONS

        wanted = next(each for each in ACTIONS if each == action)
        after = self.conferences.seat(self.conference_id, wanted, [agent_id], caller=self.owner)
        if isinstance(after, Unanswered):
            self.shown.unanswered(after)
        else:
            self.shown.cards(after.cards())


def _opened(
    conferences: "ConferenceService", owner: "Caller", conference_id: str | None, agents: str | None, name: str
) -> "Conference":
    """The conference that is meant, or a new one.

    Raises:
        Refused: There is no such conference or agent.
    """
    from tallystick.agents.answers import Unanswered
    from tallystick.turns.agent import CHIEF

    if conference_id is not None:
        found = conferences.get(conference_id, owner)
    else:
        named = None if agents is None else [each.strip() for each in agents.split(",") if each.strip()]
        # The Chief of Staff always attends and need not be named.
        invited = None if named is None else [CHIEF, *(each for each in named if each != CHIEF)]
        found = conferences.create(invited, caller=owner, name=name)
    if isinstance(found, Unanswered):
        raise Refused(found.advice, code=found.code)
    return found
