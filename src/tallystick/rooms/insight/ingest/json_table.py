"""JSON and JSON Lines, read item by item.

Columns are all keys that any item has, so the file is read through once before its rows are given. What lies deeper is
named with dots (`requester.email`); texts of a list of messages are joined.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from io import TextIOBase
from typing import Any

from tallystick.rooms.insight.ingest.bounds import too_wide
from tallystick.rooms.insight.ingest.columns import known_columns
from tallystick.rooms.insight.ingest.encoding import text_of
from tallystick.rooms.insight.ingest.source_file import SourceFile
from tallystick.rooms.insight.ingest.table import Row, UnusableFile, is_blank
from tallystick.rooms.insight.model import BadRow

_HALF = re.compile("[\ud800-\udfff]")
"""Halves of characters, which JSON can write and no database can store."""
MAX_DEPTH = 4
MAX_ITEMS = 200
"""Messages of one conversation that are read."""
MAX_WHOLE = 64 * 1024**2
"""A document that is one object has to be read whole, at about eight times its size in memory."""
_CHUNK = 262_144
_ESCAPED = 4
"""An item that is this many times longer than a row, written with all its escapes, is not read."""
_decode = json.JSONDecoder(strict=False, parse_constant=lambda _: None).raw_decode
ROW_LIMIT = "imports.row_chars"
_BROKEN = "Check where the file ends; export it again."
Item = tuple[int, Any]
"""Line or place of an item, and the item; a `BadRow` where it could not be read."""


class JsonTable:
    """A file of JSON objects."""

    def __init__(self, opened: SourceFile) -> None:
        self._opened = opened
        self._columns_at_most = opened.limits.columns
        self._items = _how(opened)
        columns: dict[str, None] = {}
        for _, item in self._read():
            if isinstance(item, dict):
                columns.update(dict.fromkeys(flat(item, self._columns_at_most)))
                if len(columns) > self._columns_at_most:
                    raise too_wide(len(columns), opened.limits)
        self._columns = list(columns)

    def rows(self) -> Iterator[Row | BadRow]:
        """The columns, then the items."""
        if not self._columns:
            return
        yield Row(line=0, cells=self._columns)
        for line, item in self._read():
            if isinstance(item, BadRow):
                yield item
            elif not isinstance(item, dict):
                yield BadRow(line=line, reason="not_an_object")
            else:
                found = flat(item, self._columns_at_most)
                cells = [found.get(column, "") for column in self._columns]
                if not is_blank(cells):
                    yield Row(line=line, cells=cells)

    def _read(self) -> Iterator[Item]:
        with closing(text_of(self._opened.reader())) as text:
            yield from self._items(text)


def _how(opened: SourceFile) -> Callable[[TextIOBase], Iterator[Item]]:
    """By lines, as one list, or as one object that holds the list somewhere."""
    room = _ESCAPED * opened.limits.row_chars
    with closing(text_of(opened.reader())) as text:
        begin = text.read(_CHUNK).lstrip()
    if begin.startswith("["):
        return partial(_of_list, room=room)
    first, _, rest = begin.partition("\n")
    if rest.strip() and _is_item(first):
        return partial(_of_lines, room=room)
    if opened.size > MAX_WHOLE:
        message = f"The file is one JSON object of {opened.size:,} bytes; {MAX_WHOLE:,} are read at most."
        raise UnusableFile("too_large", message, hint="Give a list of tickets, or one ticket a line.")
    return _of_whole


def _is_item(line: str) -> bool:
    try:
        return isinstance(json.loads(line, strict=False), dict)
    except (ValueError, RecursionError):
        return False


def _of_lines(text: TextIOBase, room: int) -> Iterator[Item]:
    number = 0
    while line := text.readline(room):
        number += 1
        if len(line) >= room:
            while line and not line.endswith("\n"):
                line = text.readline(room)
            yield number, BadRow(line=number, reason="row_too_long")
        elif not line.isspace():
            yield number, _item(line, number)


def _item(line: str, number: int) -> Any:
    """An item; a bad row where it could be read in two ways, or holds what no JSON may."""
    try:
        found = json.loads(line, strict=False, parse_constant=_refuse_constant, object_pairs_hook=_without_duplicates)
    except _UnfitJsonError as unfit:
        return BadRow(line=number, reason=str(unfit))
    except (ValueError, RecursionError):
        return BadRow(line=number, reason="not_json")
    if "\\u" in line and _HALF.search(json.dumps(found, ensure_ascii=False)):
        return BadRow(line=number, reason="half_character")
    return found


class _UnfitJsonError(Exception):
    """What strict JSON refuses; the text is the reason of a bad row."""


def _refuse_constant(_: str) -> None:
    raise _UnfitJsonError("not_a_number")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _UnfitJsonError("duplicate_key")
    return found


def _of_list(text: TextIOBase, room: int) -> Iterator[Item]:
    """One item after the other from a window of the text."""
    window = text.read(_CHUNK).lstrip()[1:]
    number, at, more = 0, 0, True
    while True:
        at = _next_sign(window, at)
        # An item counts once the sign behind it is there: a number may go on.
        found = _decoded(window, at) if at < len(window) and window[at] != "]" else None
        if found is not None and (not more or _next_sign(window, found[1]) < len(window)):
            number += 1
            yield number, found[0]
            at = found[1]
        elif at < len(window) and window[at] == "]":
            return
        elif len(window) - at > room:
            message = f"Item {number + 1} of the list is longer than a row may be, or never ends."
            raise UnusableFile("row_too_long", message, hint=f"{_BROKEN} Raise {ROW_LIMIT} for longer items.")
        elif not more:
            message = f"The list of JSON items breaks off at item {number + 1}."
            raise UnusableFile("json_broken", message, hint=_BROKEN)
        else:
            chunk = text.read(max(_CHUNK, len(window) - at))
            window, at, more = window[at:] + chunk, 0, bool(chunk)


def _next_sign(window: str, at: int) -> int:
    while at < len(window) and window[at] in " \t\r\n,":
        at += 1
    return at


def _decoded(window: str, at: int) -> tuple[Any, int] | None:
    try:
        return _decode(window, at)
    except (ValueError, RecursionError):
        return None


def _of_whole(text: TextIOBase) -> Iterator[Item]:
    try:
        whole = json.loads(text.read(), strict=False, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise UnusableFile("json_broken", "The file is no JSON that can be read.", hint=_BROKEN) from None
    is_ticket = isinstance(whole, dict) and "text" in known_columns(
        [key for key in whole if isinstance(whole[key], str)]
    )
    items = [whole] if is_ticket else _longest_list(whole) or [whole]
    yield from enumerate(items, start=1)


def _longest_list(value: Any, depth: int = 3) -> list[Any]:
    """The list of objects that an answer of some programming interface wraps: `{"tickets": […]}`."""
    if isinstance(value, list):
        return value if any(isinstance(item, dict) for item in value) else []
    if not isinstance(value, dict) or not depth:
        return []
    return max((_longest_list(inner, depth - 1) for inner in value.values()), key=len, default=[])


def flat(item: dict[str, Any], most: int) -> dict[str, str]:
    """Its values by dotted name, as text; no more than one name above the most that are read."""
    found: dict[str, list[str]] = {}
    _flatten(found, item, "", MAX_DEPTH, most)
    # Several: messages of a conversation, or labels.
    return {name: "\n".join(texts) for name, texts in found.items()}


def _flatten(found: dict[str, list[str]], value: Any, name: str, depth: int, most: int) -> None:
    if isinstance(value, dict | list):
        for key, inner in _inside(value, name) if depth else ():
            if len(found) > most:
                return
            _flatten(found, inner, key, depth - 1, most)
        return
    texts, text = found.setdefault(name, []), _text(value)
    if text:
        texts.append(text)


def _inside(value: dict[str, Any] | list[Any], name: str) -> Iterator[tuple[str, Any]]:
    """What an object or a list holds, each under its name."""
    if isinstance(value, dict):
        return ((_text(f"{name}.{key}" if name else key), inner) for key, inner in value.items())
    return ((name, inner) for inner in value[:MAX_ITEMS])


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value if value.isascii() else _HALF.sub("\ufffd", value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
