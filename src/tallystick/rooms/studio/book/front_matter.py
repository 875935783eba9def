"""The front matter of an author's file: a short YAML block between two `---` lines at its beginning.

Authors write it by hand, so it is read as they mean it: dates, times and numbers like `007` stay as they are written,
`yes` is a word, and `[[A link]]` is its target. A block that is no YAML costs nobody the file: its `key: value` lines
are read one by one, and a complaint says where it went wrong.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.studio.book.nouns import Complaint

if TYPE_CHECKING:
    from tallystick.rooms.studio.book.front_matter_yaml import Unreadable

MAX_LINES = 400
MAX_CHARS = 64_000
"""Of the block. What is longer is no front matter but a text between two rules."""
Fields = Mapping[str, Any]

_OPENS = "---"
_CLOSES = frozenset({"---", "..."})
_FIELD = re.compile(r"([^\W_][^:#\[\]{}\n]{0,79}?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)\Z")


@record
class FrontMatter:
    """What stands before the prose."""

    fields: Fields
    """By name in small letters; empty without front matter."""
    body_line: int
    """The first line after it, from 1."""
    complaint: Complaint | None


def read_front_matter(source: Source) -> FrontMatter:
    """Read the block at the beginning of a file, if there is one."""
    block = _block(source.lines)
    if block is None:
        return _unclosed(source)
    body_line = len(block) + 3
    text = "\n".join(block)
    # The base installation imports this module and has no YAML.
    from tallystick.rooms.studio.book.front_matter_yaml import Unreadable, read_fields  # noqa: PLC0415

    found = read_fields(text)
    if isinstance(found, Unreadable):
        complaint = _complaint(source.path, found)
        return FrontMatter(fields=_line_by_line(block), body_line=body_line, complaint=complaint)
    fields = {str(name).strip().lower(): _plain(value) for name, value in found.items()}
    return FrontMatter(fields=fields, body_line=body_line, complaint=None)


def texts_of(value: Any) -> tuple[str, ...]:
    """A field as texts: a list's entries, or what stands between the commas of one text."""
    if isinstance(value, list):
        return tuple(text for entry in value for text in texts_of(entry) if text)
    if isinstance(value, str):
        return tuple(part for part in (piece.strip() for piece in re.split(r"[,;]", value)) if part)
    return () if value is None or isinstance(value, (bool, dict)) else (str(value),)


def text_of(value: Any) -> str | None:
    """A field as one text; None where it holds none."""
    if isinstance(value, list):
        return text_of(value[0]) if len(value) == 1 else None
    if value is None or isinstance(value, (bool, dict)):
        return None
    return str(value).strip() or None


def _block(lines: list[str]) -> list[str] | None:
    """The lines between the two rules; None where there is no such block, or it is prose between two rules."""
    if not lines or lines[0].rstrip() != _OPENS:
        return None
    held: list[str] = []
    size = 0
    for line in lines[1 : MAX_LINES + 2]:
        if line.rstrip() in _CLOSES:
            return held if not any(held) or any(_FIELD.match(held_line) for held_line in held) else None
        size += len(line)
        if size > MAX_CHARS:
            return None
        held.append(line)
    return None


def _unclosed(source: Source) -> FrontMatter:
    """No block. Where fields begin and nothing ends them, they are read as far as they go, and complained about."""
    lines = source.lines
    held: list[str] = []
    if lines and lines[0].rstrip() == _OPENS:
        for line in lines[1 : MAX_LINES + 1]:
            if not _FIELD.match(line) and not line.startswith((" ", "- ")):
                break
            held.append(line)
    if not any(_FIELD.match(line) for line in held):
        return FrontMatter(fields={}, body_line=1, complaint=None)
    message = "The front matter is not closed. Put a line with `---` after its last field."
    complaint = Complaint(code="front_matter_invalid", path=source.path, line=len(held) + 1, message=message)
    return FrontMatter(fields=_line_by_line(held), body_line=len(held) + 2, complaint=complaint)


def _complaint(path: str, error: "Unreadable") -> Complaint:
    return Complaint(
        code="front_matter_invalid",
        path=path,
        # The block begins on the second line.
        line=error.line + 2,
        message=(
            f"The front matter cannot be read: {error.problem}. Write one `name: value` a line, and put a value "
            "that holds a colon in quotes. Its plain lines were read one by one."
        ),
    )


def _line_by_line(block: list[str]) -> dict[str, Any]:
    """What a block that is no YAML still says: `key: value` lines, and the entries of a list below a bare key."""
    fields: dict[str, Any] = {}
    bare: str | None = None
    for line in block:
        entry = line.strip()
        if bare is not None and entry.startswith("- "):
            held = fields[bare] if isinstance(fields[bare], list) else []
            fields[bare] = [*held, entry[2:].strip().strip("\"'")]
            continue
        found = _FIELD.match(line)
        if found is None:
            continue
        name = found.group(1).strip().lower()
        value = (found.group(2) or "").strip().strip("\"'")
        bare = name if not value else None
        fields.setdefault(name, value or None)
    return fields


def _plain(value: Any) -> Any:
    """`[[A link]]` is a list in a list to YAML, and one name to an author."""
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list) and len(value[0]) == 1:
            return _plain(value[0][0])
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, str):
        link = _LINK.fullmatch(value.strip())
        return link.group(1).strip() if link else value
    return value


_LINK = re.compile(r"\[\[([^\[\]|]{1,200})(?:\|[^\[\]]{0,200})?\]\]")
