"""Which file a request is about: by path, name, slug, number or title, and never one that is not there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.tasks.targets import KnownFile, find_target

VESTRY = KnownFile(
    path="Story/Scenes/SCN-03-the-vestry.md",
    slugs=("SCN-03-the-vestry", "03-the-vestry", "the-vestry", "SCN-03", "scene 3"),
    titles=("The Vestry",),
)
EVEN = KnownFile(path="Story/Scenes/SCN-even.md", slugs=("SCN-even", "even"), titles=("Even",))
KNOWN = (VESTRY, EVEN, KnownFile(path="a/same.md", slugs=("same",)), KnownFile(path="b/same.md", slugs=("same",)))


@pytest.mark.promise("tasks.route-fresh")
@pytest.mark.parametrize(
    ("message", "path", "method"),
    [
        ("Critique Story/Scenes/SCN-03-the-vestry.md, please.", VESTRY.path, "named_in_request"),
        ("Critique scn-03-the-vestry.md", VESTRY.path, "file_name"),
        ("Critique SCN-03-the-vestry", VESTRY.path, "slug"),
        ("Is Ada older in SCN-03?", VESTRY.path, "slug"),
        ("Tighten scene 3.", VESTRY.path, "slug"),
        ("What is wrong with “the vestry”?", VESTRY.path, "title"),
        ("Critique the scene Even", EVEN.path, "title"),
        ("Is she even there?", None, "not_resolved"),
        ("Read same.md", None, "not_resolved"),
        ("Critique Story/SCN-nope.md like The Vestry", None, "not_resolved"),
        ("", None, "not_resolved"),
    ],
)
def test_a_file_is_found_by_what_it_is_called(message: str, path: str | None, method: str) -> None:
    target = find_target(message, KNOWN).target
    assert (target.canonical_path, target.resolution_method) == (path, method)


@pytest.mark.promise("tasks.route-fresh")
def test_all_files_that_are_named_are_given() -> None:
    found = find_target("Compare the scene Even with The Vestry and none.md", KNOWN)
    assert found.files == (EVEN.path, VESTRY.path)


@pytest.mark.promise("tasks.route-fresh")
@given(st.text(max_size=200))
def test_no_text_gives_a_path_that_is_not_there(message: str) -> None:
    found = find_target(message, KNOWN)
    paths = {each.path for each in KNOWN}
    assert set(found.files) <= paths
    assert found.target.canonical_path in {None, *paths}
