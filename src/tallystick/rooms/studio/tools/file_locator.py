"""`file_locator`: which files of the project a request is about, and on which lines.

    FAST_SCAN   names, headings and front matter
    DEEP_SCAN   the whole text, with the passages that fit best

A term that stands in no searched file is named in `absent_terms`; what is named there may be claimed as absent over
`scope`, because it is looked for exactly as the reply check looks.
"""

from collections.abc import Sequence
from typing import Any

from tallystick.errors import PathRefused, ToolError
from tallystick.gate.reply.absence import find_term
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.quotes import record_shown_lines
from tallystick.rooms.studio.search.files import FileIndex, FileMatch, RankedFile, match_file, rank_files
from tallystick.rooms.studio.search.query import Query, parse_query

DEFAULT_RESULTS = 12
MAX_RESULTS = 50
MAX_CRITERIA = 2_000
_WHY = 6
"""Reasons that are shown for a file."""

_INPUT = {
    "type": "object",
    "properties": {
        "search_criteria": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_CRITERIA,
            "description": 'Words, a name, a path or a "phrase in quotes".',
        },
        "scan_mode": {
            "type": "string",
            "enum": ["FAST_SCAN", "DEEP_SCAN"],
            "default": "FAST_SCAN",
            "description": "FAST_SCAN: names, headings, front matter. DEEP_SCAN: the whole text, with lines.",
        },
        "max_results": {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "default": DEFAULT_RESULTS},
        "include_globs": {
            "type": "boolean",
            "default": False,
            "description": "Read * and ? as wildcards of file names.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Say what would be searched; read no file."},
    },
    "required": ["search_criteria"],
    "additionalProperties": False,
}

_HIT = {
    "type": "object",
    "properties": {
        "line": {"type": "integer"},
        "text": {"type": "string"},
        "terms": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["line", "text", "terms"],
    "additionalProperties": False,
}
_RESULT = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "score": {"type": "number"},
        "why": {"type": "array", "items": {"type": "string"}},
        "matches": {"type": "integer"},
        "line_count": {"type": "integer"},
        "hits": {"type": "array", "items": _HIT},
    },
    "required": ["path", "score", "why"],
    "additionalProperties": False,
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "search_criteria": {"type": "string"},
        "scan_mode": {"type": "string"},
        "dry_run": {"type": "boolean"},
        "scope": {"type": "string"},
        "files_searched": {"type": "integer"},
        "files_skipped": {"type": "integer"},
        "files_found": {"type": "integer"},
        "absent_terms": {"type": "array", "items": {"type": "string"}},
        "results": {"type": "array", "items": _RESULT},
    },
    "required": ["search_criteria", "scan_mode", "dry_run", "scope", "files_searched", "files_found", "results"],
    "additionalProperties": False,
}


_CARD = Card(
    name="file_locator",
    roles=EVERY_ROLE,
    description=(
        "Find the files and passages of the workspace that a request is about: search by name, heading, "
        "words or phrases. Gives ranked paths with line numbers. Use it where you have no path."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
)


def file_locator(index: FileIndex) -> Tool:
    """The tool over one project's files."""

    def handler(
        search_criteria: str,
        scan_mode: str = "FAST_SCAN",
        max_results: int = DEFAULT_RESULTS,
        *,
        include_globs: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        criteria = parse_query(search_criteria, globs=include_globs)
        paths = _paths(index, criteria)
        head = {
            "search_criteria": search_criteria,
            "scan_mode": scan_mode,
            "dry_run": dry_run,
            "scope": ", ".join(criteria.globs) or "**",
        }
        if dry_run:
            return {**head, "files_searched": len(paths), "files_found": 0, "results": []}
        occurrences = index.occurrences(criteria) if scan_mode == "DEEP_SCAN" and criteria.terms else None
        looked = [match_file(path, index.open(path), criteria, occurrences) for path in paths]
        return head | _found(looked, criteria, scan_mode=scan_mode, max_results=max_results)

    return Tool(card=_CARD, handler=handler)


def _paths(index: FileIndex, criteria: Query) -> list[str]:
    if not criteria.terms and not criteria.globs:
        # A query without words: search nothing, and report nothing as absent.
        return []
    try:
        return index.paths(criteria.globs)
    except PathRefused as refused:
        raise ToolError(str(refused), status=404, hint="Use a glob inside the workspace.") from None


def _found(looked: list[FileMatch], criteria: Query, *, scan_mode: str, max_results: int) -> dict[str, Any]:
    deep = scan_mode == "DEEP_SCAN"
    ranked = rank_files(looked, criteria)
    shown = ranked[:max_results]
    record_shown_lines(
        [one.looked.file.source for one in shown if one.looked.file is not None],
        [(one.path, hit.line, hit.line) for one in shown if deep for hit in one.hits],
    )
    skipped = sum(one.file is None for one in looked)
    return {
        "files_searched": len(looked) - skipped,
        "files_skipped": skipped,
        "files_found": len(ranked),
        "absent_terms": _absent(looked, criteria) if deep and not skipped else [],
        "results": [_result(one, deep=deep) for one in shown],
    }


def _result(one: RankedFile, *, deep: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"path": one.path, "score": one.score, "why": list(one.why[:_WHY])}
    if one.looked.file is not None:
        result["line_count"] = len(one.looked.file.source.lines)
    if deep:
        result["matches"] = one.matches
        result["hits"] = [{"line": hit.line, "text": hit.text, "terms": list(hit.terms)} for hit in one.hits]
    return result


def _absent(looked: Sequence[FileMatch], criteria: Query) -> list[str]:
    """The terms that no searched file holds. Without a file there is nothing to be absent from."""
    files = [one.file.source for one in looked if one.file is not None]
    return [
        term.text
        for term in criteria.terms
        if files
        and not any(term.text in one.lines for one in looked)
        and all(find_term(term.text, source) is None for source in files)
    ]
