"""`file_reader`: lines as they stand, with the hash of the file; nothing outside the workspace."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick import Gate, Outcome
from tests.gates import outcomes
from tests.sizes import size

SCENE = "Story/Scenes/SCN-01-arrival.md"


def read(gate: Gate, path: str, **more: Any) -> Outcome:
    return gate.call_sync("file_reader", {"file_path": path, **more})


@pytest.mark.promise("studio.reader")
def test_a_range_of_lines_comes_with_the_hash_of_the_file(gate: Gate, tmp_path: Path) -> None:
    result = read(gate, SCENE, start_line=3, end_line=4).unwrap()
    whole = (tmp_path / SCENE).read_text()
    assert result["text"] == "\n".join(whole.splitlines()[2:4])
    assert result["sha256"] == sha256(whole.encode()).hexdigest()
    assert (result["start_line"], result["end_line"], result["total_lines"]) == (3, 4, 4)
    assert result["next_start_line"] is None


@pytest.mark.promise("studio.reader")
def test_at_most_250_lines_come_at_once_and_the_rest_can_be_read_on(gate: Gate, tmp_path: Path) -> None:
    lines: list[str] = []
    start: int | None = 1
    while start is not None:
        result = read(gate, "Notes/long.md", start_line=start).unwrap()
        assert result["end_line"] - result["start_line"] < 250
        lines += result["text"].split("\n")
        start = result["next_start_line"]
    assert "\n".join(lines) == (tmp_path / "Notes/long.md").read_text()


@pytest.mark.promise("studio.file-refs")
def test_the_receipt_holds_the_lines_and_the_hash_of_the_excerpt(gate: Gate) -> None:
    result = read(gate, SCENE, start_line=4).unwrap()
    assert outcomes(gate)[-1].header["file_refs"] == [
        {
            "path": SCENE,
            "sha256": result["sha256"],
            "lines": [4, 4],
            "excerpt_sha256": sha256(result["text"].encode()).hexdigest(),
        }
    ]


def test_line_numbers_stand_before_the_lines_where_they_are_wanted(gate: Gate) -> None:
    text = read(gate, SCENE, start_line=4, include_line_numbers=True).unwrap()["text"]
    assert text.startswith("    4  She carried")


def test_a_dry_run_gives_no_text_and_no_file_reference(gate: Gate) -> None:
    result = read(gate, SCENE, dry_run=True).unwrap()
    assert (result["text"], result["total_lines"]) == ("", 4)
    assert not outcomes(gate)[-1].header.get("file_refs")


@pytest.mark.promise("studio.reader-inside")
@pytest.mark.parametrize(
    "path",
    [
        "../secret.md", "/etc/passwd", ".control-room/audit/secret.key", "tallystick.toml", "Story\x00.md",
        "no-such-file.md", "Story",
    ],
)  # fmt: skip
def test_what_is_not_a_file_of_the_workspace_is_not_there(gate: Gate, path: str) -> None:
    outcome = read(gate, path)
    assert (outcome.ok, outcome.http) == (False, 404)
    assert outcome.problem()["error"]["details"]["hint"]


def test_a_wrong_folder_is_answered_with_the_right_one(gate: Gate) -> None:
    outcome = read(gate, "SCN-01-arrival.md")
    assert SCENE in str(outcome.problem())


@pytest.mark.parametrize("lines", [(9, 12), (4, 2)])
def test_lines_that_are_not_there_are_refused(gate: Gate, lines: tuple[int, int]) -> None:
    assert read(gate, SCENE, start_line=lines[0], end_line=lines[1]).http == 404


@given(text=st.text(max_size=200), start=st.integers(1, 8))
@settings(max_examples=size(40, 500), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_read_as_it_stands_or_refused(gate: Gate, tmp_path: Path, text: str, start: int) -> None:
    (tmp_path / "any.md").write_text(text, encoding="utf-8", newline="")
    outcome = read(gate, "any.md", start_line=start)
    if outcome.ok:
        lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert outcome.result["text"].split("\n") == lines[start - 1 : outcome.result["end_line"]] or not text
        assert outcome.result["sha256"] == sha256(text.encode()).hexdigest()
    else:
        assert outcome.http == 404
