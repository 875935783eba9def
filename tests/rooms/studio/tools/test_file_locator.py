"""`file_locator`: names, headings and text; ranking, globs, absence, and nothing outside the workspace."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick import Gate
from tallystick.gate.reply.absence import find_term
from tallystick.rooms.studio.search.files import FileIndex
from tallystick.rooms.studio.search.query import Term, parse_query
from tallystick.storage.files import FileSources
from tests.gates import outcomes
from tests.sizes import size


def locate(gate: Gate, criteria: str, **more: Any) -> dict[str, Any]:
    return gate.call_sync("file_locator", {"search_criteria": criteria, **more}).unwrap()


def found(gate: Gate, criteria: str, **more: Any) -> list[str]:
    return [one["path"] for one in locate(gate, criteria, **more)["results"]]


@pytest.mark.promise("studio.locator-fast")
@pytest.mark.parametrize(
    ("criteria", "path"),
    [
        ("Story/SCN-outline.md", "Story/SCN-outline.md"),
        ("arrival", "Story/Scenes/SCN-01-arrival.md"),
        ("the quarrel scene", "Story/Scenes/SCN-02-quarrel.md"),
        ("Senn", "Compendium/Characters/mira.md"),
        ("mira holt", "Compendium/Characters/mira.md"),
    ],
)
def test_a_fast_scan_finds_by_name_heading_and_front_matter(gate: Gate, criteria: str, path: str) -> None:
    assert found(gate, criteria)[0] == path


@pytest.mark.promise("studio.locator-fast")
def test_a_fast_scan_does_not_read_the_text(gate: Gate) -> None:
    assert found(gate, "grandmother") == []
    assert found(gate, "grandmother", scan_mode="DEEP_SCAN") == ["Story/Scenes/SCN-01-arrival.md"]


@pytest.mark.promise("studio.locator-deep")
def test_a_deep_scan_gives_the_line_and_the_terms_it_was_found_by(gate: Gate) -> None:
    best = locate(gate, "Who has the silver compass?", scan_mode="DEEP_SCAN")["results"][0]
    assert best["path"] == "Story/Scenes/SCN-01-arrival.md"
    hit = best["hits"][0]
    assert (hit["line"], set(hit["terms"])) == (4, {"silver", "compass"})
    assert hit["text"] == "She carried a silver compass that had belonged to her grandmother."


@pytest.mark.promise("studio.locator-deep")
def test_other_forms_of_a_word_and_phrases_over_lines_are_found(gate: Gate) -> None:
    assert found(gate, "walking", scan_mode="DEEP_SCAN") == ["Story/Scenes/SCN-02-quarrel.md"]
    assert found(gate, '"the ferry. she carried"', scan_mode="DEEP_SCAN") == ["Story/Scenes/SCN-01-arrival.md"]
    assert found(gate, '"carried the ferry"', scan_mode="DEEP_SCAN") == []


@pytest.mark.promise("studio.locator-deep")
def test_words_that_stand_together_come_before_the_same_words_apart(gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "apart.md").write_text("A lantern.\n" + "Nothing.\n" * 20 + "A bridge.\n" * 3)
    (tmp_path / "close.md").write_text("Nothing.\n" * 20 + "The lantern on the bridge.\n")
    assert found(gate, "lantern bridge", scan_mode="DEEP_SCAN")[:2] == ["close.md", "apart.md"]


@pytest.mark.promise("studio.locator-globs")
def test_globs_narrow_only_where_they_are_switched_on(gate: Gate) -> None:
    assert set(found(gate, "Story/**/*.md", include_globs=True)) == {
        "Story/SCN-outline.md",
        "Story/Scenes/SCN-01-arrival.md",
        "Story/Scenes/SCN-02-quarrel.md",
    }
    only = locate(gate, "mira Compendium/**", include_globs=True, scan_mode="DEEP_SCAN")
    assert [one["path"] for one in only["results"]] == ["Compendium/Characters/mira.md"]
    assert only["scope"] == "Compendium/**"


@pytest.mark.promise("studio.locator-inside")
@pytest.mark.parametrize("glob", ["../*", "/etc/*", ".control-room/**", "**/.git/*"])
def test_nothing_outside_and_nothing_of_the_control_room_is_listed(gate: Gate, glob: str) -> None:
    outcome = gate.call_sync("file_locator", {"search_criteria": glob, "include_globs": True})
    assert not outcome.ok or outcome.result["results"] == []
    assert not any(".control-room" in path for path in found(gate, "secret key audit policy", scan_mode="DEEP_SCAN"))


@pytest.mark.promise("studio.locator-inside")
def test_a_link_out_of_the_workspace_is_not_followed(gate: Gate, tmp_path_factory: Any, tmp_path: Path) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "private.md").write_text("the hidden treasure")
    (tmp_path / "linked").symlink_to(outside)
    (tmp_path / "linked.md").symlink_to(outside / "private.md")
    assert found(gate, "treasure", scan_mode="DEEP_SCAN") == []


@pytest.mark.promise("studio.locator-absent")
def test_what_stands_nowhere_is_named_and_may_be_claimed(gate: Gate) -> None:
    result = locate(gate, "dragon compass", scan_mode="DEEP_SCAN")
    assert result["absent_terms"] == ["dragon"]
    receipt = outcomes(gate)[-1].receipt_id
    reply = f'No dragon here.\n\nEvidence: checked {result["scope"]} for "dragon"; receipt {receipt}'
    assert gate.check_reply(reply, tools_ran=True).ok


@pytest.mark.promise("studio.locator-absent")
def test_nothing_is_called_absent_when_a_file_could_not_be_read(gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "picture.bin").write_bytes(b"\0\1\2")
    result = locate(gate, "dragon", scan_mode="DEEP_SCAN")
    assert (result["files_skipped"], result["absent_terms"]) == (1, [])


def test_a_dry_run_reads_nothing_and_leaves_no_file_reference(gate: Gate) -> None:
    result = locate(gate, "compass", scan_mode="DEEP_SCAN", dry_run=True)
    assert (result["dry_run"], result["results"], result["files_searched"]) == (True, [], 5)
    assert not outcomes(gate)[-1].header.get("file_refs")


@pytest.mark.promise("studio.file-refs")
def test_the_receipt_names_the_files_that_were_found(gate: Gate) -> None:
    locate(gate, "compass", scan_mode="DEEP_SCAN")
    refs = outcomes(gate)[-1].header["file_refs"]
    assert [ref["path"] for ref in refs] == ["Story/Scenes/SCN-01-arrival.md"]


def test_max_results_cuts_and_the_number_found_is_still_told(gate: Gate) -> None:
    result = locate(gate, "mira", scan_mode="DEEP_SCAN", max_results=1)
    assert (len(result["results"]), result["files_found"]) == (1, 4)


def test_a_changed_file_is_searched_as_it_is_now(gate: Gate, tmp_path: Path) -> None:
    assert found(gate, "zeppelin", scan_mode="DEEP_SCAN") == []
    (tmp_path / "new.md").write_text("A zeppelin came down.")
    assert found(gate, "zeppelin", scan_mode="DEEP_SCAN") == ["new.md"]
    (tmp_path / "new.md").write_text("Nothing came down, after all.")
    assert found(gate, "zeppelin", scan_mode="DEEP_SCAN") == []


def test_a_search_without_a_word_finds_nothing_and_claims_nothing(gate: Gate) -> None:
    result = locate(gate, "?!", scan_mode="DEEP_SCAN")
    assert (result["results"], result["absent_terms"], result["files_searched"]) == ([], [], 0)


@given(st.text(max_size=80))
@settings(max_examples=size(100, 2000))
def test_any_criteria_are_read(text: str) -> None:
    criteria = parse_query(text, globs=True)
    assert len(criteria.terms) <= 24
    assert all(term.text for term in criteria.terms)


@pytest.mark.parametrize(
    ("asked", "line"), [("go", 1), ("walked", 2), ("Straße", 3), ("harbour", 4), ("half-light", 5), ("wal", 2)]
)
def test_a_word_is_found_in_its_other_forms_and_as_a_beginning(tmp_path: Path, asked: str, line: int) -> None:
    text = "He went on.\nShe walks.\nDie STRASSE.\nThe harbourmaster.\nThe half-light came.\n"
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    index = FileIndex(FileSources(tmp_path), tmp_path / ".control-room" / "words.db")
    file = index.open("a.md")
    assert file is not None
    query = parse_query(asked, globs=False)
    (term,) = query.terms
    found = index.occurrences(query)
    assert found.paths == {"a.md"}
    assert file.lines_with(term, found.forms.get(term.stem or "", ())) == [line]


@given(
    text=st.text(alphabet="abcÄßİ\n\r ’'-_.3", max_size=120), word=st.sampled_from(["ab", "a", "ba", "ca", "3", "a-b"])
)
@settings(max_examples=size(60, 2000), deadline=None)
def test_every_line_that_is_reported_holds_the_word(tmp_path_factory: Any, text: str, word: str) -> None:
    folder = tmp_path_factory.mktemp("work")
    (folder / "a.md").write_bytes(text.encode())
    index = FileIndex(FileSources(folder), tmp_path_factory.mktemp("state") / "words.db")
    file = index.open("a.md")
    assert file is not None
    lines = file.lines_with(Term(text=word, stem=word))
    assert all(word in file.source.lines[line - 1].lower() for line in lines)
    # What the reply check finds as a whole word, the search finds as well.
    assert lines or find_term(word, file.source) is None or not text.isascii()
    # The index of words leaves out no file that holds the word.
    assert not lines or "a.md" in index.occurrences(parse_query(f'"{word}"', globs=False)).paths
