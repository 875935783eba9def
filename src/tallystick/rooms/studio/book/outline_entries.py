"""Entries of an outline and title lines of scenes: number, title, point of view, linked scene file.

Scene 3: The Harbour (POV: Mara)       3. **The Harbour** — Mara arrives [Mara POV]
Chapter IV - The Letter                [[SCN-the-harbour|The Harbour]]: Mara arrives

A table is read by its column names, one entry per row.
"""

import re
from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.book.blocks import Block, cells_of, is_ruler, links_in, unmarked
from tallystick.rooms.studio.book.numbers import NUMBER, read_number

MAX_TITLE = 80
"""Longest title in characters; longer text is a sentence."""
_TITLE_WORDS = 9

_LABEL = re.compile(
    rf"(scene|sc\.?|scn|chapter|ch\.?|beat|episode|kapitel|szene)[ \t]*+(?:#[ \t]*+)?({NUMBER})\b"
    r"(?:[ \t]*[:.)–—-]+[ \t]*|[ \t]+|\Z)",  # noqa: RUF001
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"#?([0-9]{1,4})(?:[.):][ \t]+|[ \t]+[–—-][ \t]+)(?=\S)")  # noqa: RUF001
_POV_NAME = r"([^\W\d_](?:[^()\[\],;:|\n]{0,58}?[^()\[\],;:|\n \t])??)"
_POV = r"(?:pov|p\.o\.v\.|viewpoint|point of view)"
_POV_FORMS = (
    rf"[(\[][ \t]*{_POV}[ \t]*+(?:[:=–—-][ \t]*+)?{_POV_NAME}[ \t]*[)\]]",  # noqa: RUF001
    rf"[(\[][ \t]*{_POV_NAME}(?:'s|’s)?[ \t]++{_POV}[ \t]*[)\]]",  # noqa: RUF001
    rf"(?:[,;|–—-][ \t]*|\A|[ \t]){_POV}[ \t]*[:=][ \t]*{_POV_NAME}[ \t]*(?=\Z|[.,;|–—])",  # noqa: RUF001
)
_POVS = tuple(re.compile(form, re.IGNORECASE) for form in _POV_FORMS)
_FIELD = re.compile(
    r"\W{0,6}(pov|p\.o\.v\.|viewpoint|point of view|narrator|scene|scene file|file|draft|link)"
    r"[*_ \t]{0,4}[:=][*_ \t]{0,8}(\S.*)",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"(?<![ \t])[ \t]+[–—-]{1,3}[ \t]+|:[ \t]+")  # noqa: RUF001
_BOLD = re.compile(r"(?:\*\*|__)([^*_\n]{1,120}?)[:.]?(?:\*\*|__)[ \t]*[:.–—-]{0,2}[ \t]*(.*)\Z")  # noqa: RUF001
_POV_FIELDS = frozenset({"pov", "p.o.v.", "viewpoint", "point of view", "narrator"})


@record
class Entry:
    """A parsed title line."""

    title: str
    rest: str
    """What follows the title on the same line."""
    label: str | None
    """`scene`, `chapter`, `beat`, where the line calls itself so."""
    number: int | None
    pov: str | None
    scene: str | None
    """The file or slug it names."""


def read_entry(text: str, *, sentence: bool) -> Entry:
    """Read a title line.

    Args:
        text: Without the marks of heading or list.
        sentence: The line may go on after the title, as list entries do.
    """
    pov, text = take_pov(text)
    scene = _named(text)
    label, number, rest = _take_number(text.strip())
    title, rest = _title(rest, sentence=sentence)
    if not title:
        title, rest = (f"{label.title()} {number}", rest) if label else (rest, "")
    return Entry(title=title, rest=rest, label=label, number=number, pov=pov, scene=scene)


def read_field(text: str) -> tuple[str, str] | None:
    """(`pov` or `scene`, its value) where a line is such a field, as `**POV:** Mara`."""
    found = _FIELD.match(text)
    if found is None:
        return None
    value = found.group(2)
    if found.group(1).lower() in _POV_FIELDS:
        # A sentence is no name: `Scene: the harbour at night, rain` says where, not whose eyes.
        name = unmarked(value).strip(" .,;*_")
        return ("pov", name) if len(name.split()) <= 4 else None  # noqa: PLR2004 - words of a name
    links = links_in(value)
    named = links[0][0] if links else value.strip(" `*_.")
    return ("scene", named) if links or _is_scene_name(named) else None


def names_scene(text: str) -> str | None:
    """The scene file that a line links to or names, wherever in it."""
    for target, _ in links_in(text):
        if _is_scene_name(target):
            return target
    bare = re.search(r"(?<![\w/-])(SCN-[\w-]{1,120}(?:\.md)?)", text)
    return bare.group(1) if bare else None


def take_pov(text: str) -> tuple[str | None, str]:
    """The point of view named in a line, and the line without it."""
    for form in _POVS:
        if found := form.search(text):
            return unmarked(found.group(1)).strip(), (text[: found.start()] + text[found.end() :]).strip(" \t,;|")
    return None, text


def _take_number(text: str) -> tuple[str | None, int | None, str]:
    plain = text.lstrip("*_ ")
    lead = text[: len(text) - len(plain)]
    if (found := _LABEL.match(plain)) and (number := read_number(found.group(2))) is not None:
        return _whole(found.group(1)), number, lead + plain[found.end() :]
    if found := _NUMBERED.match(plain):
        return None, int(found.group(1)), lead + plain[found.end() :]
    return None, None, text


def _whole(label: str) -> str:
    short = label.lower().rstrip(".")
    return {"sc": "scene", "scn": "scene", "szene": "scene", "ch": "chapter", "kapitel": "chapter"}.get(short, short)


def _title(text: str, *, sentence: bool) -> tuple[str, str]:
    bold = _BOLD.match(text)
    if bold and sentence:
        return _clean(bold.group(1)), unmarked(bold.group(2))
    plain = unmarked(text)
    if not sentence:
        return _clean(plain), ""
    if split := _SPLIT.search(plain):
        head = plain[: split.start()]
        if len(head) <= MAX_TITLE and len(head.split()) <= _TITLE_WORDS:
            return _clean(head), plain[split.end() :].strip()
    return _clean(plain), ""


def _clean(title: str) -> str:
    return unmarked(title).strip(" \t:–—-|").rstrip(".") or ""  # noqa: RUF001


def _named(text: str) -> str | None:
    links = links_in(text)
    if links and unmarked(text).startswith(links[0][1]) and not re.match(r"https?:", links[0][0]):
        # A line that starts with a link is about its target.
        return links[0][0]
    return names_scene(text)


def _is_scene_name(target: str) -> bool:
    name = target.rpartition("/")[2]
    return name.upper().startswith("SCN-") or "scenes/" in target.lower() or name.lower().endswith(".md")


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
            # Consecutive rows are one table; the first row is its head.
            columns = _columns(cells)
        elif columns and not is_ruler(cells):
            row = _row(block.line, cells, columns)
            if row is not None:
                yield row
        last = block


def _columns(cells: Sequence[str]) -> dict[int, str]:
    """Column number → field; other columns are text."""
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
