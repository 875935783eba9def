"""Files of what was found, put into groups that the tool takes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ToolError
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.continuity.service import ContinuityService
from tallystick.rooms.studio.tools.consistency_checker import check_whole, grouped
from tallystick.settings import Settings
from tallystick.storage.files import MAX_BYTES, FileSources

FILES = st.sets(st.sampled_from([f"SCN-{number}.md" for number in range(40)]), min_size=1, max_size=2)


@pytest.mark.promise("runs.bundled")
@given(st.lists(FILES, max_size=60), st.integers(min_value=2, max_value=10))
def test_every_finding_s_files_stand_together_in_a_group_that_is_not_too_large(
    together: list[set[str]], most: int
) -> None:
    groups = grouped(together, most)
    assert all(0 < len(group) <= most for group in groups)
    assert all(any(files <= set(group) for group in groups) for files in together)


def _checks(workspace: Path) -> ContinuityService:
    return ContinuityService(BookReader(FileSources(workspace)), workspace, Settings().models_dir())


def test_an_empty_book_has_nothing_to_check(tmp_path: Path) -> None:
    checked = check_whole(_checks(tmp_path), {})
    assert (checked["findings"], checked["groups"]) == ([], [])
    with pytest.raises(ToolError):
        check_whole(_checks(tmp_path), {"focus": "everything"})


@pytest.mark.promise("book.complaints")
def test_what_the_whole_book_lacks_is_told(tmp_path: Path) -> None:
    (tmp_path / "Story" / "Scenes").mkdir(parents=True)
    (tmp_path / "Story" / "Scenes" / "SCN-big.md").write_text("x" * (MAX_BYTES + 1))
    checked = check_whole(_checks(tmp_path), {})
    assert [(one["path"], one["left_out"]) for one in checked["complaints"]] == [("Story/Scenes/SCN-big.md", "scene")]
