"""Report sections by field: department, product, priority, times, complexity, data quality and past questions."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from tallystick.rooms.insight.analyse.context import field_name
from tallystick.rooms.insight.analyse.sentence import name
from tallystick.rooms.insight.analyse.shifts import BY, Shift, shifts_of
from tallystick.rooms.insight.figures.calculator import Figure
from tallystick.rooms.insight.figures.query import Given, chosen, on_side, query, where_field
from tallystick.rooms.insight.figures.selection import LONG_WORDS
from tallystick.rooms.insight.model import Analysis
from tallystick.rooms.insight.report.blocks import Block, Line, Paragraph, Piece, Section, Table
from tallystick.rooms.insight.report.frame import Frame, text

MOST_VALUES = 15
GAPS = ("created", "department", "product", "category", "priority", "status", "resolved", "reassigned")
"""Fields whose absence is worth saying."""
MOST_ANALYSES = 10
_MOST_SHIFTS = 10
_LONGEST_QUESTION = 300


def fields(frame: Frame) -> list[Section]:
    """A table for each field that the tickets fill."""
    return [_field(frame, by) for by in ("department", "product", "priority", "status") if frame.facts.filled(by)]


def _field(frame: Frame, by: str) -> Section:
    coded = frame.facts.field(by)
    counts = {} if coded is None else coded.counts(frame.facts.all)
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    rows: list[tuple[Line, ...]] = []
    for value in ranked[:MOST_VALUES]:
        where = frame.whole | where_field(by, value)
        rows.append(
            (
                text(value),
                (frame.count(f"{by} {value}", where),),
                (frame.share(f"{by} {value}", where_field(by, value), frame.whole),),
                (frame.measure(f"Median hours: {by} {value}", query("median_hours", where), places=1),),
                (frame.measure(f"Reassignments: {by} {value}", query("mean_reassignments", where), places=2),),
            )
        )
    head = (by.title(), "Tickets", "Share", "Median hours to resolve", "Reassignments a ticket")
    blocks: list[Block] = [Table(head=head, rows=tuple(rows))]
    if len(ranked) > MOST_VALUES:
        more = frame.measure(f"Values of {by}", query("values", frame.whole, by=by))
        blocks.append(Paragraph(line=("The most frequent of ", more, ".")))
    return Section(title=f"By {by}", blocks=tuple(blocks))


def changes(frame: Frame) -> Section | None:
    """What differs between the two sides, with tests."""
    if frame.sides is None:
        return None
    before, after = frame.sides
    sides = (on_side("a.", before.where), on_side("b.", after.where))
    line: list[Piece] = [f"{after.label} against {before.label}: ", frame.count(after.label, after.where)]
    line += [" tickets against ", frame.count(before.label, before.where)]
    p = frame.book.p(query("p_per_day", *sides))
    if p is not None:
        line += ["; tickets a day: Mann-Whitney, p ", frame.noted("p: tickets a day", p)]
    hours = frame.book.p(query("p_hours", *sides))
    if hours is not None:
        line += ["; hours to resolve: "]
        line += [
            frame.measure(f"Median hours: {after.label}", query("median_hours", after.where), places=1),
            " against ",
        ]
        line += [frame.measure(f"Median hours: {before.label}", query("median_hours", before.where), places=1)]
        line += [", Mann-Whitney, p ", frame.noted("p: hours to resolve", hours)]
    blocks: list[Block] = [Paragraph(line=(*line, "."))]
    for by in BY:
        blocks += _mix(frame, by, sides)
    title = "What changed" if frame.other is None else f"What changed against {name(frame.other.name)}"
    return Section(title=title, blocks=tuple(blocks))


def _mix(frame: Frame, by: str, sides: tuple[Given, Given]) -> list[Block]:
    if frame.sides is None:
        return []
    before, after = frame.sides
    p = frame.book.p(query("p_mix", *sides, by=by))
    v = frame.book.figure(query("v_mix", *sides, by=by), places=2)
    if p is None or v is None:
        return []
    line: Line = (
        f"The mix by {field_name(by)}: chi-squared test, p ",
        frame.noted(f"p: mix by {by}", p),
        ", Cramér's V ",
        frame.noted(f"Cramér's V: mix by {by}", v),
        ".",
    )
    sure = [shift for shift in shifts_of(frame.book, by, before, after, most=_MOST_SHIFTS) if shift.is_sure]
    if not sure:
        return [Paragraph(line=line)]
    head = (by.title(), before.label, after.label, "Points", "p (Holm)", "Cohen's h")
    return [Paragraph(line=line), Table(head=head, rows=tuple(_shift_row(frame, by, shift) for shift in sure))]


def _shift_row(frame: Frame, by: str, shift: Shift) -> tuple[Line, ...]:
    label = f"{by} {shift.label}"
    return (
        text(shift.label),
        (frame.noted(f"Share before: {label}", shift.before),),
        (frame.noted(f"Share after: {label}", shift.after),),
        (frame.noted(f"Points: {label}", shift.difference),),
        (frame.p(label, shift.p),),
        (frame.noted(f"Cohen's h: {label}", shift.effect),),
    )


def condition(frame: Frame) -> list[Section]:
    """Complexity and reassignments, then what the data themselves are like."""
    whole = frame.whole
    words = frame.measure("Median words", query("median_words", whole))
    hard = frame.share("complex", chosen(complex="yes"), whole)
    line: list[Piece] = ["A ticket has ", words, " words in the median; ", hard]
    line += [f" count as complex ({LONG_WORDS} words or more, or reassigned more than once)."]
    work: list[Block] = [Paragraph(line=tuple(line))]
    mean = frame.book.figure(query("mean_reassignments", whole), places=2)
    if mean is not None:
        moved = frame.share("reassigned", chosen(reassigned=1), whole)
        again = frame.share("reassigned more than once", chosen(reassigned=2), whole)
        noted = frame.noted("Reassignments a ticket", mean)
        work.append(
            Paragraph(line=(moved, " were reassigned, ", again, " more than once; ", noted, " times in the mean."))
        )
    slow = frame.book.figure(query("slow_hours", whole), places=1)
    if slow is not None:
        median = frame.measure("Median hours", query("median_hours", whole), places=1)
        line = ["Half of the tickets were resolved within ", median, " hours, the slowest tenth took "]
        work.append(Paragraph(line=(*line, frame.noted("Hours of the slowest tenth", slow), " or more.")))
    return [Section(title="Complexity and reassignments", blocks=tuple(work)), _quality(frame)]


def _quality(frame: Frame) -> Section:
    whole = frame.whole
    rows = [
        (
            (f"Without {field_name(gap)}",),
            (frame.count(f"without {gap}", whole, chosen(none=gap)),),
            (frame.share(f"without {gap}", chosen(none=gap), whole),),
        )
        for gap in GAPS
    ]
    repeated = chosen(repeated="yes")
    rows.append(
        (
            ("Text of an earlier ticket",),
            (frame.count("repeated", whole, repeated),),
            (frame.share("repeated", repeated, whole),),
        )
    )
    bad = frame.measure("Rows that could not be read", query("bad_rows", whole))
    checksum = frame.book.figure(query("checksum", whole))
    line: list[Piece] = ["Rows of the file that could not be read: ", bad]
    if checksum is not None:
        plain = Figure(value=checksum.value, shown=str(checksum.value), query=checksum.query)
        line += [". Checksum of all tickets: ", frame.noted("Checksum of all tickets", plain)]
    return Section(
        title="Quality of the data",
        blocks=(Paragraph(line=(*line, ".")), Table(head=("Gap", "Tickets", "Share"), rows=tuple(rows))),
    )


def asked(frame: Frame, analyses: Iterable[Analysis]) -> Section | None:
    """The newest answers, with their figures."""
    blocks: list[Block] = []
    for one in analyses:
        line: list[Piece] = [f"{_plain(one.question)[:_LONGEST_QUESTION]} — "]
        for sentence in one.answer.get("sentences", ()):
            line.append(f"{_plain(sentence['text'])} ")
            figures = [_figure(each) for each in sentence.get("figures", ())]
            noted = [frame.noted(f"Answer {one.analysis_id}", each) for each in figures if each is not None]
            for place, each in enumerate(noted):
                line += ["(" if not place else ", ", each]
            line.append(") " if noted else "")
        blocks.append(Paragraph(line=tuple(line)))
    return Section(title="Questions that were asked", blocks=tuple(blocks)) if blocks else None


def _plain(said: str) -> str:
    return " ".join(said.split())


def _figure(stored: Mapping[str, Any]) -> Figure | None:
    shown = str(stored.get("shown", ""))
    return Figure(value=Decimal(stored["value"]), shown=shown or stored["value"], query=stored["query"])
