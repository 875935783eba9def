"""The JSON Schema of a typed query, for the tool and for a model that proposes one."""

from typing import Any

from tallystick.rooms.insight.query.model import (
    BUCKETS,
    MEASURES,
    OPERATORS,
    ORDERED,
    ORDERS,
    SHOWS,
    SUMMARIES,
)

MOST_VALUES, MOST_FILTERS, MOST_ROWS = 100, 20, 1_000
_NAME = {"type": "string", "minLength": 1, "maxLength": 200}
_BUCKET = {"type": "string", "enum": list(BUCKETS)}
_FILTER: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "column": _NAME,
        "op": {"type": "string", "enum": list(OPERATORS)},
        "values": {
            "type": "array",
            "maxItems": MOST_VALUES,
            "items": {"type": ["string", "number"], "maxLength": 500},
        },
        "bucket": _BUCKET,
    },
    "required": ["column", "op"],
}
_FILTERS = {"type": "array", "maxItems": MOST_FILTERS, "items": _FILTER}
PROPERTIES: dict[str, Any] = {
    "dataset_id": {"type": "integer", "minimum": 1},
    "measure": {"type": "string", "enum": list(MEASURES), "default": "count"},
    "of": _NAME,
    "percent": {"type": "number", "minimum": 0, "maximum": 100},
    "per": {"type": "string", "enum": ["day", "week", "month"]},
    "where": _FILTERS,
    "part": _FILTERS,
    "by": {
        "type": "array",
        "maxItems": 2,
        "items": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"column": _NAME, "bucket": _BUCKET},
            "required": ["column"],
        },
    },
    "compare": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "first": _FILTERS,
            "second": _FILTERS,
            "dataset_id": {"type": "integer", "minimum": 1},
            "show": {"type": "string", "enum": list(SHOWS)},
        },
    },
    "having": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "op": {"type": "string", "enum": list(ORDERED)},
            "number": {"type": "number"},
            "times_of": _NAME,
        },
        "required": ["op", "number"],
    },
    "summarise": {"type": "string", "enum": list(SUMMARIES)},
    "order": {"type": "string", "enum": list(ORDERS)},
    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS},
    "run": {"type": "integer", "minimum": 1},
}
QUERY_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": PROPERTIES,
    "required": ["dataset_id"],
}
