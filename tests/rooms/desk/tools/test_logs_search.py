"""`logs.search` through the gate, and what lies under it."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import Gate
from tallystick.app.room_context import options_of
from tallystick.errors import ConfigError
from tallystick.rooms.desk import MANIFEST
from tallystick.rooms.desk.logs.entries import MAX_LINE, Budget, lines_from_end, moment_of
from tallystick.rooms.desk.logs.search import LogFiles, LogQuery, terms_of
from tallystick.settings import parse_settings
from tests.gates import open_gate, outcomes

JSONL = """{"ts":"2026-01-01T10:00:00Z","msg":"order QB-1 paid"}
{"ts":"2026-01-02T10:00:00Z","msg":"order QB-2 failed","code":"E42"}
{"ts":1767434400,"msg":"order QB-3 failed"}
"""
PLAIN = """2026-01-01 09:00:00,123 INFO order QB-9 started
2026-01-04T08:00:00+02:00 ERROR order QB-7 failed
  Traceback (most recent call last):
    File "shop.py", line 1
127.0.0.1 - - [05/Jan/2026:07:00:00 +0100] "GET /orders/QB-8 failed"
"""


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "shop.jsonl").write_text(JSONL)
    (folder / "web.log").write_text(PLAIN)
    with open_gate(tmp_path, plugins=True, rooms={"desk": {"logs": ["logs/*.jsonl", "logs/*.log"]}}) as opened:
        yield opened


def texts(gate: Gate, **args: Any) -> list[str]:
    return [hit["text"] for hit in gate.call_sync("logs.search", args).unwrap()["hits"]]


@pytest.mark.promise("desk.logs")
def test_the_newest_entries_come_first_over_all_files(gate: Gate) -> None:
    found = gate.call_sync("logs.search", {"query": "order FAILED"}).unwrap()
    assert [hit["time"] for hit in found["hits"]] == [
        "2026-01-05T06:00:00Z",
        "2026-01-04T06:00:00Z",
        "2026-01-03T10:00:00Z",
        "2026-01-02T10:00:00Z",
    ]
    assert (found["files"], found["complete"]) == (2, True)
    assert outcomes(gate)[-1].header["file_refs"][0]["path"].startswith("logs/web.log#")


@pytest.mark.promise("desk.logs")
def test_all_words_must_be_there_and_quoted_ones_together(gate: Gate) -> None:
    assert len(texts(gate, query="E42 order")) == 1
    assert texts(gate, query='"failed order"') == []
    assert len(texts(gate, query='"QB-2 failed"')) == 1
    assert "Traceback" in texts(gate, query="QB-7 shop.py")[0]


@pytest.mark.promise("desk.logs")
def test_a_span_of_time_is_kept_to(gate: Gate) -> None:
    assert len(texts(gate, query="failed", since="2026-01-03T00:00:00Z")) == 3
    assert len(texts(gate, query="failed", since="2026-01-03T00:00:00Z", until="2026-01-04T00:00:00Z")) == 1
    assert len(texts(gate, query="failed", k=1)) == 1


@pytest.mark.promise("desk.logs")
@pytest.mark.parametrize(
    "args", [{"query": "x", "since": "yesterday"}, {"query": "x", "until": "2026-13-01"}, {"query": "!?"}]
)
def test_what_is_no_time_or_no_word_is_refused(gate: Gate, args: dict[str, Any]) -> None:
    outcome = gate.call_sync("logs.search", args)
    assert outcome.fault is not None
    assert outcome.fault.name == "bad_input"


@pytest.mark.promise("desk.logs")
def test_without_log_files_it_is_said_where_to_name_them(tmp_path: Path) -> None:
    with open_gate(tmp_path, plugins=True, rooms={"desk": {"logs": []}}) as gate:
        outcome = gate.call_sync("logs.search", {"query": "x"})
        assert outcome.fault is not None
        assert outcome.fault.name == "part_missing"


@pytest.mark.promise("desk.logs")
@pytest.mark.parametrize("named", [3, {"a": 1}, [""], [1]])
def test_settings_that_name_no_paths_are_refused(named: object) -> None:
    with pytest.raises(ConfigError):
        options_of(MANIFEST, parse_settings({"rooms": {"desk": {"logs": named}}}))


@pytest.mark.promise("desk.logs")
def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("order failed")
    (tmp_path / "a.log").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "b.log")
    answer = LogFiles(tmp_path, ["*.log"]).search(LogQuery(terms=("order",)), 5)
    assert (answer.hits, answer.files) == ((), 0)


@pytest.mark.promise("desk.logs")
def test_no_more_is_read_than_the_bound(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("old needle\n" + "2026-01-01T00:00:00Z hay\n" * 50_000)
    logs = LogFiles(tmp_path, [str(tmp_path / "*.log")], max_read=100_000)
    answer = logs.search(LogQuery(terms=("needle",)), 5)
    assert (answer.hits, answer.complete) == ((), False)


@pytest.mark.promise("desk.logs")
def test_an_endless_line_is_cut(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("needle " + "x" * 3_000_000)
    answer = LogFiles(tmp_path, ["*.log"]).search(LogQuery(terms=("needle",)), 5)
    assert len(answer.hits) == 1
    assert answer.hits[0].cut


@pytest.mark.promise("desk.logs")
@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=30), st.booleans())
def test_lines_from_the_end_are_the_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], closed: object
) -> None:
    data = b"\n".join(lines) + (b"\n" if closed and lines else b"")
    path = tmp_path_factory.mktemp("lines") / "a"
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        found = list(lines_from_end(descriptor, Budget(left=10**9)))
    finally:
        os.close(descriptor)
    for offset, line in found:
        assert data[offset : offset + len(line)] == line
    assert [line for _, line in reversed(found) if line] == [line[:MAX_LINE] for line in data.split(b"\n") if line]


@pytest.mark.promise("desk.logs")
@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ('{"@timestamp":"2026-01-01T00:00:00+01:00"}', datetime(2025, 12, 31, 23, tzinfo=UTC)),
        ('{"time":1767225600000}', datetime(2026, 1, 1, tzinfo=UTC)),
        ('{"time":true}', None),
        ('{"time":1e300}', None),
        ("{broken", None),
        ("no time at all", None),
        ("[2026-01-01 00:00] x", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-99-99T00:00:00Z", None),
        ("x [32/Jan/2026:00:00:00 +0000]", None),
    ],
)
def test_times_are_read_as_far_as_they_are_times(line: str, moment: datetime | None) -> None:
    assert moment_of(line) == moment


@given(st.text(max_size=300))
@pytest.mark.promise("desk.logs")
def test_no_line_and_no_query_raise(text: str) -> None:
    moment_of(text)
    assert all(term == term.casefold() for term in terms_of(text))
