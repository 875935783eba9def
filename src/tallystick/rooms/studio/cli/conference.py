"""`tally conference`: put a question to several agents at once. One tool phase, then each speaks from its role.

Ctrl-C cancels the round that runs, Ctrl-D ends. The transcript goes on from round to round; the agents forget.
"""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.kit import Exit, Here, Refused, command, line_history, next_line, read_stdin, running_tools
from tallystick.rooms.studio.cli.conference_screen import ConferenceScreen

if TYPE_CHECKING:
    import asyncio

    from tallystick.gate.session import Caller
    from tallystick.rooms.studio.conference.nouns import Conference
    from tallystick.rooms.studio.services.conference import Conferences

CANCELLED = "cancelled; what ran before that has its receipt"
COMMANDS = (
    "/add ID, /remove ID     invite an agent, or ask it to leave",
    "/mute ID, /unmute ID    skip an agent, or hear it again",
    "/cards                  who sits at the table",
    "/again N                send the prompt of round N once more",
    "/quit                   end; Ctrl-D does it too",
)


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "conference")(conference)


def conference(
    here: Here,
    prompt: Annotated[
        str | None, typer.Argument(metavar="[PROMPT]", help="Ask only this and end; - reads stdin.", show_default=False)
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option("--agents", "-a", metavar="A,B", help="Who is invited besides the Chief of Staff. Default: all."),
    ] = None,
    conference_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Go on with this conference. Default: a new one.")
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="What to call a new one.")] = "",
    offline: Annotated[bool, typer.Option("--offline", help="Use no model, whatever endpoints are set.")] = False,
) -> Exit:
    """Ask several agents at one table.

    Cards, tool steps and receipts go to stderr, replies that hold to stdout.
    Ctrl-C cancels a round, Ctrl-D ends.
    """
    import asyncio

    from tallystick.app.agents import conversation_of
    from tallystick.gate.session import LOCAL_OWNER, Caller
    from tallystick.rooms.studio.services.conference import Conferences

    owner = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel="cli")
    with here.gate(plugins=True, make=True) as gate, asyncio.Runner() as runner:
        conferences = Conferences(gate, conversation_of(gate))
        opened = _opened(conferences, owner, conference_id, agents, name)
        meeting = Meeting(
            conferences=conferences, runner=runner, shown=ConferenceScreen(here.screen), owner=owner,
            conference_id=opened.conference_id, offline=offline,
        )  # fmt: skip
        if prompt is not None:
            return meeting.ask_once(here, read_stdin() if prompt == "-" else prompt)
        here.screen.note(f"conference {opened.conference_id}")
        meeting.show_cards()
        with line_history(here):
            return meeting.go_on(here)


@dataclass(kw_only=True)
class Meeting:
    """A conference at the terminal."""

    conferences: "Conferences"
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
            self.conference_id, prompt, caller=self.owner, again=again, offline=self.offline, tell=self.shown.told,
            stepped=self.shown.stepped,
        )  # fmt: skip
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
            here.screen.note("Ctrl-C cancels a round, Ctrl-D ends, /help says more")
        ended = Exit.OK
        while True:
            try:
                line = next_line()
            except KeyboardInterrupt:
                here.screen.note("")
                continue
            if line is None or line.strip() == "/quit":
                here.screen.note(f"to go on: tally conference --id {self.conference_id}{here.screen.there}")
                # Whoever pipes prompts in learns how the last round ended; a person has seen it.
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
        from tallystick.rooms.studio.conference.seating import ACTIONS

        wanted = next(each for each in ACTIONS if each == action)
        after = self.conferences.seat(self.conference_id, wanted, [agent_id], caller=self.owner)
        if isinstance(after, Unanswered):
            self.shown.unanswered(after)
        else:
            self.shown.cards(after.cards())


def _opened(
    conferences: "Conferences", owner: "Caller", conference_id: str | None, agents: str | None, name: str
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
        # The Chief of Staff comes by himself, so nobody has to type his name.
        invited = None if named is None else [CHIEF, *(each for each in named if each != CHIEF)]
        found = conferences.create(invited, caller=owner, name=name)
    if isinstance(found, Unanswered):
        raise Refused(found.advice, code=found.code)
    return found
