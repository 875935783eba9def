"""Files of JSON lines that only grow."""

from pathlib import Path
from threading import Thread

import pytest

from tallystick.errors import ConfigError
from tallystick.storage.json_lines import JsonLines

pytestmark = pytest.mark.promise("studio.conference-transcript")


def test_lines_are_read_as_they_were_appended_and_a_missing_file_is_empty(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "deep" / "x.jsonl")
    assert lines.read() == []
    lines.append({"a": 1}, {"b": "ü\n"})
    lines.append({"c": [None]})
    assert lines.read() == [{"a": 1}, {"b": "ü\n"}, {"c": [None]}]


def test_a_line_that_was_cut_in_half_takes_no_other_with_it(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "x.jsonl")
    lines.append({"a": 1})
    with lines.path.open("ab") as file:
        file.write(b'{"half": ')
    lines.append({"b": 2})
    assert lines.read() == [{"a": 1}, {"b": 2}]


def test_half_characters_are_replaced_and_the_rest_is_kept(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "x.jsonl")
    lines.append({"text": "a\ud800b", "more": ["\udfff", {"x": 1}]})
    assert lines.read() == [{"text": "a?b", "more": ["?", {"x": 1}]}]


def test_many_at_once_leave_every_line_whole(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "x.jsonl")
    threads = [Thread(target=lambda n=n: [lines.append({"n": n, "at": at}) for at in range(20)]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines.read()) == 80


def test_what_cannot_be_written_or_read_is_an_error_with_a_code(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("{}\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    lines = JsonLines(tmp_path / "link")
    with pytest.raises(ConfigError) as unwritable:
        lines.append({})
    assert unwritable.value.code == "control_room_unwritable"
    with pytest.raises(ConfigError) as unreadable:
        lines.read()
    assert unreadable.value.code == "control_room_unreadable"
