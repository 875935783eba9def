"""`tally chat`: talk to an agent in the terminal. Without an endpoint the offline agent answers.

Ctrl-C cancels the current turn, Ctrl-D ends the conversation. Calls that ran before a turn was cancelled have receipts.
"""

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.chat_screen import ChatScreen
from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.lines import line_history, next_line, read_stdin
from tallystick.doors.cli.workspace import Here, running_tools

if TYPE_CHECKING:
    import asyncio

    from tallystick.agents.chat import Chat
    from tallystick.agents.conversation import Conversation

CANCELLED = "cancelled; what ran before that has its receipt"
COMMANDS = (
    "/agent ID   talk to another agent; `tally agents list` names them",
    "/new        begin a new session",
    "/quit       end; Ctrl-D does it too",
)


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "chat")(chat)


def chat(
    here: Here,
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", metavar="ID", help="The agent to ask. Default: the Chief of Staff.")
    ] = None,
    once: Annotated[
        str | None, typer.Option("--once", metavar="TEXT", help="Send this message and exit; - reads stdin.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", "-s", metavar="ID", help="Continue this session. Default: a new one.")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Use no model, even if an endpoint is set.")] = False,
) -> Exit:
    """Talk to an agent.

    Steps, receipts and what the check found go to stderr, the reply to stdout.
    Ctrl-C cancels a turn, Ctrl-D ends.
    """
    import asyncio

    from tallystick.agents.chat import Chat
    from tallystick.agents.turn_records import new_id
    from tallystick.app.agents import conversation_of
    from tallystick.gate.session import LOCAL_OWNER, Caller

    owner = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel="cli")
    first = Chat(message="", caller=owner, agent_id=agent, offline=offline, session_id=session or new_id("chat"))
    here.switch_on_for_chat()
    with here.gate(plugins=True, make=True) as gate, asyncio.Runner() as runner:
        talk = Talk(conversation=conversation_of(gate), runner=runner, shown=ChatScreen(here.screen), chat=first)
        if once is not None:
            return talk.say_once(here, read_stdin() if once == "-" else once)
        talk.introduce(here)
        with line_history(here):
            return talk.go_on(here)


@dataclass(kw_only=True)
class Talk:
    """A running conversation."""

    conversation: "Conversation"
    runner: "asyncio.Runner"
    shown: ChatScreen
    chat: "Chat"
    """The next message without its text: recipient and session."""

    def say(self, message: str) -> Exit:
        """Send a message and show the result.

        Raises:
            KeyboardInterrupt: Ctrl-C; the turn was cancelled.
        """
        from tallystick.agents.answers import Unanswered

        with running_tools(), self.shown.live():
            came = self.runner.run(self.conversation.chat(replace(self.chat, message=message), watch=self.shown.watch))
        return self.shown.unanswered(came) if isinstance(came, Unanswered) else self.shown.answered(came)

    def say_once(self, here: Here, message: str) -> Exit:
        """Send a single message."""
        try:
            return self.say(message)
        except KeyboardInterrupt:
            here.screen.note(CANCELLED)
            return Exit.INTERRUPTED

    def introduce(self, here: Here) -> None:
        """Show which agent and model answer.

        Raises:
            Refused: There is no such agent.
        """
        from tallystick.agents.answers import Unanswered

        to = self.conversation.crew.recipient(self.chat.agent_id, offline=self.chat.offline)
        if isinstance(to, Unanswered):
            raise Refused(to.advice, code=to.code)
        where = (
            to.endpoint.provider
            if to.endpoint.provider == to.endpoint.model
            else (f"{to.endpoint.provider} {to.endpoint.model}")
        )
        here.screen.note(f"{to.agent.name} ({to.agent.agent_id}), {where}, session {self.chat.session_id}")

    def go_on(self, here: Here) -> Exit:
        """Send one message after the other until the end of input."""
        if sys.stdin.isatty():
            here.screen.note("Ctrl-C cancels a turn, Ctrl-D exits, /help shows the commands")
        ended = Exit.OK
        while True:
            try:
                line = next_line()
            except KeyboardInterrupt:
                here.screen.note("")
                continue
            if line is None or line.strip() == "/quit":
                here.screen.note(f"to continue: tally chat --session {self.chat.session_id}{here.screen.there}")
                # With piped input the exit code is that of the last message; at a terminal the person has seen the
                # result.
                return Exit.OK if sys.stdin.isatty() else ended
            if line.startswith("/"):
                self._command(here, line.strip())
            elif line.strip():
                try:
                    ended = self.say(line)
                except KeyboardInterrupt:
                    here.screen.note(CANCELLED)

    def _command(self, here: Here, line: str) -> None:
        from tallystick.agents.turn_records import new_id

        name, _, rest = line.partition(" ")
        if name == "/new":
            self.chat = replace(self.chat, session_id=new_id("chat"))
        elif name == "/agent" and rest.strip():
            before, self.chat = self.chat, replace(self.chat, agent_id=rest.strip())
            try:
                self.introduce(here)
            except Refused as refused:
                self.chat = before
                here.screen.note(f"{refused.code}: {refused}")
            return
        else:
            for known in COMMANDS:
                here.screen.note(known)
            return
        self.introduce(here)
