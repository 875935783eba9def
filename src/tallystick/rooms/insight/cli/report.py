"""`tally insight report` and `recheck`, and how clusters and answers are printed."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.kit import Exit, Force, Here, Refused, Screen, UsageMistake, command
from tallystick.errors import ConfigError, ToolError
from tallystick.rooms.insight.cli.calls import call, ingest, insight_in, is_workspace, open_or_borrow

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.rooms.insight.report.blocks import Block, Line
    from tallystick.rooms.insight.report.report import Report

QUESTION = "How many tickets are there per theme?"
SHOWN = ("In short", "Themes")
"""Sections that a terminal shows, and after them what customers said; the rest is in the file."""
MAX_REPORT_BYTES = 50_000_000
NOT_KEPT = (
    "Nothing was kept, so this report cannot be rechecked. `tally -w DIR insight report …` keeps the tickets in DIR; "
    "`tally -w DIR insight recheck REPORT` finds them there."
)
PAGES = (".html", ".htm")
TEXTS = (".md", ".markdown", ".txt")
NOISE = "-1"
"""The group of tickets that are in none."""


def add_report(insight: typer.Typer) -> None:
    """Add these commands to the group."""
    command(insight, "report")(report)
    command(insight, "recheck")(recheck)


def report(
    here: Here,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Tickets: CSV, XLSX, JSON or JSON Lines.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the whole report: .html with charts, .md.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="FILE", help="Earlier tickets to compare with.")
    ] = None,
    question: Annotated[
        str, typer.Option("--question", metavar="TEXT", help="The question that it answers.", show_default=False)
    ] = QUESTION,
    columns: Annotated[str | None, typer.Option("--map", metavar="FIELD=COLUMN,…", help="Column mapping.")] = None,
    force: Force = False,
) -> Exit:
    """Say what a file of tickets is about: themes with counts, shares, trend and quotes.

    Works at once: without a workspace here or above, a temporary one is used. Personal data is replaced before anything
    is stored.
    """
    if out is not None and out.suffix.lower() not in {*PAGES, *TEXTS}:
        raise UsageMistake(f"A report is written as {', '.join((*PAGES, *TEXTS))}; '{out.name}' is none of these.")
    with open_or_borrow(here) as (gate, stays):
        made = _make(gate, here.screen, file, compare=compare, question=question, columns=columns)
        written = made["report"].html() if _is_page(out) else made["report"].markdown()
    if out is not None:
        here.screen.document(written.encode(), out, force=force)
    beside = {"out": None if out is None else str(out), "workspace": str(here.workspace) if stays else None}
    kept = {name: made[name] for name in ("dataset", "run", "analysis")}
    here.screen.data({**kept, "report_markdown": made["report"].markdown(), **beside})
    say_report(here.screen, made["report"])
    if not stays:
        here.screen.note(NOT_KEPT)
    return Exit.OK


def recheck(
    here: Here, file: Annotated[Path, typer.Argument(metavar="REPORT", help="A report, as Markdown or HTML.")]
) -> Exit:
    """Compute every number of a report again from the tickets, and say which differ.

    Needs the workspace in which the report was made: there the tickets are.
    """
    text = _report_text(file)
    if not is_workspace(here):
        raise ConfigError(
            "The report's tickets are in the workspace in which it was made, and there is none here. Give it with "
            "--workspace DIR. If it was made without one, nothing was kept: make it again with "
            "`tally -w DIR insight report TICKETS --out REPORT`.",
            code="no_workspace",
        )
    with here.gate(plugins=True) as gate:
        found = insight_in(gate).analyses.recheck(text)
    here.screen.data(found.as_dict())
    for one in found.differences:
        here.screen.line(one.sentence())
    many = f"{found.checked} numbers and quotes"
    if found.checked:
        here.screen.line(f"{many}: all as the report says" if found.ok else f"{many}: {len(found.differences)} differ")
    return Exit.OK if found.ok else Exit.REFUSED


def _report_text(file: Path) -> str:
    if not file.is_file():
        there = "is not a file" if file.exists() else "is not there"
        raise Refused(f"{file} {there}. Give a report that `tally insight report --out` wrote.", code="file_unreadable")
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_REPORT_BYTES + 1)
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}.", code="file_unreadable") from None
    if len(data) > MAX_REPORT_BYTES:
        raise Refused(f"{file} is too large to be one of our reports.", code="file_too_large")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{file} cannot be read as text.", code="file_unreadable") from None


def make_report(gate: "Gate", screen: Screen, dataset_id: int, *, question: str, compare: int | None = None) -> Any:
    """Embed, cluster, ask and report on a dataset; return run, analysis and report.

    A handful of tickets cannot be grouped; the report is then made from what the columns say.
    """
    run = None
    try:
        call(gate, screen, "tool.embed.run", {"dataset_id": dataset_id}, doing="Embedding")
        run = call(gate, screen, "tool.cluster.run", {"dataset_id": dataset_id, "algorithm": "ward"}, doing="Grouping")
    except ToolError as error:
        screen.note(f"not grouped: {error}")
    asked = {"dataset_id": dataset_id, "question": question, "compare_dataset_id": compare}
    analysis = call(gate, screen, "tool.analysis.run", asked, doing="Answering")
    call(gate, screen, "tool.reports.get", {"dataset_id": dataset_id})
    made = insight_in(gate).analyses.report(dataset_id, compare_dataset_id=compare)
    return {"run": run, "analysis": analysis, "report": made}


def _make(
    gate: "Gate", screen: Screen, file: Path, *, compare: Path | None, question: str, columns: str | None
) -> dict[str, Any]:
    earlier = None if compare is None else ingest(gate, screen, compare, name=None, columns=columns)
    dataset = ingest(gate, screen, file, name=None, columns=columns)
    with_it = None if earlier is None else earlier["dataset_id"]
    return {"dataset": dataset, **make_report(gate, screen, dataset["dataset_id"], question=question, compare=with_it)}


def _is_page(out: Path | None) -> bool:
    return out is not None and out.suffix.lower() in PAGES


# -- on the screen -------------------------------------------------------------------------------------------------


def say_report(screen: Screen, made: "Report", *, themes: int = 12, quotes: int = 2) -> None:
    """The gist of a report: in short, the themes, and what customers said of the largest."""
    screen.line(made.title)
    # In customers' words themes stand one level down.
    quoted = [section for section in made.sections if section.level > 2][:themes]  # noqa: PLR2004
    for section in [*(section for section in made.sections if section.title in SHOWN), *quoted]:
        screen.line()
        screen.line(section.title)
        for block in section.blocks:
            _say_block(screen, block, quotes)


def _say_block(screen: Screen, block: "Block", quotes: int) -> None:
    from tallystick.rooms.insight.report.blocks import Paragraph, Quotes, Table

    if isinstance(block, Paragraph):
        screen.line(_plain(block.line))
    elif isinstance(block, Table):
        screen.table(list(block.head), [[_plain(cell) for cell in row] for row in block.rows])
    elif isinstance(block, Quotes):
        for said in block.said[:quotes]:
            screen.line(f"  “{said.words}”  ticket:{said.ticket_id}")


def _plain(line: "Line") -> str:
    return "".join(piece if isinstance(piece, str) else piece.figure.shown for piece in line)


def say_clusters(screen: Screen, counts: Mapping[str, int], figures: Mapping[str, Any]) -> None:
    """Groups, the largest first, with their labels and the ticket that is most like them."""
    told = {str(one["cluster_id"]): one for one in figures.get("clusters", ())}
    rows = []
    for cluster in sorted(counts, key=lambda name: (-counts[name], name)):
        about: Mapping[str, Any] = told.get(cluster, {})
        label = about.get("label", "" if cluster != NOISE else "in no group")
        medoid: Any = next(iter(about.get("medoids", ())), None)
        quote = medoid.get("text", "") if isinstance(medoid, Mapping) else ""
        rows.append((cluster, counts[cluster], label, quote[:80]))
    screen.table(["group", "tickets", "about", "for example"], rows)


def say_answer(screen: Screen, answer: Mapping[str, Any]) -> None:
    """How the question was read, then the sentences of the answer, each with its tickets."""
    if answer.get("reading") and answer.get("backend") == "offline":
        screen.line(str(answer["reading"]))
    for sentence in answer.get("sentences", ()):
        tickets = " ".join(f"ticket:{one['ticket_id']}" for one in sentence["tickets"])
        screen.line(f"{sentence['text']}{f'  [{tickets}]' if tickets else ''}")
    if answer.get("query_line"):
        screen.note(f"Query: {answer['query_line']}")
    if answer.get("truncated"):
        screen.note("The budget was spent before the analyst was done; this is what it had by then.")


def say_result(screen: Screen, found: Mapping[str, Any]) -> None:
    """The rows of a typed query."""
    screen.line(f"{found['reading']}:")
    if found["summary"] is not None:
        screen.line(f"{found['summary']:,.10g}, over {found['groups']:,} groups")
    for row in found["rows"]:
        first = "" if row.get("first") is None else f"{row['first']:,.10g} → "
        value = "no value" if row["value"] is None else f"{row['value']:,.10g}"
        screen.line(f"{', '.join(row['key']) or 'all'}  {first}{value}  ({row['tickets']:,} tickets)")
    for ticket_id in found["tickets"]:
        screen.line(f"ticket:{ticket_id}")
    screen.note(f"{found['total']:,} tickets are meant.")
