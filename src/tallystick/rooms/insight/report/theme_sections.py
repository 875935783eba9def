"""Report sections on volumes over time and themes."""

from tallystick.rooms.insight.analyse.sentence import name
from tallystick.rooms.insight.analyse.shifts import Shift, Side, named_shifts, shifts_of, words_shifts
from tallystick.rooms.insight.figures.query import query, where_field
from tallystick.rooms.insight.figures.selection import select
from tallystick.rooms.insight.figures.themes import Theme, Themes
from tallystick.rooms.insight.report.blocks import (
    Block,
    Chart,
    Line,
    NumberPiece,
    Paragraph,
    Piece,
    Quotes,
    Section,
    Table,
)
from tallystick.rooms.insight.report.frame import Frame, text

MOST_THEMES = 30
MOST_QUOTED = 12
MOST_STEPS = 26
_WEEKS_UP_TO_DAYS = 182
_IN_SHORT = 3
_DAY_S = 86_400


def volumes(frame: Frame) -> Section:
    """How many, from when to when, and in which week or month."""
    first = frame.book.day(query("first_day", frame.whole))
    last = frame.book.day(query("last_day", frame.whole))
    line: list[Piece] = ["The dataset holds ", frame.count("all", frame.whole), " tickets"]
    blocks: list[Block] = []
    if first is not None and last is not None:
        line += [", written from ", frame.noted("First day", first), " to ", frame.noted("Last day", last), ", "]
        line += [frame.measure("Tickets a day", query("per_day", frame.whole), places=1), " a day on average"]
        blocks.append(_over_time(frame))
    customers = frame.book.figure(query("values", frame.whole, by="customer"))
    if customers is not None and customers.value:
        again = frame.measure("Customers who wrote again", query("repeat_customers", frame.whole))
        line += ["; ", frame.noted("Customers", customers), " customers wrote them, ", again, " more than once"]
    return Section(title="Volume", blocks=(Paragraph(line=(*line, ".")), *blocks))


def in_short(frame: Frame) -> Section:
    """The summary."""
    line: list[Piece] = [frame.count("all", frame.whole), " tickets"]
    found = frame.themes
    if found is not None and found.themes:
        line.append("; the largest themes are ")
        for place, theme in enumerate(found.themes[:_IN_SHORT]):
            line += [", " if place else "", f"“{name(theme.label)}” ("]
            line += [frame.share(theme.label, theme.where, frame.whole), ")"]
    line.append(".")
    sure = [shift for shift in (theme_shifts(frame, found) if found is not None else []) if shift.is_sure]
    for shift in sure[:_IN_SHORT]:
        before, after = (
            frame.noted(f"Before: {shift.label}", shift.before),
            frame.noted(f"After: {shift.label}", shift.after),
        )
        way = "rose" if shift.difference.value > 0 else "fell"
        line += [f" “{name(shift.label)}” {way} from ", before, " to ", after]
        line += [" (p ", frame.noted(f"p: {shift.label}", shift.p), ")."]
    if frame.sides is not None and sure:
        line.append(f" Compared are {frame.sides[0].label} and {frame.sides[1].label}.")
    return Section(title="In short", blocks=(Paragraph(line=tuple(line)),))


def unit_of(frame: Frame) -> str:
    """Weeks, or months where there would be too many of them."""
    dated = frame.facts.created[frame.facts.dated]
    days = int(dated.max() - dated.min()) // _DAY_S if len(dated) else 0
    return "week" if days <= _WEEKS_UP_TO_DAYS else "month"


def _over_time(frame: Frame) -> Chart:
    by = unit_of(frame)
    coded = frame.facts.field(by)
    bars: list[tuple[str, NumberPiece]] = []
    for step in () if coded is None else coded.names[-MOST_STEPS:]:
        counted = frame.count(f"{by} {step}", frame.whole, where_field(by, step))
        if isinstance(counted, NumberPiece):
            bars.append((step, counted))
    title = "Tickets by week (a week has the name of its Monday)" if by == "week" else "Tickets by month"
    return Chart(title=title, upright=True, bars=tuple(bars))


def themes(frame: Frame) -> list[Section]:
    """Themes with counts, shares and trend, and in the words of customers."""
    if frame.themes is None or not frame.themes.themes:
        advice = "The tickets have not been grouped, and no field says what they are about; run the clustering first."
        return [Section(title="Themes", blocks=(Paragraph(line=(advice,)),))]
    found, shown = frame.themes, frame.themes.themes[:MOST_THEMES]
    moved = {shift.label: shift for shift in theme_shifts(frame, found)}
    rows: list[tuple[Line, ...]] = []
    bars: list[tuple[str, NumberPiece]] = []
    for theme in shown:
        counted = frame.count(theme.label, frame.whole, theme.where)
        rows.append(
            (
                text(theme.label),
                (counted,),
                (frame.share(theme.label, theme.where, frame.whole),),
                *_trend(frame, theme, moved.get(theme.label)),
            )
        )
        if isinstance(counted, NumberPiece):
            bars.append((name(theme.label), counted))
    head = ("Theme", "Tickets", "Share", *_trend_head(frame))
    blocks: list[Block] = [Paragraph(line=_said_of(frame, found)), Table(head=head, rows=tuple(rows))]
    blocks.append(Chart(title="Tickets by theme", upright=False, bars=tuple(bars)))
    return [Section(title="Themes", blocks=tuple(blocks)), *_in_their_words(frame, shown)]


def theme_shifts(frame: Frame, found: Themes) -> list[Shift]:
    """How the themes differ between the two sides of the comparison."""
    if frame.sides is None:
        return []
    before, after = frame.sides
    if frame.other is not None:
        return (
            words_shifts(frame.book, found.themes, before, after) if found.run is not None else _by_field(frame, found)
        )
    if found.run is None:
        return _by_field(frame, found)
    shifts = shifts_of(frame.book, "cluster", before, after, run=found.run.run_id, most=MOST_THEMES)
    return named_shifts(shifts, found)


def _by_field(frame: Frame, found: Themes) -> list[Shift]:
    before, after = frame.sides or (Side(label="", where={}), Side(label="", where={}))
    return shifts_of(frame.book, found.source, before, after, most=MOST_THEMES)


def _trend_head(frame: Frame) -> tuple[str, ...]:
    if frame.sides is None:
        return ()
    return f"Share, {frame.sides[0].label}", f"Share, {frame.sides[1].label}", "Points", "p"


def _trend(frame: Frame, theme: Theme, shift: Shift | None) -> tuple[Line, ...]:
    if frame.sides is None:
        return ()
    if shift is None:
        return (("–",),) * 4  # noqa: RUF001 - a dash in a table
    before, after = frame.sides
    label = theme.label
    return (
        (frame.noted(f"Share, {before.label}: {label}", shift.before),),
        (frame.noted(f"Share, {after.label}: {label}", shift.after),),
        (frame.noted(f"Points: {label}", shift.difference),),
        (frame.p(label, shift.p), " *" if shift.is_sure else ""),
    )


def _said_of(frame: Frame, found: Themes) -> Line:
    """Where the themes come from, and how good they are."""
    if found.run is None:
        return (f"Themes are the values of {found.source}. A star marks what is more than chance.",)
    run = found.run
    line: list[Piece] = [f"Themes are the clusters of grouping {run.run_id} ({run.algorithm}, {run.model_name})"]
    for key, label in (("silhouette", "silhouette"), ("stability", "stability"), ("noise", "share of noise")):
        piece = frame.book.figure(query("run", run=run.run_id, of=key), places=3)
        if piece is not None:
            line += [f", {label} ", frame.noted(f"Grouping: {label}", piece)]
    return (*line, ". A star marks what is more than chance.")


def _in_their_words(frame: Frame, shown: tuple[Theme, ...]) -> list[Section]:
    sections: list[Section] = []
    for theme in shown[:MOST_QUOTED]:
        said = frame.quotes(theme.medoids or _first_of(frame, theme))
        if said:
            sections.append(Section(title=name(theme.label), blocks=(Quotes(said=said),), level=3))
    return sections


def _first_of(frame: Frame, theme: Theme) -> tuple[int, ...]:
    """Where no medoids are known: tickets of middling length, so neither `help` nor a novel."""
    places = select(frame.facts, theme.where).nonzero()[0].tolist()
    words = sorted(places, key=lambda at: (int(frame.facts.words[at]), int(frame.facts.ids[at])))
    middle = len(words) // 2
    return tuple(int(frame.facts.ids[at]) for at in words[middle : middle + 9])
