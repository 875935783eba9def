"""Analyst questions by other hands, answered and checked against pandas.

    python -m benchmarks.insight.questions SET.jsonl --files FOLDER [--model ENDPOINT] [--show]

A line of the set holds `file`, `question`, `answer` (a number, a text, a list or an object of groups; null: the data cannot
answer) and `accept`, other right answers. A question counts as wrong when it is answered with anything else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from tallystick.errors import ToolError
from tallystick.import_limits import ImportLimits
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.embeddings.selection import Embeddings
from tallystick.providers.local.model import LocalModel
from tallystick.providers.models.store import ModelStore
from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.ingest.dataset_import import ImportRequest, take
from tallystick.rooms.insight.pii import Placeholders
from tallystick.rooms.insight.query.description import described
from tallystick.rooms.insight.query.execution import QueryResult
from tallystick.rooms.insight.query.model import HOURS, TypedQuery
from tallystick.rooms.insight.question.proposal import MOST_TOKENS, propose_query
from tallystick.rooms.insight.question.reader import QuestionReading, read_question
from tallystick.rooms.insight.question.unknown_words import WordSense, open_sense
from tallystick.rooms.insight.store import Store, migrations
from tallystick.settings import Settings
from tallystick.storage.database import migrate, migrate_room, open_engine
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Ask, Message, Said

_MODELS = Path.home() / ".local/share/tallystick/models"
CLOSE = 0.006
"""Two numbers are one answer when they differ by no more than rounding to two places, or by this share of a hundredth."""
Read = Callable[[str, Figures, int], QuestionReading]


def opened(
    folder: Path, files: Iterable[Path], mappings: dict[str, dict[str, str]] | None = None
) -> tuple[Store, dict[str, int]]:
    """A workspace that holds the files; gives their datasets."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = open_engine(Settings(), folder)
    migrate(engine)
    migrate_room(engine, "insight", migrations)
    store = Store(engine)
    found = {}
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
        asked = ImportRequest(
            workspace=folder,
            file_path=file.name,
            name=None,
            mapping=(mappings or {}).get(file.name),
            limits=ImportLimits(),
        )
        found[file.name] = take(asked, store, Placeholders(b"k" * 32), now=int(time.time())).dataset.dataset_id
    return store, found


def is_right(expected: Any, result: QueryResult, book: Figures) -> bool:
    """Whether a result says what was expected."""
    if isinstance(expected, bool):
        return False
    if isinstance(expected, dict):
        rows = {_name(row.key): row.now.value for row in result.rows}
        compare, only = result.query.compare, result.rows[0] if len(result.rows) == 1 else None
        if compare is not None and only is not None and only.first is not None and not result.query.by:
            sides = ((compare.first, only.first.value), (compare.second, only.now.value))
            rows = {_folded(one.values[0]): value for side, value in sides for one in side if one.values}
        return _same_groups({_folded(key): value for key, value in expected.items()}, rows)
    if isinstance(expected, list):
        return _is_list(expected, result, book)
    if isinstance(expected, str):
        return _is_text(expected, result, book)
    hours = result.query.of == HOURS
    # The unit is told: hours are minutes, too.
    return any(
        _close(float(expected), one) or (hours and _close(float(expected), 60 * one)) for one in numbers_of(result)
    )


def numbers_of(result: QueryResult) -> list[float]:
    """The numbers that an answer leads with."""
    query = result.query
    if result.summary is not None:
        return [result.summary]
    if query.measure == "tickets":
        return [value for _, value in result.tickets[:1] if value is not None]
    if len(result.rows) != 1:
        # Groups with no limit are an answer to `how many groups`, too.
        return [float(result.groups)] if query.having is not None else []
    row = result.rows[0]
    if query.compare is None:
        return [value for value in (row.now.value,) if value is not None] or [0.0]
    names = (
        ["value", "first", "difference", "ratio", "change"] if query.compare.show == "both" else [query.compare.show]
    )
    found = [value for name in names if (value := row.cell(name)) is not None]
    return found + [-value for value in found] if query.compare.show != "both" else found


def _is_list(expected: list[Any], result: QueryResult, book: Figures) -> bool:
    if result.query.measure == "tickets":
        ids = [_external(book, ticket_id) for ticket_id, _ in result.tickets]
        return [_folded(str(one)) for one in expected] == ids or {_folded(str(one)) for one in expected} == set(ids)
    names = [_name(row.key) for row in result.rows]
    wanted = [_folded(str(one)) for one in expected]
    if len(wanted) != len(names):
        return False
    return all(any(_same_name(one, other) for other in names) for one in wanted)


def _is_text(expected: str, result: QueryResult, book: Figures) -> bool:
    wanted = _folded(expected)
    if result.query.measure == "tickets":
        return bool(result.tickets) and _external(book, result.tickets[0][0]) == wanted
    compare = result.query.compare
    if compare is not None and len(result.rows) == 1 and not result.query.by and result.rows[0].first is not None:
        row = result.rows[0]
        higher = (row.now.value or 0) >= ((row.first.value if row.first else 0) or 0)
        side = compare.second if higher else compare.first
        return any(_same_name(wanted, _folded(value)) for one in side for value in one.values)
    return len(result.rows) == 1 and _same_name(wanted, _name(result.rows[0].key))


def _external(book: Figures, ticket_id: int) -> str:
    found = book.store.ticket(ticket_id)
    return "" if found is None else _folded(found.said.external_id or "")


def _same_groups(expected: dict[str, Any], rows: dict[str, float | None]) -> bool:
    rows = {key: value for key, value in rows.items() if value}
    expected = {key: value for key, value in expected.items() if value}
    if len(rows) != len(expected):
        return False
    return all(
        any(
            _same_name(key, name) and value is not None and _close(float(wanted), value) for name, value in rows.items()
        )
        for key, wanted in expected.items()
    )


def _close(wanted: float, found: float) -> bool:
    return abs(wanted - found) <= max(CLOSE, abs(wanted) * 1e-4)


def _name(key: tuple[str, ...]) -> str:
    return _folded(" | ".join(key))


def _folded(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.casefold()).strip()


_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]


def _same_name(wanted: str, found: str) -> bool:
    if wanted == found or set(wanted.split()) == set(found.split()):
        return True
    hour = re.fullmatch(r"(\d{1,2})( 00)?", found)
    if hour and (match := re.fullmatch(r"(\d{1,2})( 00)?", wanted)):
        return int(hour[1]) == int(match[1])
    month = re.fullmatch(r"(\d{4}) (\d\d)", found)
    return bool(month) and wanted.split(maxsplit=1)[0] == _MONTHS[int(month[2]) - 1] if month and wanted else False


def without_model(text: str, book: Figures, dataset_id: int) -> QuestionReading:
    """The reading by words and meaning alone."""
    return read_question(
        text, book.columns(dataset_id), dataset_id, sense=_sense(), count=partial(book.count, dataset_id)
    )


def with_model(name: str, after_words: bool, text: str, book: Figures, dataset_id: int) -> QuestionReading:  # noqa: FBT001
    """The reading that a local model proposes."""
    if after_words and (found := without_model(text, book, dataset_id)).query is not None:
        return found
    model = _model(name)

    def say(message: str, schema: Mapping[str, Any]) -> str | None:
        ask = Ask(messages=(Message(role="user", content=message),), schema=schema, max_tokens=MOST_TOKENS)
        said = asyncio.run(model.ask(ask))
        return said.text if isinstance(said, Said) else None

    return propose_query(text, book.columns(dataset_id), dataset_id, say)


@cache
def _model(name: str) -> LocalModel:
    endpoint = Endpoint(agent_id="analyst", provider="local", model=name)
    return LocalModel(endpoint, memory=CapabilityBook(), store=ModelStore(_MODELS))


@cache
def _sense() -> WordSense:
    found = open_sense(_MODELS, Embeddings(ModelStore(_MODELS)))
    assert found is not None, "tally models fetch"
    return found


def measured(
    lines: list[dict[str, Any]], files: Path, read: Read, *, mappings: dict[str, dict[str, str]], show: bool
) -> Counter[str]:
    """Ask every question; gives how many were right, wrong or refused, and the seconds."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        store, datasets = opened(Path(folder), sorted({files / one["file"] for one in lines}), mappings)
        book = Figures(store)
        for one in lines:
            begun = time.perf_counter()
            verdict, told = _asked(one, datasets[one["file"]], book, read)
            counts["seconds"] += round(1000 * (time.perf_counter() - begun))
            counts[verdict] += 1
            if show and verdict not in {"right", "unanswerable refused"}:
                print(
                    f"{verdict:8} {one['id']} {one['question']}\n         {told}\n         truth {one['answer']}"[:700]
                )
    return counts


def _asked(one: dict[str, Any], dataset_id: int, book: Figures, read: Read) -> tuple[str, str]:
    found = read(one["question"], book, dataset_id)
    answerable = one["answer"] is not None
    told = found.trouble
    result = None
    if found.query is not None:
        try:
            result = book.result(found.query)
        except ToolError as error:
            told = f"{error} {error.hint}"
    if result is None:
        return ("refused" if answerable else "unanswerable refused"), told
    told = f"{_told(result, book)} idle: {' '.join(found.idle)}"
    if not answerable:
        return "unanswerable answered", told
    right = any(is_right(each, result, book) for each in (one["answer"], *one.get("accept", ())))
    return ("right" if right else "wrong"), told


def _told(result: QueryResult, book: Figures) -> str:
    query: TypedQuery = result.query
    rows = [(row.key, row.now.value, row.first and row.first.value) for row in result.rows[:4]]
    said = described(query, book.columns(query.dataset_id))
    return f"{said} -> {rows or result.tickets[:4]} {result.summary if result.summary is not None else ''}"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path)
    parser.add_argument("--files", type=Path)
    parser.add_argument("--map", action="append", default=[], metavar="FILE:FIELD=COLUMN", help="as of `ingest --map`")
    parser.add_argument("--model", help="a local model's name: it proposes the queries")
    parser.add_argument("--after-words", action="store_true", help="ask the model only what words did not read")
    parser.add_argument("--some", type=int, default=1, metavar="N", help="every Nth question only")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    lines = [json.loads(line) for line in given.set.read_text(encoding="utf-8").splitlines() if line.strip()]
    mappings: dict[str, dict[str, str]] = {}
    for said in given.map:
        file, _, pair = said.partition(":")
        field, _, column = pair.partition("=")
        mappings.setdefault(file, {})[field] = column
    folder = given.files or given.set.parent
    lines = lines[:: given.some]
    read: Read = without_model if given.model is None else partial(with_model, given.model, given.after_words)
    counts = measured(lines, folder, read, mappings=mappings, show=given.show)
    asked = sum(1 for one in lines if one["answer"] is not None)
    sys.stdout.write(f"{dict(counts)} of {asked} answerable, {len(lines) - asked} not\n")


if __name__ == "__main__":
    main()
