"""Size limits for imported files, shared by every file reader.

A small file can unpack to gigabytes, so these limits bound the *expanded* text and are checked while a file is read.
Each limit has a unit and a reason; `[imports]` in `tallystick.toml` overrides them.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

SECTION = "imports"


def _limit(default: int, unit: str, reason: str) -> Any:
    return Field(default=default, gt=0, description=reason, json_schema_extra={"unit": unit})


class ImportLimits(BaseModel):
    """The import limits of one workspace."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cell_chars: int = _limit(100_000, "characters", "three times the longest cell of a spreadsheet")
    row_chars: int = _limit(1_000_000, "characters", "thirty times the longest cell of a spreadsheet")
    columns: int = _limit(1_000, "columns", "ten times the widest export seen; beyond it the delimiter is wrong")
    rows: int = _limit(10_000_000, "rows", "ten years of tickets of a large support organisation")
    file_bytes: int = _limit(2 * 1024**3, "bytes", "a table as it lies on disk: some ten million tickets")
    expanded_bytes: int = _limit(2 * 1024**3, "bytes", "a table once it is stored: as much as the largest file")
    expansion_factor: int = _limit(40, "times the file's size", "spreadsheets of real tickets pack to a tenth")
    free_bytes: int = _limit(64 * 1024**2, "bytes", "what any file may expand to, however small: seconds of work")
    document_bytes: int = _limit(32 * 1024**2, "bytes", "one document, packed or not: some ten thousand pages")
    document_chars: int = _limit(32 * 1024**2, "characters", "the text of one document: fifty times the longest novel")
    total_bytes: int = _limit(512 * 1024**2, "bytes", "all files of one import: a novel with its pictures")

    def expanded(self, size: int) -> int:
        """Return the maximum expanded bytes for a table of `size` bytes on disk."""
        return min(self.expanded_bytes, max(self.free_bytes, size * self.expansion_factor))

    def named(self, name: str) -> str:
        """Format a limit for a message: `imports.columns = 1,000 columns`."""
        extra = type(self).model_fields[name].json_schema_extra
        unit = extra["unit"] if isinstance(extra, dict) else ""
        return f"{SECTION}.{name} = {getattr(self, name):,} {unit}"


DEFAULT = ImportLimits()
