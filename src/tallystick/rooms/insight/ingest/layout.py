"""The layout of a file: which column is which field, by its header and the given mapping."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.records import record
from tallystick.rooms.insight.ingest.bounds import HEADER_ROWS, too_wide
from tallystick.rooms.insight.ingest.columns import FIELDS, fill_in, known_columns, plain
from tallystick.rooms.insight.ingest.dates import is_open, likely_order, order_of
from tallystick.rooms.insight.ingest.table import Row, Table, UnusableFile

SAMPLE = 2_000
"""Rows that are read first to decide the order of dates."""
DATES = ("created_at", "resolved_at")
SHOWN_COLUMNS = 12
NOT_USED = frozenset({"", "-"})
"""Marks in a mapping for a field without a column."""


@record
class Layout:
    """How the rows of one file are to be read."""

    header_line: int
    columns: tuple[str, ...]
    places: Mapping[str, int]
    """Field → place of its column."""
    day_first: Mapping[str, bool]
    """Date field → whether the day comes before the month."""
    guessed: tuple[str, ...] = ()
    """Date fields of which no value says it: every date could be read both ways."""

    def mapping(self) -> dict[str, str]:
        """Field → column, as it is shown and kept."""
        return {field: self.columns[place] for field, place in self.places.items()}


def check_mapping(mapping: Mapping[str, str]) -> dict[str, str]:
    """A mapping that can be kept.

    Raises:
        UnusableFile: `mapping_invalid`: a field that tickets do not have, or a column that means two.
    """
    unknown = sorted(set(mapping) - set(FIELDS))
    if unknown:
        raise _unfit(f"Tickets have no field {unknown[0][:60]!r}.")
    used = [column for column in mapping.values() if column not in NOT_USED]
    if len(set(used)) < len(used):
        raise _unfit("One column is given for two fields.")
    return dict(mapping)


def layout_of(table: Table, mapping: Mapping[str, str] | None = None, limits: ImportLimits = DEFAULT) -> Layout:
    """How a file is to be read.

    Raises:
        UnusableFile: `empty_file`, `header_only`, `too_many_columns`, `mapping_invalid` or `no_text_column`.
    """
    wanted = check_mapping(mapping or {})
    header_line, columns = header_of(table, wanted, limits)
    places = _places(columns, wanted)
    if "text" not in places:
        raise _no_text(columns, _longest(table, header_line))
    day_first, guessed = _orders(table, header_line, places)
    return Layout(header_line=header_line, columns=columns, places=places, day_first=day_first, guessed=guessed)


def header_of(table: Table, wanted: Mapping[str, str], limits: ImportLimits = DEFAULT) -> tuple[int, tuple[str, ...]]:
    """The line of a file's header, and the names of its columns.

    Args:
        table: The file.
        wanted: Field → column, as somebody said: a row with these names is the header.
        limits: How many columns there may be.

    Raises:
        UnusableFile: `empty_file` or `too_many_columns`.
    """
    first = list(islice((row for row in table.rows() if isinstance(row, Row)), HEADER_ROWS))
    if not first:
        raise UnusableFile(
            "empty_file", "The file holds no rows.", hint="Give a file with a header and tickets below it."
        )
    header = _header(first, wanted, limits.columns)
    if len(header.cells) > limits.columns:
        raise too_wide(len(header.cells), limits)
    return header.line, _names(header.cells)


def below_header(table: Table, header_line: int) -> Iterator[Row]:
    """The rows with tickets in them."""
    return (row for row in table.rows() if isinstance(row, Row) and row.line > header_line)


def _header(rows: Sequence[Row], wanted: Mapping[str, str], most: int) -> Row:
    """Exports may begin with a title or the date of the export; the header is the row that names most."""
    named = {plain(column) for column in wanted.values() if column not in NOT_USED}

    def names(row: Row) -> tuple[int, int, bool, int]:
        known = known_columns(row.cells[:most])
        said = len(named & set(map(plain, row.cells[:most])))
        return said, len(known) if "text" in known else 0, len(row.cells) > 1, -row.line

    # Below a header stand tickets; one of them might consist of words that name columns.
    best = max(rows, key=names)
    return best if names(best)[:2] > (0, 0) else rows[0]


def _names(cells: Sequence[str]) -> tuple[str, ...]:
    """Every column has a name of its own."""
    names: dict[str, None] = {}
    for place, cell in enumerate(cells, start=1):
        name = " ".join(cell.replace("\0", "").split())[:200] or f"column {place}"
        while name in names:
            name = f"{name} ({place})"
        names[name] = None
    return tuple(names)


def _places(columns: Sequence[str], wanted: Mapping[str, str]) -> dict[str, int]:
    given = {field: _place(columns, column) for field, column in wanted.items() if column not in NOT_USED}
    unwanted = [field for field, column in wanted.items() if column in NOT_USED]
    if "text" in unwanted:
        raise _unfit("Tickets need a text.")
    return fill_in(columns, given, unwanted)


def _place(columns: Sequence[str], wanted: str) -> int:
    if wanted in columns:
        return columns.index(wanted)
    alike = [place for place, column in enumerate(columns) if plain(column) == plain(wanted)]
    if not alike:
        raise _unfit(f"The file has no column {wanted[:60]!r}. It has: {_shown(columns)}.")
    return alike[0]


def _orders(table: Table, header_line: int, places: Mapping[str, int]) -> tuple[dict[str, bool], tuple[str, ...]]:
    """Date field → whether the day comes first; and the fields where that is a guess."""
    fields = [field for field in DATES if field in places]
    if not fields:
        return {}, ()
    sample = [row.cells for row in islice(below_header(table, header_line), SAMPLE)]
    decided: dict[str, bool] = {}
    guessed = []
    for field in fields:
        values = [cells[places[field]] for cells in sample if places[field] < len(cells)]
        if not is_open(values):
            continue
        order = order_of(values)
        if order is None:
            # Not yet: one value far below may settle it.
            rest = below_header(table, header_line)
            order = order_of(row.cells[places[field]] for row in rest if places[field] < len(row.cells))
        if order is None:
            guessed.append(field)
        decided[field] = likely_order(values) if order is None else order
    return decided, tuple(guessed)


def _longest(table: Table, header_line: int) -> int:
    """The place of the column with the longest words: most likely what customers wrote."""
    lengths: Counter[int] = Counter()
    for row in islice(below_header(table, header_line), HEADER_ROWS):
        lengths.update({place: len(cell) for place, cell in enumerate(row.cells)})
    return max(lengths, key=lambda place: (lengths[place], -place), default=0)


def _shown(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - SHOWN_COLUMNS} more" if len(columns) > SHOWN_COLUMNS else ""
    return ", ".join(column[:40] for column in columns[:SHOWN_COLUMNS]) + more


def _unfit(message: str) -> UnusableFile:
    return UnusableFile("mapping_invalid", message, hint=f"The fields are {', '.join(FIELDS)}.")


def _no_text(columns: Sequence[str], longest: int) -> UnusableFile:
    if len(columns) == 1:
        only = columns[0][:60]
        hint = f"There is one column, {only!r}. Check the delimiter (, ; tab |), or map it: text={only}"
    else:
        likely = columns[min(longest, len(columns) - 1)][:40]
        hint = f"Say which it is, e.g. text={likely}. The columns are: {_shown(columns)}."
    return UnusableFile("no_text_column", "No column is known to hold what customers wrote.", hint=hint)
