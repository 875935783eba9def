"""`tally chat`: talk to an agent at the terminal. On a fresh machine, without any endpoint, the offline agent answers.

Ctrl-C cancels the turn that runs, Ctrl-D ends the conversation. What ran before a turn was cancelled has its receipt.
"""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.chat_screen import ChatScreen
from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.workspace import Here, running_tools

if TYPE_CHECKING:
    import asyncio

    from tallystick.bootstrap.conversation import Conversation
    from tallystick.bootstrap.conversation_asking import Chat

MAX_LINE = 1024 * 1024
"""Characters that are read of one message; what is too long for an agent is said by the conversation."""
HISTORY_LINES = 1000
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
        str | None, typer.Option("--agent", "-a", metavar="ID", help="Who is asked. Default: the Chief of Staff.")
    ] = None,
    once: Annotated[
        str | None, typer.Option("--once", metavar="TEXT", help="Ask only this and end; - reads stdin.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", "-s", metavar="ID", help="Go on with this session. Default: a new one.")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Use no model, whatever endpoint is set.")] = False,
) -> Exit:
    """Talk to an agent.

    Steps, receipts and what the check found go to stderr, the reply to stdout.
    Ctrl-C cancels a turn, Ctrl-D ends.
    """
    import asyncio

    from tallystick.bootstrap.conversation import Conversation
    from tallystick.bootstrap.conversation_after import new_id
    from tallystick.bootstrap.conversation_asking import Chat
    from tallystick.gate.session import LOCAL_OWNER, Caller

    owner = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel="cli")
    first = Chat(message="", caller=owner, agent_id=agent, offline=offline, session_id=session or new_id("chat"))
    with here.gate(plugins=True, make=True) as gate, asyncio.Runner() as runner:
        talk = Talk(conversation=Conversation(gate), runner=runner, shown=ChatScreen(here.screen), chat=first)
        if once is not None:
            return talk.say_once(here, _read_stdin() if once == "-" else once)
        talk.introduce(here)
        with _line_history(here):
            return talk.go_on(here)


@dataclass(kw_only=True)
class Talk:
    """A conversation under way."""

    conversation: "Conversation"
    runner: "asyncio.Runner"
    shown: ChatScreen
    chat: "Chat"
    """The next message but for its text: to whom, in which session."""

    def say(self, message: str) -> Exit:
        """Say something and show what comes of it.

        Raises:
            KeyboardInterrupt: Ctrl-C; the turn was cancelled.
        """
        from tallystick.bootstrap.conversation_answer import Unanswered

        with running_tools(), self.shown.live():
            came = self.runner.run(self.conversation.chat(replace(self.chat, message=message), watch=self.shown.watch))
        return self.shown.unanswered(came) if isinstance(came, Unanswered) else self.shown.answered(came)

    def say_once(self, here: Here, message: str) -> Exit:
        """Say only this."""
        try:
            return self.say(message)
        except KeyboardInterrupt:
            here.screen.note(CANCELLED)
            return Exit.INTERRUPTED

    def introduce(self, here: Here) -> None:
        """Say who is there.

        Raises:
            Refused: There is no such agent.
        """
        from tallystick.bootstrap.conversation_answer import Unanswered

        to = self.conversation.crew.addressed(self.chat.agent_id, offline=self.chat.offline)
        if isinstance(to, Unanswered):
            raise Refused(to.advice, code=to.code)
        where = (
            to.endpoint.provider
            if to.endpoint.provider == to.endpoint.model
            else (f"{to.endpoint.provider} {to.endpoint.model}")
        )
        here.screen.note(f"{to.agent.name} ({to.agent.agent_id}), {where}, session {self.chat.session_id}")

    def go_on(self, here: Here) -> Exit:
        """One message after the other, until the end of input."""
        if sys.stdin.isatty():
            here.screen.note("Ctrl-C cancels a turn, Ctrl-D ends, /help says more")
        ended = Exit.OK
        while True:
            try:
                line = _next_line()
            except KeyboardInterrupt:
                here.screen.note("")
                continue
            if line is None or line.strip() == "/quit":
                here.screen.note(f"to go on: tally chat --session {self.chat.session_id}")
                # Whoever pipes messages in learns how the last one ended; a person has seen it.
                return Exit.OK if sys.stdin.isatty() else ended
            if line.startswith("/"):
                self._command(here, line.strip())
            elif line.strip():
                try:
                    ended = self.say(line)
                except KeyboardInterrupt:
                    here.screen.note(CANCELLED)

    def _command(self, here: Here, line: str) -> None:
        from tallystick.bootstrap.conversation_after import new_id

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


def _next_line() -> str | None:
    """What was typed; None at the end of input."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline(MAX_LINE)
        return line.rstrip("\n") if line else None
    try:
        return input("> ")
    except EOFError:
        sys.stderr.write("\n")
        return None


def _read_stdin() -> str:
    return sys.stdin.buffer.read(MAX_LINE).decode("utf-8", errors="replace")


@contextlib.contextmanager
def _line_history(here: Here) -> Iterator[None]:
    """Arrow keys bring back earlier lines, also those of earlier conversations."""
    if not sys.stdin.isatty():
        yield
        return
    try:
        import readline
    except ImportError:  # some systems come without it; then there are no arrow keys
        yield
        return
    file: Path = here.settings.state_dir() / "chat-history"
    with contextlib.suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(HISTORY_LINES)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600)
            readline.write_history_file(file)
