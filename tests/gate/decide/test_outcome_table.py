"""The outcome table of the specification against the codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tallystick.gate.codes import FAULTS

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "vectors" / "decide_outcomes.json").read_text())[
    "rows"
]


@pytest.mark.promise("decide.outcome-table")
@pytest.mark.parametrize("row", ROWS, ids=[row["faults"][0] for row in ROWS])
def test_a_row_says_the_same_in_every_dialect(row: dict[str, Any]) -> None:
    for name, http in zip(row["faults"], row["http"], strict=True):
        fault = FAULTS[name]
        assert fault.call_code == row["call_code"]
        assert fault.boundary_code == row["code"]
        assert fault.category == row["category"]
        assert fault.http == http
        assert fault.bucket == row["bucket"]
        assert fault.ran is row.get("ran", False)


@pytest.mark.promise("decide.outcome-table")
def test_the_table_and_the_codes_hold_the_same_faults() -> None:
    named = [name for row in ROWS for name in row["faults"]]
    assert sorted(named) == sorted(FAULTS)
