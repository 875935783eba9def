"""Require a person: somebody at a terminal, or somebody with the server's start-up token.

An agent can run `tally` like anyone else. Actions reserved for people (answering held calls, erasing, changing keys)
therefore need a terminal, or the token that `tally serve` printed. The token is read from the command line or from
stdin and never looked up for the caller: then it would prove nothing.
"""

import os
import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from tallystick.doors.cli.exits import Refused
from tallystick.doors.cli.workspace import Here
from tallystick.doors.presentation.visible import visible

Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        metavar="TOKEN",
        help="The start-up token that `tally serve` printed; - reads it from stdin.",
        show_default=False,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Skip the confirmation.", show_default=False)]

TERMINAL = "terminal"
TOKEN = "token"  # noqa: S105 - the name of a channel
_MAX_TOKEN = 4096


@dataclass(frozen=True, kw_only=True)
class Person:
    """The person who runs the command, and the channel that shows it."""

    name: str
    channel: str

    def agrees(self, question: str, *, yes: bool) -> bool:
        """Ask for confirmation, unless `--yes` or the token was given."""
        if yes or self.channel == TOKEN:
            return True
        sys.stderr.write(f"{visible(question)} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in {"y", "yes"}


def require_person(here: Here, token: str | None) -> Person:
    """Return the person who runs this command.

    Raises:
        Refused: `person_required` without a terminal or token, `token_invalid` with a wrong one.
    """
    if token is not None:
        _check_token(here, sys.stdin.readline(_MAX_TOKEN).strip() if token == "-" else token)  # noqa: S105 - the name for stdin
        return Person(name=user_name(), channel=TOKEN)
    from tallystick.doors.identity import person_at_terminal

    if not person_at_terminal():
        message = "This needs a person: run it in a terminal, or give the start-up token of `tally serve` with --token."
        raise Refused(message, code="person_required")
    return Person(name=user_name(), channel=TERMINAL)


def _check_token(here: Here, given: str) -> None:
    from tallystick.doors.identity import StartupToken

    kept = StartupToken.kept(state_dir=here.settings.state_dir(), workspace=here.workspace)
    if kept is None or not kept.matches(given):
        message = "This is not the start-up token of a server that runs for this workspace. `tally serve` prints it."
        raise Refused(message, code="token_invalid")


def user_name() -> str:
    """Return the name of the account; not from the environment, which anyone can set."""
    from pwd import getpwuid

    try:
        return getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid:{os.getuid()}"
