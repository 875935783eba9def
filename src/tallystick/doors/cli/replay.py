"""`tally replay`: repeat every recorded decision of a session and compare the results."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tallystick.app.replay import Replayed
    from tallystick.gate.decide.replay import DecisionSummary


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "replay")(replay)


def replay(here: Here, session: Annotated[str, typer.Argument(help="The session's id.")]) -> Exit:
    """Decide a session's recorded calls again.

    Feeds the recorded proposals to the recorded policy and context; every decision must come out the same.
    """
    from tallystick.app.replay import Replayer

    with here.gate() as gate:
        if session not in gate.ledger.sessions():
            raise Refused(
                f"No receipts of a session '{session:.100}'. `tally audit list` shows them.", code="no_session"
            )
        done = list(Replayer(gate.ledger.kept).replay(gate.ledger.session(session)))
    return show_replayed(here, done, changed_is_wrong=True)


def show_replayed(here: Here, done: "Iterable[Replayed]", *, changed_is_wrong: bool) -> Exit:
    """Show the decisions that changed, and those that can no longer be repeated."""
    counts: Counter[str] = Counter()
    noted: list[Replayed] = []
    for one in done:
        counts[one.result] += 1
        if one.result != "same":
            noted.append(one)
    total = sum(counts.values())
    here.screen.data(
        {
            "ok": counts["changed"] == 0,
            "total": total,
            **{result: counts[result] for result in ("same", "changed", "undecidable")},
            "items": [one.as_dict() for one in noted],
        }
    )
    if noted:
        here.screen.table(
            ["receipt", "tool", "result", "was", "would be"],
            [(one.receipt_id, one.tool, one.result, _words(one.was), _words(one.now) or one.why) for one in noted],
        )
    here.screen.line(
        f"{total} decisions: {counts['same']} the same, {counts['changed']} changed, "
        f"{counts['undecidable']} undecidable"
    )
    return Exit.REFUSED if changed_is_wrong and counts["changed"] else Exit.OK


def _words(answer: "DecisionSummary | None") -> str:
    if answer is None:
        return ""
    reason = answer.reason or (f"shadow: {answer.would}" if answer.would else "")
    return f"{answer.verdict} ({reason})" if reason else str(answer.verdict)
