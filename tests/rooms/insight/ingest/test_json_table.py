import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.import_limits import ImportLimits
from tallystick.rooms.insight.ingest import json_table
from tallystick.rooms.insight.ingest.json_table import JsonTable
from tallystick.rooms.insight.ingest.table import UnusableFile
from tallystick.rooms.insight.model import BadRow
from tests.rooms.insight.ingest.files import cells, rows_of

ITEMS: list[Any] = [{"id": 1, "text": "a"}, {"id": 2.0, "text": "b", "solved_at": None}, {"text": "c", "id": True}]
FOUND = [["id", "text", "solved_at"], ["1", "a", ""], ["2", "b", ""], ["true", "c", ""]]


@pytest.mark.promise("insight.formats")
@pytest.mark.parametrize(
    "data",
    [
        json.dumps(ITEMS),
        json.dumps(ITEMS, indent=2),
        "\n".join(map(json.dumps, ITEMS)),
        "\ufeff" + json.dumps(ITEMS),
        json.dumps({"result": ITEMS}),
        json.dumps({"data": {"payload": ITEMS, "meta": {"n": 3}}}, indent=1),
    ],
)
def test_lists_lines_and_answers_of_interfaces_are_read_alike(tmp_path: Path, data: str) -> None:
    assert cells(rows_of(JsonTable, tmp_path, data.encode())) == FOUND


@pytest.mark.promise("insight.formats")
def test_what_lies_deeper_has_a_dotted_name_and_messages_are_joined(tmp_path: Path) -> None:
    item = {
        "text": "t",
        "requester": {"email": "a@b.example"},
        "messages": [{"content": "x"}, {"content": "y"}],
        "tags": ["p", "q"],
    }
    header, row = cells(rows_of(JsonTable, tmp_path, json.dumps([item]).encode()))
    assert dict(zip(header, row, strict=True)) == {
        "text": "t",
        "requester.email": "a@b.example",
        "messages.content": "x\ny",
        "tags": "p\nq",
    }


@pytest.mark.promise("insight.bad-rows")
def test_items_that_are_none_are_bad_rows(tmp_path: Path) -> None:
    rows = rows_of(JsonTable, tmp_path, b'[{"text": "a"}, "no", 5, null, [], {"text": "b"}, 12345]')
    assert [row.reason for row in rows if isinstance(row, BadRow)] == ["not_an_object"] * 5
    lines = rows_of(JsonTable, tmp_path, b'{"text": "a"}\n{"text": \nno\n\n"x"\n{"text": "b"}\n')
    assert [(row.line, row.reason) for row in lines if isinstance(row, BadRow)] == [
        (2, "not_json"),
        (3, "not_json"),
        (5, "not_an_object"),
    ]
    assert cells(rows) == cells(lines) == [["text"], ["a"], ["b"]]


@pytest.mark.promise("insight.hostile")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'[{"text": "a"}, {"text": "b', "json_broken"),
        (b"[" * 100_000, "json_broken"),
        (b'{"text": ', "json_broken"),
        (b'[{"text": "a"} {', "json_broken"),
        (b'[{"a": 1}', "json_broken"),
        (json.dumps([{f"k{n}": 1 for n in range(10_000)}]).encode(), "too_many_columns"),
    ],
)
def test_a_broken_document_is_refused_as_a_whole(tmp_path: Path, data: bytes, code: str) -> None:
    with pytest.raises(UnusableFile) as caught:
        rows_of(JsonTable, tmp_path, data)
    assert caught.value.code == code


@pytest.mark.promise("insight.hostile")
def test_one_large_object_is_refused_and_long_items_are_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_table, "MAX_WHOLE", 100)
    with pytest.raises(UnusableFile) as caught:
        rows_of(JsonTable, tmp_path, json.dumps({"tickets": ITEMS * 10}).encode())
    assert caught.value.code == "too_large"
    long = b'{"text": "a"}\n{"text": "' + b"x" * 5_000 + b'"}\n{"text": "b"}\n'
    rows = rows_of(JsonTable, tmp_path, long, limits=ImportLimits(row_chars=250))
    assert [row.line for row in rows if isinstance(row, BadRow)] == [2]


@pytest.mark.promise("insight.hostile")
def test_lines_that_strict_json_refuses_are_listed(tmp_path: Path) -> None:
    deep = "[" * 5_000 + "]" * 5_000
    lines = [
        '{"text": "a"}',
        '{"text": "\\ud800 a"}',
        f'{{"text": {deep}}}',
        '{"text": NaN}',
        '{"text": "b", "text": "c"}',
    ]
    rows = rows_of(JsonTable, tmp_path, "\n".join(lines).encode())
    bad = {row.line: row.reason for row in rows if isinstance(row, BadRow)}
    assert bad.pop(3, "not_json") == "not_json"
    assert bad == {2: "half_character", 4: "not_a_number", 5: "duplicate_key"}


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.text(max_size=30), min_size=1), min_size=1, max_size=12),
    st.integers(1, 40),
)
def test_a_list_is_read_alike_through_windows_of_any_size(
    tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, str]], window: int
) -> None:
    items = [{"text": "x", **item} for item in items]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_table, "_CHUNK", window)
        found = cells(rows_of(JsonTable, tmp_path_factory.mktemp("json"), json.dumps(items, indent=1).encode()))
    whole = cells(rows_of(JsonTable, tmp_path_factory.mktemp("json"), json.dumps(items).encode()))
    assert found == whole
    assert len(found) == len(items) + 1
