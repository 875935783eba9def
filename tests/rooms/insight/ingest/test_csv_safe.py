import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.insight.ingest.csv_safe import csv_safe


@pytest.mark.promise("insight.hostile")
@pytest.mark.parametrize(
    "cell", ["=1+2", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "\r=1", "\uff1d1+2", "=HYPERLINK(1)"]
)
def test_a_cell_that_a_program_would_compute_is_marked(cell: str) -> None:
    assert csv_safe(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "hello", "a=b", "-5", "+3.5", "12", "-1,5", "5%", "'=1"])
def test_other_cells_stay_as_they_are(cell: str) -> None:
    assert csv_safe(cell) == cell


@given(st.text())
def test_what_was_made_safe_is_safe(cell: str) -> None:
    assert csv_safe(csv_safe(cell)) == csv_safe(cell)
