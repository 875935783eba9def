"""The numbers of a typed query as sentences, each with the figures it rests on."""

from tallystick.rooms.insight.analyse.sentence import Sentence, listed, name, quote_of, say
from tallystick.rooms.insight.figures.calculator import NUMBER, Figure, Figures, cell_of
from tallystick.rooms.insight.query.columns import Columns
from tallystick.rooms.insight.query.description import label_of, side_described
from tallystick.rooms.insight.query.execution import QueryResult, ResultRow
from tallystick.rooms.insight.query.model import DAYS, HOURS

MOST_ROWS = 30
"""Groups that are told in words; a table shows all."""
_STRICT, _USUAL = 0.01, 0.05
_P_PLACES = 4


class QueryAnswer:
    """Tells the result of one query."""

    def __init__(self, book: Figures, result: QueryResult, other: str | None = None) -> None:
        self._book, self._result, self._query = book, result, result.query
        self._columns: Columns = book.columns(result.query.dataset_id, result.query.run)
        self._other = other
        shares = self._query.measure == "share"
        self._unit = (
            " %" if shares else " hours" if self._query.of == HOURS else " days" if self._query.of == DAYS else ""
        )
        self._places = 2 if self._query.measure != "count" else 0

    def sentences(self) -> tuple[Sentence, ...]:
        """The answer; no tickets are an answer, too."""
        if self._query.measure == "tickets":
            return self._tickets()
        if self._query.summarise is not None:
            return (say("That is ", self._whole("summary", places=2), ", over ", self._whole("groups"), " groups."),)
        if self._query.compare is not None:
            return self._compared()
        if self._query.by:
            return self._grouped()
        return self._one()

    def _one(self) -> tuple[Sentence, ...]:
        row = self._result.rows[0] if self._result.rows else None
        if row is None or row.now.value is None:
            return (say("None of the ", self._whole("total"), " tickets has a value there."),)
        value = self._cell(row, "value")
        measure = self._query.measure
        if measure == "count":
            return (say("There are ", value, " tickets."),)
        if measure == "share":
            return (say("It is ", value, " of the ", self._whole("total"), " tickets."),)
        if measure == "distinct":
            return (say("There are ", value, " different values."),)
        return (say("It is ", value, ", computed from ", self._cell(row, "tickets", plain=True), " tickets."),)

    def _grouped(self) -> tuple[Sentence, ...]:
        rows = self._result.rows
        if not rows:
            return (say("There is no such group among the ", self._whole("total"), " tickets."),)
        parts: list[list[str | Figure]] = [
            [*self._label(row), ": ", self._cell(row, "value")] for row in rows[:MOST_ROWS] if row.now.value is not None
        ]
        if not parts:
            return (say("None of the ", self._whole("total"), " tickets has a value there."),)
        said = [say(*listed([list(part) for part in parts]), ".")]
        if len(rows) > MOST_ROWS or (self._query.limit or 0) > 1:
            said.append(say("There are ", self._whole("groups"), " groups in all."))
        missing = self._whole("ungrouped")
        if missing.value and self._query.limit is None and not self._query.having and self._query.measure == "count":
            said.append(say(missing, " tickets have no value there."))
        return tuple(said)

    def _compared(self) -> tuple[Sentence, ...]:
        # A label may hold no number that is none of the result's; how it was read says what the sides are.
        first = _unnumbered(side_described(self._query, self._columns, first=True, other=self._other), "before")
        second = _unnumbered(side_described(self._query, self._columns, first=False), "after")
        said: list[Sentence] = []
        for row in self._result.rows[:MOST_ROWS]:
            if row.first is None or row.first.value is None or row.now.value is None:
                continue
            label = [*self._label(row), ": "] if row.key else []
            said.append(
                say(
                    *label,
                    f"{first} ",
                    self._cell(row, "first"),
                    f", {second} ",
                    self._cell(row, "value"),
                    ".",
                )
            )
            said += self._more(row)
        if not said:
            return (say("One of the sides has no value among its ", self._whole("total"), " tickets."),)
        return tuple(said)

    def _more(self, row: ResultRow) -> list[Sentence]:
        """The difference, and whether it is more than chance."""
        said = []
        change = row.cell("change")
        points = self._query.measure == "share"
        unit = " percentage points" if points else self._unit
        difference = self._book.cell(self._result, row, "difference", places=self._places, unit=unit)
        if change is None or points:
            said.append(say("The difference is ", difference, "."))
        else:
            ratio = self._book.cell(self._result, row, "ratio", places=4)
            percent = self._book.cell(self._result, row, "change", places=1, unit=" %")
            said.append(say("The difference is ", difference, ", or ", percent, "; the ratio is ", ratio, "."))
        p = cell_of(self._result, row, "p") if self._query.measure in {"count", "share"} else None
        if p is not None and row.first is not None and row.now.hits + row.first.hits < row.total + row.first_total:
            said.append(self._tested(row, p))
        return said

    def _tested(self, row: ResultRow, p: float) -> Sentence:
        figure = self._book.cell(self._result, row, "p", places=_P_PLACES)
        shown = Figure(
            value=figure.value,
            shown=f"= {figure.shown}" if figure.value else f"< {1 / 10**_P_PLACES:.4f}",
            query=figure.query,
        )
        verdict = (
            "significant at the 1 % level" if p < _STRICT
            else "significant at the 5 % level only" if p < _USUAL
            else "not significant"
        )  # fmt: skip
        shares = (self._book.cell(self._result, row, cell, places=2, unit=" %") for cell in ("first_share", "share"))
        return say(
            "The share went from ",
            next(shares),
            " to ",
            next(shares),
            f", a difference that is {verdict} (p ",
            shown,
            ").",
        )

    def _tickets(self) -> tuple[Sentence, ...]:
        found = self._book.store.tickets_of([one for one, _ in self._result.tickets])
        said = []
        for ticket_id, _ in self._result.tickets:
            ticket = found.get(ticket_id)
            if ticket is not None:
                said.append(say("A ticket says ", quote_of(ticket), "."))
        if not said:
            return (say("There are ", self._whole("total"), " such tickets."),)
        return tuple(said)

    def _label(self, row: ResultRow) -> list[str | Figure]:
        """The name of a group; a number in it is a figure of its own, read from the group's key."""
        parts: list[str | Figure] = []
        for place, (key, one) in enumerate(zip(row.key, self._query.by, strict=True)):
            parts += [", "] if place else []
            if one.bucket is not None:
                parts.append(key)
                continue
            shown = name(label_of(self._columns.find(one.column), key))
            for at, piece in enumerate(NUMBER.split(shown)):
                is_number = at % 2 == 1
                parts.append(self._book.cell(self._result, row, f"key{place}.{at // 2}") if is_number else piece)
        return parts

    def _cell(self, row: ResultRow, cell: str, *, plain: bool = False) -> Figure:
        unit = "" if plain else self._unit
        return self._book.cell(self._result, row, cell, places=0 if plain else self._places, unit=unit)

    def _whole(self, cell: str, *, places: int = 0) -> Figure:
        return self._book.cell(self._result, None, cell, places=places)


def _unnumbered(label: str, instead: str) -> str:
    return instead if NUMBER.search(label) else name(label)
