"""Files looked at before they are taken."""

from pathlib import Path

import pytest

from tallystick.rooms.insight.ingest.dataset_import import ImportRequest, take
from tallystick.rooms.insight.ingest.preview import Preview, preview
from tallystick.rooms.insight.ingest.table import UnusableFile
from tallystick.rooms.insight.store import Store
from tests.rooms.insight.ingest.files import PLACEHOLDERS

LINES = "Nr,Told us,Mail\n1,It broke,ada@example.org\n2,,bea@example.org\n3,Again,ada@example.org\n"


def look(store: Store, folder: Path, text: str, mapping: dict[str, str] | None = None) -> Preview:
    (folder / "a.csv").write_text(text)
    return preview(ImportRequest(workspace=folder, file_path="a.csv", mapping=mapping), store, PLACEHOLDERS)


@pytest.mark.promise("insight.mapping")
def test_a_file_without_a_known_text_is_shown_with_its_columns_and_read_once_that_is_said(
    store: Store, tmp_path: Path
) -> None:
    first = look(store, tmp_path, LINES)
    assert (first.columns, first.tickets, bool(first.trouble)) == (("Nr", "Told us", "Mail"), (), True)
    said = look(store, tmp_path, LINES, {"text": "Told us", "external_id": "Nr"})
    assert (said.trouble, said.mapping["text"], [one.reason for one in said.bad_rows]) == ("", "Told us", ["no_text"])
    assert [one.text for one in said.tickets] == ["It broke", "Again"]
    assert "ada@" not in str(said.tickets), "shown as it would be stored"
    assert store.datasets() == []


@pytest.mark.promise("insight.mapping")
@pytest.mark.parametrize("header", ["Description,description", "Description,Description"])
def test_columns_of_one_name_are_disclosed(store: Store, tmp_path: Path, header: str) -> None:
    seen = look(store, tmp_path, f"Nr,{header}\n1,It broke,other\n")
    assert seen.mapping["text"] == "Description"
    assert len(seen.notices) == 1
    assert "'Description'" in seen.notices[0]
    assert look(store, tmp_path, "Nr,Description\n1,It broke\n").notices == ()


@pytest.mark.promise("insight.mapping")
def test_a_mapping_that_does_not_fit_is_told_and_what_fits_is_kept(store: Store, tmp_path: Path) -> None:
    found = look(store, tmp_path, LINES, {"text": "Told us", "category": "Told us"})
    assert (bool(found.trouble), found.mapping["text"]) == (True, "Told us")


@pytest.mark.promise("insight.once")
def test_a_file_that_was_taken_is_recognised(store: Store, tmp_path: Path) -> None:
    text = LINES.replace("Told us", "description")
    assert look(store, tmp_path, text).known is None
    take(ImportRequest(workspace=tmp_path, file_path="a.csv"), store, PLACEHOLDERS, now=1)
    known = look(store, tmp_path, text).known
    assert known is not None
    assert known.row_count == 2


def test_what_no_mapping_puts_right_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UnusableFile) as caught:
        look(store, tmp_path, "  ")
    assert caught.value.code == "empty_file"
