"""`file_reader`: a range of lines exactly as they are in the file, for quoting.

The result carries the hash of the whole file, and the receipt the range with the hash of the excerpt, so that a quote
can be checked against what was read even after the file has changed.
"""

from typing import Any

from tallystick.errors import PathRefused, ToolError
from tallystick.gate.reply.sources import Source
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.quotes import record_shown_lines
from tallystick.storage.files import FileSources

MAX_LINES = 250
"""Lines of one reading: more than a scene's worth, less than a prompt's."""

_INPUT = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "minLength": 1, "maxLength": 1_000, "description": "Its path."},
        "start_line": {"type": "integer", "minimum": 1, "default": 1, "description": "First line, from 1."},
        "end_line": {
            "type": "integer",
            "minimum": 1,
            "description": "Last line.",
        },
        "include_line_numbers": {
            "type": "boolean",
            "default": False,
            "description": "Number the lines.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Say what would be read, without the text."},
    },
    "required": ["file_path"],
    "additionalProperties": False,
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "sha256": {"type": "string"},
        "total_lines": {"type": "integer"},
        "start_line": {"type": "integer"},
        "end_line": {"type": "integer"},
        "next_start_line": {"type": ["integer", "null"]},
        "dry_run": {"type": "boolean"},
        "text": {"type": "string"},
    },
    "required": ["path", "sha256", "total_lines", "start_line", "end_line", "next_start_line", "dry_run", "text"],
    "additionalProperties": False,
}


_CARD = Card(
    name="file_reader",
    roles=EVERY_ROLE,
    description=(
        "Read a file of the workspace, or a range of its lines, as it stands: the text that quotes are taken from. "
        f"At most {MAX_LINES} lines at once; next_start_line says where to go on."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
)


def file_reader(sources: FileSources) -> Tool:
    """The tool over one workspace's files."""

    def handler(
        file_path: str,
        start_line: int = 1,
        end_line: int | None = None,
        *,
        include_line_numbers: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        source = _read(sources, file_path)
        total = len(source.lines)
        last = _last_line(start_line, end_line, total)
        lines = source.lines[start_line - 1 : last]
        text = "\n".join(lines)
        if not dry_run:
            record_shown_lines([source], [(source.path, start_line, last)])
        if include_line_numbers:
            text = "\n".join(f"{number:>5}  {line}" for number, line in enumerate(lines, start=start_line))
        return {
            "path": source.path,
            "sha256": source.sha256,
            "total_lines": total,
            "start_line": start_line,
            "end_line": last,
            "next_start_line": last + 1 if last < total else None,
            "dry_run": dry_run,
            # Last, so that a result that is cut keeps all that says what it is.
            "text": "" if dry_run else text,
        }

    return Tool(card=_CARD, handler=handler)


def _last_line(start: int, end: int | None, total: int) -> int:
    if end is not None and end < start:
        raise ToolError("end_line lies before start_line.", status=404, hint="Swap the two.")
    if start > max(total, 1):
        hint = f"The file has lines 1 to {total}."
        raise ToolError("start_line is after the end of the file.", status=404, hint=hint)
    return min(total, start + MAX_LINES - 1, total if end is None else end)


def _read(sources: FileSources, path: str) -> Source:
    try:
        source = sources.read(path)
        near = [] if source is not None else _near(sources, path)
    except PathRefused as refused:
        raise ToolError(str(refused), status=404, hint="Name a text file inside the workspace.") from None
    if source is None:
        hint = f"Did you mean {near[0]}?" if near else "file_locator finds the files there are."
        raise ToolError("There is no such file.", status=404, hint=hint)
    return source


def _near(sources: FileSources, path: str) -> list[str]:
    name = path.rpartition("/")[2]
    return sources.paths(f"**/{name}") if name and not set(name) & set("*?") else []
