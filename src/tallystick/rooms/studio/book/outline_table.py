"""The tables of an outline: one row an entry, read by the names of its columns."""

from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.book.blocks import Block, cells_of, is_ruler, links_in, unmarked
from tallystick.rooms.studio.book.entry import names_scene
from tallystick.rooms.studio.book.numbers import read_number

_COLUMNS = {
    "number": {
        "#",
        "no",
        "no.",
        "nr",
        "nr.",
        "number",
        "scene #",
        "scene no",
        "scene number",
        "ch",
        "chapter",
        "order",
    },
    "title": {"title", "scene", "name", "scene title", "scene name", "beat", "slug"},
    "pov": {"pov", "viewpoint", "point of view", "narrator", "p.o.v."},
    "act": {"act", "part", "book"},
    "scene": {"file", "link", "path", "scene file", "draft"},
}


@record
class Row:
    """One row of a table of scenes."""

    line: int
    title: str
    text: str
    number: int | None
    pov: str | None
    act: str | None
    scene: str | None


def rows_of(blocks: Sequence[Block]) -> Iterator[Row]:
    """The rows of all tables among the blocks that have a head which names scenes."""
    columns: dict[int, str] = {}
    last: Block | None = None
    for block in blocks:
        cells = cells_of(block.text)
        if last is None or block.line != last.line + 1:
            # Lines stand together in one table; the first of them is its head.
            columns = _columns(cells)
        elif columns and not is_ruler(cells):
            row = _row(block.line, cells, columns)
            if row is not None:
                yield row
        last = block


def _columns(cells: Sequence[str]) -> dict[int, str]:
    """Column → what it holds. Of the others each is text."""
    named = [unmarked(cell).lower().rstrip(":") for cell in cells]
    columns = {at: kind for at, name in enumerate(named) for kind, names in _COLUMNS.items() if name in names}
    kinds = set(columns.values())
    if not kinds & {"title", "number"}:
        return {}
    return columns


def _row(line: int, cells: Sequence[str], columns: dict[int, str]) -> Row | None:
    held = {kind: cells[at] for at, kind in reversed(columns.items()) if at < len(cells) and cells[at]}
    texts = [cell for at, cell in enumerate(cells) if at not in columns and cell]
    title = held.get("title", "")
    number = read_number(unmarked(held.get("number", "")).rstrip("."))
    if number is None and (counted := read_number(unmarked(title).rstrip("."))) is not None:
        # A column called *Scene* may hold the number; then the first text says what the scene is.
        number, title = counted, ""
    if not title:
        title, texts = (texts[0], texts[1:]) if texts else (f"Scene {number}" if number else "", [])
    if not unmarked(title):
        return None
    linked = held.get("scene", "")
    links = links_in(linked)
    scene = (links[0][0] if links else linked.strip(" `")) or names_scene(" ".join(cells)) or None
    return Row(
        line=line,
        title=title,
        text="\n".join(texts),
        number=number,
        pov=unmarked(held.get("pov", "")) or None,
        act=unmarked(held.get("act", "")) or None,
        scene=scene,
    )
