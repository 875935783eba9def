"""`tally audit verify`, `tally audit rebuild` and `tally audit accept-loss`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.heads import read_head
from tallystick.doors.cli.outside import Key, read_verifier
from tallystick.doors.cli.person import Token, Yes, require_person
from tallystick.doors.cli.workspace import Here
from tallystick.errors import ConfigError

if TYPE_CHECKING:
    from tallystick.gate.record.audit import Progress
    from tallystick.gate.record.checkpoint import NoteVerifier
    from tallystick.gate.record.report import AuditProblem, AuditReport

MAX_SHOWN = 20
"""Maximum problems shown to people; --json lists more."""

WHAT_IT_CANNOT_SHOW = (
    "not shown: journal and mirror rolled back together. Keep `tally audit head` elsewhere and give it with --head."
)


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "verify")(verify)
    command(app, "rebuild")(rebuild)
    command(app, "accept-loss")(accept_loss)


def verify(
    here: Here,
    path: Annotated[
        Path | None,
        typer.Argument(metavar="[PATH]", help="The workspace. Default: the current one.", show_default=False),
    ] = None,
    head: Annotated[
        list[Path] | None,
        typer.Option("--head", metavar="FILE", help="A head kept elsewhere, or the file of a witness."),
    ] = None,
    key: Key = None,
) -> Exit:
    """Verify every receipt.

    Signature, chain, tree, head, mirror, payloads, session views and the key of each; says up to which receipt the log
    is proved, and by what. Changes nothing.
    """
    place = here if path is None else Here(named=path, screen=here.screen)
    outside = [read_head(file) for file in head or []]
    verifier = None if key is None else read_verifier(key)
    with here.screen.progress("verifying", None) as advance:
        report = _examine(place, outside, verifier, lambda done, total: advance(done, total or None))
    here.screen.data(report.as_dict())
    _show(here, report, given_from_outside=bool(outside))
    return Exit.OK if report.ok else Exit.REFUSED


def rebuild(here: Here) -> None:
    """Write the session views anew from the journal."""
    with here.gate() as gate:
        count = gate.ledger.rebuild_views()
    here.screen.data({"views": count})
    here.screen.line(f"{count} session views written anew")


def accept_loss(
    here: Here,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="The reason; kept in the ledger permanently.")
    ],
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Accept that records are lost.

    For a log that was deleted and begun anew, or a record that a crash tore after it was confirmed. From then on
    `tally audit verify` says so in a note. Needs a terminal or the start-up token.
    """
    person = require_person(here, token)
    from tallystick.gate.session import Caller, Session

    report = _examine(here, [], None)
    lost = [problem for problem in report.problems if problem.loss is not None]
    if not lost:
        raise Refused("There is no loss to accept. Run `tally audit verify` for the problems.", code="no_loss")
    for problem in lost:
        here.screen.note(_words(problem))
    if not person.agrees("Accept this loss permanently?", yes=yes):
        raise Refused("Nothing was accepted.", code="not_answered")
    where = Session(session_id="ledger", caller=Caller(subject=person.name, channel=person.channel))
    with here.gate() as gate:
        records = [gate.ledger.accept_loss(name, session=where, reason=reason).receipt_id for name in report.losses]
    here.screen.data({"accepted": list(report.losses), "receipt_ids": records})
    here.screen.line(f"accepted; {', '.join(records)} says so")
    return Exit.OK


def _examine(
    here: Here, outside: list[bytes], verifier: "NoteVerifier | None", progress: "Progress | None" = None
) -> "AuditReport":
    from tallystick.gate.record.report import AuditProblem, AuditReport
    from tallystick.storage.ledger import audit_folder, mirror_path, verify_workspace

    workspace = here.require_workspace()
    try:
        return verify_workspace(workspace, here.settings, outside=outside, verifier=verifier, progress=progress)
    except ConfigError as error:
        mirror = mirror_path(audit_folder(workspace), here.settings)
        known = outside or (mirror is not None and mirror.exists())
        if error.code != "ledger_missing" or not known:
            raise
        # A missing ledger is not an empty one: a head of it is stored outside.
        gone = AuditProblem(code="ledger_gone", reason="there is no ledger here, but a head of it is kept outside")
        return AuditReport(size=0, problems=(gone,), notes=(), warrants=(), root="")


def _show(here: Here, report: "AuditReport", *, given_from_outside: bool) -> None:
    screen = here.screen
    if report.warrants:
        rows = [(warrant.by, warrant.size, _receipt(warrant.size)) for warrant in report.warrants]
        screen.table(["proved by", "records", "up to"], rows)
    for note in report.notes[:MAX_SHOWN]:
        screen.line(f"note: {_words(note)}")
    for problem in report.problems[:MAX_SHOWN]:
        screen.line(f"bad: {_words(problem)}")
    if len(report.problems) > MAX_SHOWN:
        screen.line(f"… and {len(report.problems) - MAX_SHOWN} more; --json lists them")
    if not report.ok:
        screen.line(f"DOES NOT VERIFY: {_words(report.problems[0])}")
        return
    if report.size == 0:
        screen.line("ok: nothing is recorded yet")
        return
    by = " and ".join(report.proved_by)
    screen.line(f"ok: {report.size} records verify; proved up to {_receipt(report.proved_up_to)} by {by or 'nothing'}")
    if not given_from_outside and all(warrant.by != "witness" for warrant in report.warrants):
        screen.note(WHAT_IT_CANNOT_SHOW)


def _receipt(size: int) -> str:
    """Return the visible id of the last receipt in a log of this size; the second half of an id is random."""
    return f"rcpt_{size - 1:012x}…" if size else "-"


def _words(problem: "AuditProblem") -> str:
    where = problem.receipt_id or ("" if problem.seq is None else f"record {problem.seq}")
    session = f" (session {problem.session_id})" if problem.session_id else ""
    return f"{problem.code}: {where + ': ' if where else ''}{problem.reason}{session}"
