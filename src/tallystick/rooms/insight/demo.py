"""Insight's part of `tally demo`: two months of support tickets, from the file to a rechecked report."""

from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.doors.cli.kit import DemoContext, DemoPart, DemoResult
from tallystick.rooms.insight.cli.calls import ingest, insight_in
from tallystick.rooms.insight.cli.report import make_report, say_answer, say_report

if TYPE_CHECKING:
    from tallystick.rooms.insight.report.report import Report

FOLDER = "data"
TICKETS = f"{FOLDER}/tideline-tickets.csv"
PAGE = "tideline-report"
QUESTION = "What changed between March and April?"
MAX_PAGES = 1000
TRY = (
    'tally insight search {dataset} "the app signs me out"',
    'tally insight ask {dataset} "Which department gets the most tickets?"',
    "tally insight recheck {page}",
)


def prepare(folder: Path) -> str:
    """Lay the sample tickets into a folder."""
    from tallystick.rooms.insight.sample.tickets import sample

    place = folder / TICKETS
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with place.open("xb") as file:
            file.write(sample())
        there = "new"
    except FileExistsError:
        there = "from an earlier demo, as you left it"
    return f"{TICKETS}, two months of a company's support tickets, all of it invented ({there})"


def play(stage: DemoContext) -> DemoResult:
    """Take the file, group it, ask, report, and compute every number of the report again."""
    gate, screen = stage.gate, stage.screen
    screen.line("Taken in, e-mail addresses, phones, cards and accounts replaced on the way:")
    taken = ingest(gate, screen, gate.workspace / TICKETS, name=None, columns=None)
    screen.line(
        f"  dataset {taken['dataset_id']}: {taken['row_count']} tickets of {taken['department_count']} departments"
    )
    made = make_report(gate, screen, taken["dataset_id"], question=QUESTION)
    room = insight_in(gate)
    screen.line()
    screen.line(f"You ask: {QUESTION}")
    answer = room.analyses.one(made["analysis"]["analysis_id"]).answer
    say_answer(screen, answer)
    screen.line()
    say_report(screen, made["report"], themes=4, quotes=1)
    page = _write(gate.workspace, made["report"])
    found = room.analyses.recheck((gate.workspace / page).read_text(encoding="utf-8"))
    screen.line()
    screen.line(f"The whole report, with charts, is {page}.")
    held = f"{found.checked - len(found.differences)} of {found.checked}"
    screen.line(f"Every number in it was computed again from the tickets: {held} hold.")
    return DemoResult(
        ok=found.ok and made["run"] is not None and bool(answer.get("sentences")),
        data={
            "dataset": taken,
            "run": made["run"],
            "analysis": made["analysis"],
            "report": page,
            "rechecked": found.as_dict(),
        },
        try_next=tuple(line.format(dataset=taken["dataset_id"], page=page) for line in TRY),
    )


def _write(workspace: Path, made: "Report") -> str:
    """The page, beside those of earlier demos."""
    for name in (PAGE, *(f"{PAGE}-{number}" for number in range(2, MAX_PAGES))):
        path = f"{FOLDER}/{name}.html"
        try:
            with (workspace / path).open("x", encoding="utf-8") as file:
                file.write(made.html())
        except FileExistsError:
            continue
        return path
    raise FileExistsError(PAGE)


PART = DemoPart(name="insight", title="What two months of support tickets say", prepare=prepare, play=play, order=20)
