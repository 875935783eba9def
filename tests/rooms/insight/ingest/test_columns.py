import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.insight.ingest.columns import FIELDS, is_personal, known_columns, plain

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[3] / "vectors" / "insight_headers.json").read_text())


@pytest.mark.promise("insight.headers")
@pytest.mark.parametrize("export", VECTORS["exports"], ids=lambda export: export["name"])
def test_the_columns_of_an_export_are_known(export: dict[str, Any]) -> None:
    known = known_columns(export["header"])
    assert {field: export["header"][place] for field, place in known.items()} == export["mapping"]


@pytest.mark.promise("insight.headers")
@pytest.mark.parametrize(
    ("header", "mapping"),
    [
        (["Group", "Subject", "Description [txt]", "Department [list]", "Group stations", "Reassignment count [int]"], {
            "summary": "Subject", "text": "Description [txt]", "department": "Department [list]",
            "reassignments": "Reassignment count [int]"}),
        (["number", "description", "u_department", "assignment_group"], {
            "external_id": "number", "text": "description", "department": "u_department"}),
        (["Issue key", "Description", "Custom field (Department)"], {
            "external_id": "Issue key", "text": "Description", "department": "Custom field (Department)"}),
    ],
    ids=["Zendesk", "ServiceNow", "Jira"],
)  # fmt: skip
def test_custom_fields_are_known_by_their_names(header: list[str], mapping: dict[str, str]) -> None:
    assert {field: header[place] for field, place in known_columns(header).items()} == mapping


@pytest.mark.promise("insight.headers")
def test_columns_that_name_somebody_are_known() -> None:
    assert [name for name in VECTORS["personal"] if not is_personal(name)] == []
    assert [name for name in VECTORS["not_personal"] if is_personal(name)] == []


@given(
    st.lists(
        st.text(max_size=20) | st.sampled_from(["text", "Body", "id", "Created at", "Group", "customer"]), max_size=12
    )
)
def test_each_column_means_one_field_at_most(header: list[str]) -> None:
    known = known_columns(header)
    assert len(set(known.values())) == len(known)
    assert known.keys() <= set(FIELDS)


@given(st.text(max_size=40))
def test_a_plain_name_stays_plain(name: str) -> None:
    assert plain(plain(name)) == plain(name)
