"""Terminal output of a conversation: live steps and receipts on stderr, the reply on stdout, then the check's findings.

All text from models and tools goes through `visible`, like everything the command line prints.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.screen import Screen, say_error
from tallystick.doors.presentation.counts import counted
from tallystick.doors.presentation.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from tallystick.agents.answers import Answered, Unanswered
    from tallystick.agents.conversation import Waiting
    from tallystick.gate.reply.findings import Findings, Item
    from tallystick.turns.result import Step

STATES = {"asking": "asking", "checking": "checking the reply"}
MAX_ARGS = 100
"""Maximum characters of a call's arguments shown in a step."""


class ChatScreen:
    """Shows a conversation in the terminal."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._silent = screen.quiet or screen.as_json
        self._status: Status | None = None

    # -- while it runs -------------------------------------------------------------------------------------------------

    @contextmanager
    def live(self) -> Iterator[None]:
        """Show a status line during a turn if stderr is a terminal."""
        if self._silent or not sys.stderr.isatty():
            yield
            return
        with self._console().status("asking", spinner="dots") as status:
            self._status = status
            try:
                yield
            finally:
                self._status = None

    def watch(self, what: "Step | str | Waiting") -> None:
        """Show a step, a state or a queue position as it happens."""
        if isinstance(what, str):
            self._now(STATES.get(what, what))
        elif hasattr(what, "position"):
            self._now(f"waiting: {what.position} before you at this endpoint")
            if self._status is None:
                self._note(f"  waiting: {what.position} before you at this endpoint")
        elif what.kind == "call":
            self._note(f"  {what.index}  {_call(what)}", style="red" if what.code else "cyan")

    # -- when it has ended ---------------------------------------------------------------------------------------------

    def answered(self, answered: "Answered") -> Exit:
        """Show the result of a message; return the exit code for a command that sent only this one."""
        self._screen.data(answered.as_dict())
        result = answered.result
        if result.held is not None:
            self._note(f"  held for approval until {result.held.expires_at}", style="yellow")
            self._note(
                f"  to allow it: tally approvals approve {result.held.approval_id}{self._screen.there}; then ask again"
            )
            return Exit.HELD
        if result.rejected is not None:
            return self._refused(result.rejected.text, result.rejected.code, result.findings)
        if result.reply is not None:
            self._reply(result.reply, result.findings)
            return Exit.OK
        if result.abstained:
            self._screen.line("abstained: this does not concern the agent's role")
            return Exit.OK
        self._note(f"  {result.stop_hook or 'the turn gave no reply'}", style="red")
        return Exit.REFUSED

    def unanswered(self, why: "Unanswered") -> Exit:
        """Show why there was no turn, or why the model did not answer."""
        say_error(why.code, why.advice, as_json=self._screen.as_json)
        from tallystick.gate.codes import Category

        return Exit.CONFIG if why.category is Category.TOOL_UNAVAILABLE else Exit.REFUSED

    def _reply(self, text: str, findings: "Findings | None") -> None:
        self._screen.block(text)
        if findings is None:
            self._note("  not checked: raw text of the model", style="yellow")
            return
        self._items(findings)
        for item in findings.unsure:
            self._note(f"  unsure: {item.source}", style="yellow")
        word = "an access request: valid, and proves nothing" if findings.request is not None else "evidence holds"
        if findings.unsure:
            word = f"{word}; {counted(len(findings.unsure), 'sentence')} undecided, so no credit"
        self._note(f"  {word} ({findings.receipt_id})", style="yellow" if findings.unsure else "green")

    def _refused(self, text: str, code: str, findings: "Findings | None") -> Exit:
        """Show a reply that failed the check: marked as unverified, and not on stdout."""
        for line in text.split("\n"):
            self._note(f"  unverified | {line}", style="dim")
        if findings is not None:
            self._items(findings)
        reason = "" if findings is None or findings.reason is None else f": {findings.reason}"
        self._note(f"  refused: {code}{reason}", style="red")
        return Exit.REFUSED

    def _items(self, findings: "Findings") -> None:
        for item in findings.items:
            style = "green" if item.ok else "red"
            self._note(f"  {'ok' if item.ok else 'no'}  {item.kind}: {_found(item)}", style=style)

    # -- the terminal --------------------------------------------------------------------------------------------------

    def _now(self, text: str) -> None:
        if self._status is not None:
            self._status.update(visible(text))

    def _note(self, text: str, *, style: str = "") -> None:
        if self._silent:
            return
        if sys.stderr.isatty():
            from rich.text import Text

            # Text, not markup: a model's output must not create colours or links.
            self._console().print(Text(visible(text), style=style), soft_wrap=True)
        else:
            self._screen.note(text)

    def _console(self) -> "Console":
        if self._status is not None:
            # Use the console that draws the status line, so that this text appears above it.
            return self._status.console
        from rich.console import Console

        return Console(stderr=True, highlight=False)


def _call(step: "Step") -> str:
    """Summarise a call in one line: tool, arguments, result, receipt."""
    outcome = step.outcome
    tool, args = ("no call", None) if outcome is None else (outcome.tool or "no call", outcome.args)
    given = "" if not args else f" {_short(args)}"
    came = step.code or ("handed back" if outcome is not None and outcome.handed_back else "ok")
    if outcome is not None and outcome.held is not None:
        came = "held"
    return f"{tool}{given}  {came}  {step.receipt_id or ''}".rstrip()


def _short(args: Any) -> str:
    import json

    text = json.dumps(args, ensure_ascii=False)
    return text if len(text) <= MAX_ARGS else f"{text[:MAX_ARGS]}…"


def _found(item: "Item") -> str:
    if not item.ok:
        return f"{item.source}: {item.reason or item.code}"
    found = item.matched
    if found is None or found.first_line is None:
        return item.source
    return f"{found.path}:L{found.first_line}-L{found.last_line}"
