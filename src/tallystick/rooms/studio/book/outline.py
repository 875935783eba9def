"""Reads an outline in the forms that authors use.

    headings    # Act I  /  ## Scene 3: The Harbour (POV: Mara)  /  what happens
    lists       ## Act I  /  1. **The Harbour** — Mara arrives      (entries below an entry are its text)
    tables      | # | Scene | POV | What happens |

What counts as an entry is decided once for the whole file: the headings that call themselves scenes; else list
entries that do; else headings called chapters; else the lowest headings with text under them; else lists and tables.
A part of the file that has none of these but a list is read by its list, so forms may be mixed. Sections such as
*Notes* or *Characters* are no story.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.studio.book.blocks import Block, blocks_of, unmarked
from tallystick.rooms.studio.book.front_matter import read_front_matter
from tallystick.rooms.studio.book.model import Beat, Outline
from tallystick.rooms.studio.book.numbers import NUMBER, read_number
from tallystick.rooms.studio.book.outline_entries import Entry, Row, names_scene, read_entry, read_field, rows_of

MAX_BEATS = 5_000
_ACT = re.compile(rf"(?:act|part|book|volume|teil|akt)[ \t]+({NUMBER})\b", re.IGNORECASE)
_STAGE = re.compile(
    r"(?:the[ \t]+)?(?:beginning|middle|end|ending|set-?up|confrontation|resolution|first|second|third|fourth|final|"
    r"last)(?:[ \t]+(?:act|part|half))?\Z",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?:notes?|characters?|cast|dramatis personae|synopsis|premise|logline|themes?|timeline|research|ideas|"
    r"(?:open )?questions|todo|to do|setting|settings|world|structure|summary|overview|legend|key|changelog|"
    r"deleted scenes|cut scenes)\Z",
    re.IGNORECASE,
)


@record
class _Section:
    """A heading and the blocks up to the next heading."""

    heading: Block | None
    entry: Entry | None
    inside: tuple[Block, ...]


@record
class _Shape:
    """Which form the file is in."""

    level: int | None
    """The heading level of entries; None if entries are list items."""
    acts_at: int | None
    """The heading level of acts."""
    labelled_items: bool
    """Only list entries that call themselves scenes are entries; the others are text."""


def parse_outline(source: Source) -> Outline:
    """Read an outline. Any text can be read; at worst it has no entries."""
    first = read_front_matter(source).body_line
    sections = _sections(list(blocks_of(source.lines, first)))
    beats: list[Beat] = []
    acts: list[str] = []
    for beat in _beats(sections, _shape(sections), acts):
        beats.append(beat)
        if beat.act is not None and beat.act not in acts:
            acts.append(beat.act)
        if len(beats) == MAX_BEATS:
            break
    return Outline(source=source, beats=tuple(beats), acts=tuple(acts))


def _sections(blocks: Sequence[Block]) -> list[_Section]:
    at = [index for index, block in enumerate(blocks) if block.kind == "heading"]
    bounds = [-1, *at, len(blocks)]
    made: list[_Section] = []
    for start, end in pairwise(bounds):
        heading = blocks[start] if start >= 0 else None
        entry = read_entry(heading.text, sentence=False) if heading else None
        made.append(_Section(heading=heading, entry=entry, inside=tuple(blocks[start + 1 : end])))
    return made


def _shape(sections: Sequence[_Section]) -> _Shape:
    labels: Counter[tuple[str | None, int]] = Counter()
    levels: Counter[int] = Counter()
    for section in sections:
        if section.heading is None or section.entry is None or _is_act(section) or _is_aside(section):
            continue
        label = "scene" if section.entry.label in {"scene", "beat"} or section.entry.scene else section.entry.label
        labels[label, section.heading.depth] += 1
        levels[section.heading.depth] += 1
    items = sum(_is_labelled(block) for section in sections for block in section.inside if block.kind == "item")
    level = _level(labels, levels, items=items, listed=_listed(sections))
    return _Shape(level=level, acts_at=_acts_at(sections, level), labelled_items=items > 1)


def _level(labels: Counter[tuple[str | None, int]], levels: Counter[int], *, items: int, listed: bool) -> int | None:
    """The level of headings that are entries."""
    scenes = {depth: count for (label, depth), count in labels.items() if label == "scene"}
    if scenes:
        return max(scenes, key=lambda depth: (scenes[depth], depth))
    if items > 1:
        return None
    chapters = {depth: count for (label, depth), count in labels.items() if label == "chapter"}
    if chapters:
        return max(chapters, key=lambda depth: (chapters[depth], depth))
    lowest = max((depth for depth, count in levels.items() if count > 1 or not listed), default=None)
    # One heading alone is the book's title.
    return None if lowest is None or (listed and levels[lowest] <= 1) else lowest


def _listed(sections: Sequence[_Section]) -> bool:
    return any(block.kind in {"item", "row"} for section in sections for block in section.inside)


def _acts_at(sections: Sequence[_Section], level: int | None) -> int | None:
    """Without acts by name, the headings just above the entries are the acts, if there are several."""
    if any(_is_act(section) for section in sections):
        return None
    above = Counter(
        section.heading.depth
        for section in sections
        if section.heading and (level is None or section.heading.depth < level) and not _is_aside(section)
    )
    several = [depth for depth, count in above.items() if count > 1]
    return min(several) if several else None


def _beats(sections: Sequence[_Section], shape: _Shape, acts: list[str]) -> Iterator[Beat]:
    """Every entry in order; acts are put down as they are met, also those without an entry."""
    act: str | None = None
    aside: int | None = None
    at = 0
    while at < len(sections):
        section = sections[at]
        at += 1
        depth = section.heading.depth if section.heading else 0
        if aside is not None and depth > aside:
            continue
        aside = depth if _is_aside(section) else None
        if aside is not None:
            continue
        if _is_act(section) or (section.heading and depth == shape.acts_at):
            act = _act_name(section)
            acts.append(act) if act not in acts else None
        elif section.heading and (depth == shape.level or _is_alone(section, shape)):
            # What is deeper belongs to it.
            end = at
            while end < len(sections) and _depth(sections[end]) > depth:
                end += 1
            yield _from_heading(section, sections[at:end], act)
            at = end
            continue
        yield from _from_lists(section.inside, act, labelled_only=shape.labelled_items)


def _from_heading(section: _Section, deeper: Sequence[_Section], act: str | None) -> Beat:
    heading, entry = section.heading, section.entry
    assert heading is not None and entry is not None  # noqa: S101, PT018 - the caller looked
    inside = list(section.inside)
    for one in deeper:
        inside += [one.heading] if one.heading else []
        inside += one.inside
    return _beat(heading.line, entry, inside, act)


def _from_lists(blocks: Sequence[Block], act: str | None, *, labelled_only: bool) -> Iterator[Beat]:
    table = [block for block in blocks if block.kind == "row"]
    for row in rows_of(table):
        yield _from_row(row, act)
    items = [block for block in blocks if block.kind == "item"]
    if not items:
        return
    outer = min(block.depth for block in items)
    if labelled_only:
        tops = [block for block in items if _is_labelled(block)]
    else:
        tops = [block for block in items if block.depth <= outer + 1]
    for top, following in zip(tops, [*(block.line for block in tops[1:]), None], strict=True):
        inside = [block for block in blocks if block.line > top.line and (following is None or block.line < following)]
        entry = read_entry(top.text, sentence=True)
        entry = entry if entry.number is not None else replace(entry, number=top.number)
        yield _beat(top.line, entry, [block for block in inside if block.kind != "row"], act)


def _from_row(row: Row, act: str | None) -> Beat:
    entry = read_entry(row.title, sentence=False)
    return Beat(
        line=row.line,
        end_line=row.line,
        title=entry.title,
        text=unmarked(row.text),
        act=row.act or act,
        number=row.number if row.number is not None else entry.number,
        pov=row.pov or entry.pov,
        scene=row.scene or entry.scene,
    )


def _beat(line: int, entry: Entry, inside: Sequence[Block], act: str | None) -> Beat:
    pov, scene = entry.pov, entry.scene
    said = [entry.rest] if entry.rest else []
    for block in inside:
        field = read_field(block.text)
        if field is None:
            scene = scene or names_scene(block.text)
            said.append(unmarked(block.text))
        elif field[0] == "pov":
            pov = pov or field[1]
        else:
            scene = scene or field[1]
    end = max((block.line for block in inside), default=line)
    return Beat(
        line=line,
        end_line=end,
        title=entry.title,
        text="\n".join(said),
        act=act,
        number=entry.number,
        pov=pov,
        scene=scene,
    )


def _depth(section: _Section) -> int:
    return section.heading.depth if section.heading else 0


def _is_labelled(block: Block) -> bool:
    entry = read_entry(block.text, sentence=True)
    return entry.label == "scene" or bool(entry.scene and "scn-" in entry.scene.lower())


def _is_act(section: _Section) -> bool:
    if section.heading is None:
        return False
    text = unmarked(section.heading.text)
    found = _ACT.match(text)
    return bool((found and read_number(found.group(1)) is not None) or _STAGE.match(text))


def _is_alone(section: _Section, shape: _Shape) -> bool:
    """A prologue or epilogue is a scene at any level."""
    title = section.entry.title.lower() if section.entry else ""
    return shape.level is not None and title.split(":")[0] in {"prologue", "epilogue"}


def _is_aside(section: _Section) -> bool:
    return section.heading is not None and _ASIDE.match(unmarked(section.heading.text).rstrip(":")) is not None


def _act_name(section: _Section) -> str:
    return unmarked(section.heading.text) if section.heading else ""
