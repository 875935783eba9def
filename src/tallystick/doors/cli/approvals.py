"""`tally approvals`: list the calls that wait for approval, and answer them.

An answer is written to the ledger and runs nothing. The process that has the tool runs the call: at once if it still
waits for the answer, as the relay does for a while, otherwise when the call is made again or resumed.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.exits import Exit, Refused, UsageMistake
from tallystick.doors.cli.inbox import holding
from tallystick.doors.cli.person import TERMINAL, Person, Token, Yes, require_person
from tallystick.doors.cli.workspace import Here
from tallystick.doors.presentation.visible import hidden_in, visible, visible_json

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.gate.decide.approvals import Hold, Unmoved


STATES = ("held", "granted", "edited", "taken", "refused", "expired")
Id = Annotated[str, typer.Argument(metavar="ID", help="The request's id, as `tally approvals list` shows it.")]

_WHY = {
    "not_found": "No request of this id. `tally approvals list` shows them.",
    "not_waiting": "The request does not wait any more: it is {state}.",
    "expired": "The request has expired. Making the call again makes a new one.",
    "same_call_waits": "A request for exactly this call waits already. Answer that one.",
    "record_mismatch": "The stored request is not the one the ledger recorded. Run `tally audit verify`; reject it.",
    "not_masked": "Nothing is masked there. `tally approvals show` lists the fields that are.",
    "bad_arguments": "These arguments cannot be stored as JSON. Check their numbers and texts.",
}

_RUNS = "if its caller still waits it runs now, otherwise when the same call is made again, or resumed"


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    approvals = group(app, "approvals", "List and answer calls that wait for a person.")
    command(approvals, "list")(list_requests)
    command(approvals, "show")(show_request)
    command(approvals, "approve")(approve)
    command(approvals, "reject")(reject)
    command(approvals, "edit")(edit)
    command(approvals, "reveal")(reveal)


def list_requests(
    here: Here,
    state: Annotated[
        str | None, typer.Option("--state", metavar="STATE", help=f"Only these: {', '.join(STATES)}.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000)] = 50,
    offset: Annotated[int, typer.Option("--offset", metavar="N", min=0)] = 0,
) -> None:
    """List requests, the newest first.

    Without --workspace those of all workspaces of this user.
    """
    from tallystick.doors.cli.inbox import all_requests

    if state is not None and state not in STATES:
        raise UsageMistake(f"--state must be one of {', '.join(STATES)}.")
    found, total = all_requests(here, state, limit, offset)
    items = [{**hold.as_dict(), "workspace": str(place)} for place, hold in found]
    here.screen.data({"items": items, "total": total, "limit": limit, "offset": offset})
    if not found:
        here.screen.note("No requests are waiting.")
        return
    shows_place = len({place for place, _ in found}) > 1
    columns = ["id", "state", "tool", "caller", "session", "expires", *(["workspace"] if shows_place else [])]
    rows = [
        (h.approval_id, h.state, h.tool, h.caller, h.session.session_id, h.expires_at, str(place)) for place, h in found
    ]
    here.screen.table(columns, [row[: len(columns)] for row in rows])


def show_request(here: Here, approval_id: Id) -> None:
    """Show one request.

    The exact call, who made it, and what in it cannot be seen or is masked.
    """
    from tallystick.doors.presentation.requests import shown_request

    here = holding(here, approval_id)
    with here.gate() as gate:
        hold = _get(gate, approval_id)
    here.screen.data(shown_request(hold))
    _describe(here, hold, here.screen.line)


def approve(
    here: Here,
    approval_id: Id,
    always: Annotated[
        bool, typer.Option("--always", help="From now on, too: write a rule for exactly these arguments.")
    ] = False,
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Say yes to exactly this call. Needs a terminal or the start-up token.

    With --always a rule for exactly these arguments is written to the policy, after the difference is shown.
    """
    from tallystick.doors.cli.always import difference, with_rule
    from tallystick.settings import CONFIG_NAME

    here = holding(here, approval_id)
    person = require_person(here, token)
    policy = here.workspace / CONFIG_NAME
    with here.gate() as gate:
        hold = _get(gate, approval_id)
        before, after = with_rule(policy, hold) if always else ("", "")
        for line in difference(policy, before, after):
            _to_stderr(line)
        question = "Let this call through, now and always?" if always else "Let exactly this call through?"
        _ask(here, person, hold, question, yes=yes)
        answer = gate.approvals.approve(approval_id, person=person.name, channel=person.channel)
    done = _answered(here, answer, f"approved; {_RUNS}")
    if always:
        # After the answer: a call that waits is bound to the policy under which it was held.
        policy.write_text(after, encoding="utf-8")
        here.screen.line(f"written: {policy}")
    return done


def reject(
    here: Here,
    approval_id: Id,
    reason: Annotated[
        str,
        typer.Option(
            "--reason", "-r", metavar="TEXT", help="The reason; recorded in the ledger, not sent to the caller."
        ),
    ] = "",
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Say no, and why. Needs a terminal or the start-up token."""
    here = holding(here, approval_id)
    person = require_person(here, token)
    with here.gate() as gate:
        _ask(here, person, _get(gate, approval_id), "Refuse this call?", yes=yes)
        answer = gate.approvals.reject(approval_id, person=person.name, channel=person.channel, reason=reason)
    return _answered(here, answer, "rejected")


def edit(
    here: Here,
    approval_id: Id,
    args: Annotated[
        str | None,
        typer.Option("--args", metavar="JSON", help="All arguments as one JSON object. Default: opens your editor."),
    ] = None,
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Say yes to other arguments. Needs a terminal or the start-up token.

    They are checked from the top when the call is resumed.
    """
    from tallystick.doors.presentation.refusals import show_command

    here = holding(here, approval_id)
    person = require_person(here, token)
    if args is None and person.channel != TERMINAL:
        raise UsageMistake("Not a terminal; give the arguments with --args.")
    with here.gate() as gate:
        hold = _get(gate, approval_id)
        shown = hold.as_dict()["args"]
        text = args if args is not None else edited_text(visible_json(shown, indent=2) + "\n", suffix=".json")
        asked = _object(text)
        _ask(here, person, hold, "Let the call through with these arguments instead?", yes=yes, instead=asked)
        answer = gate.approvals.edit(approval_id, asked, person=person.name, channel=person.channel)
    shown_by = show_command(approval_id, here.workspace)
    return _answered(here, answer, f"approved with other arguments; to see them: {shown_by}")


def reveal(
    here: Here,
    approval_id: Id,
    field: Annotated[
        str, typer.Argument(metavar="FIELD", help="The masked argument, as `tally approvals show` names it.")
    ],
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Show a masked argument of a request. Needs a terminal or the start-up token.

    The ledger records who looked at which field, and not what stands in it.
    """
    from tallystick.gate.decide.approvals import Unmoved

    here = holding(here, approval_id)
    person = require_person(here, token)
    with here.gate() as gate:
        _get(gate, approval_id)
        if not person.agrees(f"Show {field} here, secrets and all?", yes=yes):
            raise Refused("Nothing was shown.", code="not_answered")
        shown = gate.approvals.reveal(approval_id, field, person=person.name, channel=person.channel)
    if isinstance(shown, Unmoved):
        raise _refusal(shown)
    here.screen.data({"approval_id": approval_id, "field": field, "value": shown.value})
    here.screen.block(visible_json(shown.value, indent=2))
    return Exit.OK


def _get(gate: "Gate", approval_id: str) -> "Hold":
    hold = gate.approvals.get(approval_id)
    if hold is None:
        raise Refused(_WHY["not_found"], code="approval_not_found")
    return hold


def _ask(
    here: Here, person: Person, hold: "Hold", question: str, *, yes: bool, instead: dict[str, Any] | None = None
) -> None:
    """Show the complete call, then ask: a person must see what they answer."""
    if person.channel == TERMINAL and not yes:
        _describe(here, hold, _to_stderr)
        if instead is not None:
            _to_stderr("instead:")
            for line in _changes(hold.as_dict()["args"], instead):
                _to_stderr(f"  {line}")
            _warn_of_hidden(instead, _to_stderr)
    if not person.agrees(question, yes=yes):
        raise Refused("Not answered; the request is still waiting.", code="not_answered")


def _describe(_here: Here, hold: "Hold", say: Any) -> None:
    from shlex import quote

    from tallystick.gate.record.masks import masked_fields

    told = hold.as_dict()
    say(f"request   {hold.approval_id} ({hold.at(time.time_ns() // 1_000_000)})")
    say(f"tool      {hold.tool}")
    say(f"caller    {hold.caller} via {hold.session.caller.channel}, session {hold.session.session_id}")
    for name in ("agent_id", "dry_run", "pointer", "created_at", "expires_at", "person", "channel", "note", "edited"):
        if name in told:
            say(f"{name:<9} {told[name]}")
    say("arguments:")
    _arguments(told["args"], say)
    for pointer in masked_fields(told["args"]):
        say(f"masked    {pointer}; to see it: tally approvals reveal {hold.approval_id} {quote(pointer)}")


def _arguments(args: Any, say: Any) -> None:
    for line in visible_json(args, indent=2).split("\n"):
        say(f"  {line}")
    _warn_of_hidden(args, say)


def _changes(before: Any, after: Any) -> list[str]:
    """Return what an edit changes, line by line."""
    from difflib import ndiff

    return [
        line.rstrip("\n")
        for line in ndiff(visible_json(before, indent=2).split("\n"), visible_json(after, indent=2).split("\n"))
        if not line.startswith("?")
    ]


def _warn_of_hidden(args: Any, say: Any) -> None:
    for finding in hidden_in(args):
        say(f"WARNING   characters that cannot be seen: {finding}")


def _to_stderr(text: str) -> None:
    import sys

    sys.stderr.write(visible(text) + "\n")


def _answered(here: Here, answer: "Hold | Unmoved", done: str) -> Exit:
    from tallystick.gate.decide.approvals import Hold

    if not isinstance(answer, Hold):
        raise _refusal(answer)
    here.screen.data(answer.as_dict())
    here.screen.line(f"{answer.approval_id}: {done}")
    return Exit.OK


def _refusal(answer: "Unmoved") -> Refused:
    state = "gone" if answer.hold is None else str(answer.hold.state)
    return Refused(_WHY[answer.why].format(state=state), code=f"approval_{answer.why}")


def _object(text: str) -> dict[str, Any]:
    from tallystick.gate.admit.strictjson import parse_json_object

    read = parse_json_object(text.encode(errors="surrogateescape"), 1024 * 1024)
    if not isinstance(read, dict):
        raise UsageMistake(f"The arguments must be one JSON object: {read.reason}.")
    return read


def edited_text(text: str, *, suffix: str) -> str:
    """Let the user edit a text and return what was saved.

    Raises:
        Refused: `editor_failed`, or `not_answered` if nothing was changed.
    """
    import shlex
    import subprocess
    import tempfile

    from tallystick.settings import text_editor

    with tempfile.TemporaryDirectory(prefix="tally-") as folder:
        path = Path(folder, f"arguments{suffix}")
        path.write_text(text, encoding="utf-8")
        try:
            subprocess.run([*shlex.split(text_editor()), str(path)], check=True)  # noqa: S603 - the user's own editor
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            message = f"The editor failed ({error}). Set EDITOR, or use --args."
            raise Refused(message, code="editor_failed") from None
        changed = path.read_text(encoding="utf-8", errors="surrogateescape")
    if changed == text:
        raise Refused("Nothing was changed; the request is still waiting.", code="not_answered")
    return changed
