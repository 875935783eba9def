"""How volumes move: by week or month, and whether the later half differs from the earlier."""

from tallystick.rooms.insight.analysis.desk import Desk, two_periods
from tallystick.rooms.insight.analysis.sentence import Sentence, listed, name, say
from tallystick.rooms.insight.analysis.volume import cannot
from tallystick.rooms.insight.figures.book import Figure
from tallystick.rooms.insight.figures.query import Given, on_side, query, where_field
from tallystick.rooms.insight.figures.selecting import select
from tallystick.rooms.insight.figures.significance import LEVEL

_MOST_STEPS = 12
_FEWEST_STEPS = 2
_WEEKS_UP_TO_DAYS = 100


def trend(desk: Desk) -> list[Sentence]:
    """The course of the chosen tickets, and whether it goes anywhere."""
    if desk.span is None:
        undated = desk.count(desk.whole, {"none": "created"})
        return [] if undated is None else [cannot(undated, "tickets do not say when they were written")]
    return [*_before_and_after(desk), *_share_moved(desk), *_steps(desk)]


def _share_moved(desk: Desk) -> list[Sentence]:
    """Where the share is asked for: whether the chosen tickets are a larger part of all than before."""
    periods = two_periods(desk.facts)
    part = on_side("part.", {key: value for key, value in desk.base.items() if key != "dataset"})
    if periods is None or "share" not in desk.asked.wants or not part or desk.asked.periods:
        return []
    early, late = (desk.whole | period.where() for period in periods)
    before, after = (desk.book.figure(query("share", side, part), places=1, unit=" %") for side in (early, late))
    p = desk.book.p(query("p_share", on_side("a.", early), on_side("b.", late), part))
    if before is None or after is None or p is None:
        return []
    sure = "more than chance" if p.value < LEVEL else "within what chance does"
    return [say(f"The share of tickets {desk.about} went from ", before, f" in {periods[0].label} to ", after,
                f" in {periods[1].label}, a difference {sure} (p ", p, ").")]  # fmt: skip


def _steps(desk: Desk) -> list[Sentence]:
    """Volumes one after the other, and the highest."""
    by = unit_of(desk)
    coded = desk.facts.field(by)
    # Of a period that is named, its own steps: those outside it would be zero only because they were left out.
    mine = {} if coded is None else coded.counts(select(desk.facts, desk.base))
    inside = [step for step in (() if coded is None else coded.names) if len(desk.asked.periods) != 1 or mine.get(step)]
    names = inside[-_MOST_STEPS:]
    found: list[tuple[str, Figure]] = []
    for step in names:
        counted = desk.count(desk.base, where_field(by, step))
        if counted is not None:
            found.append((step, counted))
    if len(found) < _FEWEST_STEPS:
        return []
    which = f" {desk.about}" if desk.about else ""
    unit = "week (named by its Monday)" if by == "week" else by
    parts: list[list[str | Figure]] = [[counted, f" in {step}"] for step, counted in found]
    highest = max(found, key=lambda each: each[1].value)
    return [
        say(f"By {unit} the tickets{which} number ", *listed([list(one) for one in parts]), "."),
        say(f"The highest {by} is {name(highest[0])} with ", highest[1], "."),
    ]


def unit_of(desk: Desk) -> str:
    """Days, weeks or months: as asked, else such that there are neither two nor a hundred."""
    if desk.asked.by in {"day", "week", "month"}:
        return desk.asked.by
    span = desk.span
    return "week" if span is None or (span.last - span.first).days <= _WEEKS_UP_TO_DAYS else "month"


def _before_and_after(desk: Desk) -> list[Sentence]:
    periods = two_periods(desk.facts)
    if periods is None or len(desk.asked.periods) == 1:
        return []
    early, late = ({**desk.base, **period.where()} for period in periods)
    before = desk.book.figure(query("per_day", early), places=1)
    after = desk.book.figure(query("per_day", late), places=1)
    if before is None or after is None:
        return []
    if before.value == after.value:
        return [
            say(
                "The volume stayed at ", before, f" a day in {periods[0].label} and ", after, f" in {periods[1].label}."
            )
        ]
    which = f"The volume of tickets {desk.about}" if desk.about else "The volume"
    p, way = _tested(desk, early, late), "rose" if after.value > before.value else "fell"
    said: list[str | Figure] = [
        f"{which} {way} from ",
        before,
        f" a day in {periods[0].label} to ",
        after,
        f" in {periods[1].label}",
    ]
    if p is None:
        return [say(*said, "; there are too few days for a test.")]
    sure = "more than chance" if p.value < LEVEL else "within what chance does"
    return [say(*said, f", which is {sure} (Mann-Whitney test on the tickets of each day, p ", p, ").")]


def _tested(desk: Desk, early: Given, late: Given) -> Figure | None:
    return desk.book.p(query("p_per_day", on_side("a.", early), on_side("b.", late)))
