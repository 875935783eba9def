"""`tool.ingest.upload`: import a file of tickets as a dataset without personal data."""

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tallystick.gate.execute.call import note_file
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool

if TYPE_CHECKING:
    from tallystick.rooms.insight.ingest.dataset_import import ImportResult

TIMEOUT_S = 3_600.0
"""Millions of rows take minutes."""
_CARD = Card(
    name="tool.ingest.upload",
    roles=EVERY_ROLE,
    description=(
        "Take a file of support tickets (CSV, XLSX, JSON, JSON Lines) of the workspace as a dataset. Personal data is "
        "replaced by placeholders before anything is stored. The same file again gives the same dataset."
    ),
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.ingest.upload.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "file_path": {"type": "string", "minLength": 1},
            "dataset_name": {"type": "string", "minLength": 1},
        },
        "required": ["file_path"],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.ingest.upload.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "dataset_id": {"type": "integer", "minimum": 1},
            "name": {"type": "string"},
            "row_count": {"type": "integer", "minimum": 0},
            "department_count": {"type": "integer", "minimum": 0},
            "file_hash": {"type": "string"},
            "inserted_tickets": {"type": "integer", "minimum": 0},
        },
        "required": ["dataset_id", "name", "row_count", "department_count", "file_hash", "inserted_tickets"],
    },
    effect="write",
    idempotent=True,
    timeout_s=TIMEOUT_S,
)


def ingest_upload(take: Callable[[str, str | None], "ImportResult"]) -> Tool:
    """The tool over one workspace."""

    def handler(file_path: str, dataset_name: str | None = None) -> dict[str, Any]:
        taken = take(file_path, dataset_name)
        dataset = taken.dataset
        note_file(file_path, dataset.file_hash)
        # How its columns were read decides what all later figures mean, so it stands in the receipt too.
        mapping = ",".join(f"{field}={column}" for field, column in dataset.mapping.items())
        note_file(f"mapping:{mapping}", sha256(mapping.encode()).hexdigest())
        return {
            "dataset_id": dataset.dataset_id,
            "name": dataset.name,
            "row_count": dataset.row_count,
            "department_count": dataset.department_count,
            "file_hash": dataset.file_hash,
            "inserted_tickets": taken.inserted,
        }

    return Tool(card=_CARD, handler=handler)
