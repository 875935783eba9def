"""The two sides of a comparison: periods, values of one column, or this dataset and another."""

from tallystick.records import record
from tallystick.rooms.insight.query.columns import Column, Columns
from tallystick.rooms.insight.query.model import Comparison, Filter
from tallystick.rooms.insight.question.conditions import CREATED, Condition, Conditions, Count, Unclear
from tallystick.rooms.insight.question.periods import DataSpan, earlier_than
from tallystick.rooms.insight.question.scan import Scan
from tallystick.rooms.insight.question.word_run import Item

_COMPARING = ("compare", "ratio", "amount_of_change", "grow", "significant")
_NEAR = 3


@record
class Question:
    """What is known when a question is read."""

    scan: Scan
    columns: Columns
    dataset_id: int
    span: DataSpan | None
    compare_dataset_id: int | None = None
    agents: tuple[Column, ...] = ()
    """Columns that say who worked on a ticket."""
    count: Count | None = None


class SideReader:
    """What one question says of two sides; keeps which items have found their use."""

    def __init__(self, asked: Question) -> None:
        self._asked, self._scan, self._columns = asked, asked.scan, asked.columns
        self._reader = Conditions(asked.scan, asked.columns, asked.span, asked.count)
        self._conditions = self._reader.read()
        self._used = self._reader.used

    def sides(self) -> tuple[Comparison | None, list[Condition]]:
        """Both sides, and the conditions that both share."""
        scan, conditions = self._scan, self._conditions
        asks = scan.has(*_COMPARING) or (scan.has("by") and any(one.said == "against" for one in scan.of("by")))
        moves = asks or scan.has("other_dataset") or any(_moves(one) for one in scan.of("low", "high"))
        periods = [one for one in conditions if one.period is not None]
        conditions = self._conditions = _once(conditions)
        periods = [one for one in periods if one in conditions]
        if len(periods) > 1 and not self._reader.having:
            one, two = sorted(periods[:2], key=lambda each: each.period.first)  # type: ignore[union-attr]
            return self._sides(one, two, conditions)
        if periods and self._is_before_and_after(periods[0]):
            day = periods[0].filters[0].values[0]
            first, second = (Filter(column=CREATED, op=op, values=(day,)) for op in ("under", "at_least"))
            self._use("compare")
            return (
                Comparison(first=(first,), second=(second,), show=self._show()),
                [one for one in conditions if one is not periods[0]],
            )
        if self._asked.compare_dataset_id is not None and (moves or scan.has("bucket")):
            self._use("other_dataset", "compare", "grow", "significant")
            self._use_other_words()
            return Comparison(dataset_id=self._asked.compare_dataset_id, show=self._show()), conditions
        if asks and not self._reader.having and (pair := self._pair()) is not None:
            return self._sides(*pair, conditions)
        span = self._asked.span
        if scan.has("grow") and periods and span is not None and periods[0].period is not None:
            before = earlier_than(periods[0].period, span)
            if before is None:
                raise Unclear("The data begin with that period; there is nothing to compare it with.")
            bounds = ("at_least", before.first.isoformat()), ("under", periods[0].period.first.isoformat())
            first_side = tuple(Filter(column=CREATED, op=op, values=(day,)) for op, day in bounds)
            self._use("grow", "compare", "significant")
            return (
                Comparison(first=first_side, second=periods[0].filters, show=self._show()),
                [one for one in conditions if one is not periods[0]],
            )
        return None, conditions

    def _sides(self, one: Condition, two: Condition, conditions: list[Condition]) -> tuple[Comparison, list[Condition]]:
        show = self._show()
        self._use("compare", "grow", "ratio", "significant", "by" if self._against() else "compare")
        shared = [each for each in conditions if each is not one and each is not two]
        return Comparison(first=one.filters, second=two.filters, show=show), shared

    def _against(self) -> bool:
        return any(one.said == "against" for one in self._scan.of("by"))

    def _pair(self) -> tuple[Condition, Condition] | None:
        """Two values of one column: the first side is the one that is compared with."""
        valued = [one for one in self._conditions if one.value is not None]
        for place, one in enumerate(valued):
            other = next((each for each in valued[place + 1 :] if each.column == one.column), None)
            if other is not None:
                between = self._scan.words[one.end : other.at]
                backwards = self._scan.has("ratio") or bool({"than", "outnumber"} & set(between))
                return (other, one) if backwards else (one, other)
        return None

    def _is_before_and_after(self, one: Condition) -> bool:
        words = self._scan.words[max(0, one.at - 3) : one.at]
        return len(words) > 2 and words[-3] == "before" and words[-1] in {"from", "since", "after"}  # noqa: PLR2004

    def _use_other_words(self) -> None:
        """`both months`, `against the other month`: the dataset that is compared with has been named by them."""
        for one in self._scan.of("bucket"):
            before = self._scan.words[max(0, one.at - 4) : one.at]
            if {"both", "the", "each", "two", "other", "last", "this"} & set(before):
                self._used.add(one.at)
                near = [each for each in self._scan.of("by", "number") if 0 <= one.at - each.end <= _NEAR]
                self._used |= {each.at for each in near}
        if self._against():
            self._use("by")

    def _show(self) -> str:
        scan = self._scan
        shares = [one for one in scan.of("share") if one.said.startswith(("percent", "%"))]
        if scan.has("amount_of_change"):
            self._use("amount_of_change")
            self._used |= {one.at for one in shares}
            return "change" if shares else "difference"
        if scan.has("ratio"):
            return "ratio"
        if any(
            one.said in {"more", "fewer"}
            for one in scan.of("high", "low")
            if scan.words[max(0, one.at - 1)] in {"many", "much"}
        ):
            return "difference"
        if scan.has("which") and (scan.has("grow") or any(_moves(one) for one in scan.of("low", "high"))):
            return "difference"
        return "difference" if any(one.said == "difference" for one in scan.of("compare")) else "both"

    def _use(self, *kinds: str) -> None:
        self._used |= {one.at for one in self._scan.of(*kinds)}


def _once(conditions: list[Condition]) -> list[Condition]:
    """What is said twice is meant once: `more from women … the ratio female to male`."""
    return [one for at, one in enumerate(conditions) if all(one.filters != each.filters for each in conditions[:at])]


def _moves(one: Item) -> bool:
    """Whether a word says that something became more or less."""
    return one.kind == "low" and one.said.split()[0] in {
        "lost",
        "fell",
        "fallen",
        "dropped",
        "decreased",
        "decrease",
        "drop",
        "fall",
        "lose",
    }
