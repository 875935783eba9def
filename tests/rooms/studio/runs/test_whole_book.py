"""Files of what was found, put into groups that the tool takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ToolError
from tallystick.rooms.studio.book.nouns import Book, Complaint
from tallystick.rooms.studio.whole_book import check_whole, grouped

FILES = st.sets(st.sampled_from([f"SCN-{number}.md" for number in range(40)]), min_size=1, max_size=2)


@pytest.mark.promise("runs.bundled")
@given(st.lists(FILES, max_size=60), st.integers(min_value=2, max_value=10))
def test_every_finding_s_files_stand_together_in_a_group_that_is_not_too_large(
    together: list[set[str]], most: int
) -> None:
    groups = grouped(together, most)
    assert all(0 < len(group) <= most for group in groups)
    assert all(any(files <= set(group) for group in groups) for files in together)


def test_an_empty_book_has_nothing_to_check(tmp_path) -> None:
    empty = Book(scenes=(), cards=(), outline=None, complaints=())
    checked = check_whole(empty, tmp_path, {})
    assert (checked["findings"], checked["groups"]) == ([], [])
    with pytest.raises(ToolError):
        check_whole(empty, tmp_path, {"focus": "everything"})


@pytest.mark.promise("book.complaints")
def test_what_the_whole_book_lacks_is_told(tmp_path) -> None:
    lost = Complaint(code="file_too_large", path="SCN-big.md", line=1, message="Split it.", left_out="scene")
    checked = check_whole(Book(scenes=(), cards=(), outline=None, complaints=(lost,)), tmp_path, {})
    assert [(one["path"], one["left_out"]) for one in checked["complaints"]] == [("SCN-big.md", "scene")]
