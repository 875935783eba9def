"""A report on one dataset, from its numbers to its text."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError
from tallystick.records import record
from tallystick.rooms.insight.analyse.context import period_where, two_periods
from tallystick.rooms.insight.analyse.sentence import name
from tallystick.rooms.insight.analyse.shifts import Side
from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.figures.facts import Facts
from tallystick.rooms.insight.figures.query import chosen
from tallystick.rooms.insight.figures.themes import themes_of
from tallystick.rooms.insight.model import Analysis, Dataset, rfc3339
from tallystick.rooms.insight.report.blocks import ReportNotes, Section
from tallystick.rooms.insight.report.field_sections import MOST_ANALYSES, asked, changes, condition, fields
from tallystick.rooms.insight.report.frame import Frame
from tallystick.rooms.insight.report.html import as_html
from tallystick.rooms.insight.report.markdown import as_markdown
from tallystick.rooms.insight.report.theme_sections import in_short, themes, volumes

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

FORMAT = 1
"""Of the appendix."""


@record
class ReportRequest:
    """The requested report."""

    dataset_id: int
    made_at: int
    """Epoch seconds."""
    compare_dataset_id: int | None = None
    run_id: int | None = None


@record
class Report:
    """A report, as Markdown or HTML."""

    title: str
    head: tuple[str, ...]
    """Lines under the title: which dataset, made when."""
    sections: tuple[Section, ...]
    appendix: dict[str, Any]
    """What a recheck reads: figures with their queries, quotes with their tickets."""

    @property
    def figures(self) -> list[dict[str, str]]:
        """Every number with its query."""
        found: list[dict[str, str]] = self.appendix["figures"]
        return found

    def markdown(self) -> str:
        """As Markdown."""
        return as_markdown(self.title, self.head, self.sections, self.appendix)

    def html(self) -> str:
        """As one page that needs nothing else."""
        return as_html(self.title, self.head, self.sections, self.appendix)


def build_report(store: "Store", wanted: ReportRequest) -> Report:
    """Make a report; the same tickets, groupings and answers at the same time give the same bytes.

    Raises:
        ToolError: A dataset or grouping is not there.
    """
    book = Figures(store)
    dataset, facts = _dataset(book, wanted.dataset_id)
    other = None if wanted.compare_dataset_id is None else _dataset(book, wanted.compare_dataset_id)[0]
    if wanted.run_id is not None and facts.clusters(wanted.run_id) is None:
        raise ToolError(
            f"There is no grouping {wanted.run_id} of this dataset.", status=404, hint="Run the clustering."
        )
    notes = ReportNotes()
    frame = Frame(
        book=book,
        notes=notes,
        dataset=dataset,
        facts=facts,
        themes=themes_of(store, facts, wanted.run_id),
        whole=chosen(dataset=dataset.dataset_id),
        sides=_sides(dataset, facts, other),
        other=other,
    )
    answers, _ = store.analyses(dataset_id=dataset.dataset_id, limit=MOST_ANALYSES)
    made_at = rfc3339(wanted.made_at)
    return Report(
        title=f"What the tickets of {name(dataset.name)} say",
        head=(f"Dataset {dataset.dataset_id}, file {dataset.file_hash[:12]}. Made at {made_at}.",),
        sections=tuple(_sections(frame, answers)),
        appendix={
            "format": FORMAT,
            "dataset_id": dataset.dataset_id,
            "file_hash": dataset.file_hash,
            "made_at": made_at,
            **notes.as_dict(),
        },
    )


def _sections(frame: Frame, answers: Sequence[Analysis]) -> Iterator[Section]:
    """The sections that have something to say, in the order of the report."""
    made = (in_short(frame), volumes(frame), *themes(frame), changes(frame), *fields(frame), *condition(frame))
    yield from (section for section in (*made, asked(frame, answers)) if section is not None)


def _dataset(book: Figures, dataset_id: int) -> tuple[Dataset, Facts]:
    dataset, facts = book.store.dataset(dataset_id), book.facts(dataset_id)
    if dataset is None or facts is None:
        raise ToolError(f"There is no dataset {dataset_id}.", status=404, hint="Take a file first: tool.ingest.upload.")
    return dataset, facts


def _sides(dataset: Dataset, facts: Facts, other: Dataset | None) -> tuple[Side, Side] | None:
    """An earlier dataset and this one; or the earlier and the later part of this one."""
    here = chosen(dataset=dataset.dataset_id)
    if other is not None:
        there = chosen(dataset=other.dataset_id)
        return Side(label=name(other.name), where=there, earlier=True), Side(label=name(dataset.name), where=here)
    periods = two_periods(facts)
    if periods is None:
        return None
    before, after = periods
    return (
        Side(label=before.label, where=here | period_where(before), earlier=True),
        Side(label=after.label, where=here | period_where(after)),
    )
