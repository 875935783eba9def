"""The front matter of an author's file: a short YAML block between two `---` lines at its start.

Authors write it by hand, so it is read the way they mean it: dates, times and numbers such as `007` stay as written,
`yes` is a word, and `[[A link]]` is its target. Anchors, tags and deep nesting are refused. If a block is not valid
YAML, its `key: value` lines are read one by one, and a complaint says where the error is.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.studio.book.model import Complaint

MAX_DEPTH = 12
"""Lists in lists. Hand-written fields have two or three."""


@record
class Unreadable:
    """Why a block cannot be read as YAML."""

    problem: str
    line: int
    """In the block, from 0."""


def read_fields(text: str) -> dict[Any, Any] | Unreadable:
    """Read a block as the fields it holds."""
    try:
        found: dict[Any, Any] = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader that knows even less
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it is no YAML"
        return Unreadable(problem=problem, line=0 if mark is None else mark.line)
    return found


class _Loader(yaml.SafeLoader):
    """YAML without anchors, tags of types, times and old-style numbers; bounded in depth."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - the library's own way

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose one node; refuse anchors, tags and deep nesting."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _problem("it refers to an anchor", event.start_mark)
        if self._depth >= MAX_DEPTH:
            raise _problem("its lists are nested too deep", event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def get_single_node(self) -> Any:
        """The one document, which must be fields."""
        node = super().get_single_node()
        if node is None:
            return yaml.MappingNode(tag="tag:yaml.org,2002:map", value=[])
        if not isinstance(node, yaml.MappingNode):
            raise _problem("it holds no `name: value` lines", node.start_mark)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - the library's
        """One dictionary; a name that is given twice is an error, not a choice."""
        seen: set[str] = set()
        for key, _ in node.value:
            name = str(getattr(key, "value", "")).lower()
            if name in seen:
                raise _problem(f"`{name[:40]}` is given twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep=deep)


def _problem(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, mark)


def _resolvers() -> Iterator[tuple[str, re.Pattern[str], list[str]]]:
    yield "tag:yaml.org,2002:bool", re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")
    yield "tag:yaml.org,2002:null", re.compile(r"null|Null|NULL|~|"), ["n", "N", "~", ""]
    yield "tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9]{0,14})"), list("-+0123456789")
    yield "tag:yaml.org,2002:float", re.compile(r"[-+]?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,15}"), list("-+0123456789")


for _tag, _pattern, _first in _resolvers():
    _Loader.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern.pattern})\Z"), _first)


MAX_LINES = 400
MAX_CHARS = 64_000
"""A longer block is not front matter but text between two rules."""
Fields = Mapping[str, Any]

_OPENS = "---"
_CLOSES = frozenset({"---", "..."})
_FIELD = re.compile(r"([^\W_][^:#\[\]{}\n]{0,79}?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)\Z")


@record
class FrontMatter:
    """The front matter of a file."""

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
    found = read_fields(text)
    if isinstance(found, Unreadable):
        complaint = _complaint(source.path, found)
        return FrontMatter(fields=_line_by_line(block), body_line=body_line, complaint=complaint)
    fields = {str(name).strip().lower(): _plain(value) for name, value in found.items()}
    return FrontMatter(fields=fields, body_line=body_line, complaint=None)


def texts_of(value: Any) -> tuple[str, ...]:
    """A field as a list of texts: a list's entries, or the comma-separated parts of a text."""
    if isinstance(value, list):
        return tuple(text for entry in value for text in texts_of(entry) if text)
    if isinstance(value, str):
        return tuple(part for part in (piece.strip() for piece in re.split(r"[,;]", value)) if part)
    return () if value is None or isinstance(value, (bool, dict)) else (str(value),)


def text_of(value: Any) -> str | None:
    """A field as one text; None if it is not a text."""
    if isinstance(value, list):
        return text_of(value[0]) if len(value) == 1 else None
    if value is None or isinstance(value, (bool, dict)):
        return None
    return str(value).strip() or None


def _block(lines: list[str]) -> list[str] | None:
    """The lines between the two rules; None if there is no such block, or it is prose."""
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
    """Front matter that is never closed: read the fields that are there, with a complaint."""
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


def _complaint(path: str, error: Unreadable) -> Complaint:
    return Complaint(
        code="front_matter_invalid",
        path=path,
        # The block starts on the second line.
        line=error.line + 2,
        message=(
            f"The front matter cannot be read: {error.problem}. Write one `name: value` a line, and put a value "
            "that holds a colon in quotes. Its plain lines were read one by one."
        ),
    )


def _line_by_line(block: list[str]) -> dict[str, Any]:
    """The `key: value` lines and simple lists of a block that is not valid YAML."""
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
