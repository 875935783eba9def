"""Bad input over HTTP: the canonical category, a hint, nothing half stored; and what can be read in spite of it is."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.doors.http.doorway import Doorway, problem
from tests.rooms.insight.ingest.files import sheet
from tests.rooms.insight.ingest.test_xlsx_table import ROWS, with_part

WIDE = ",".join(f"c{number}" for number in range(10_000))
FILES = {
    "empty.csv": b"", "header only.csv": b"id,text\n", "wrong delimiter.csv": b"id:text\n1:my card is late\n",
    "lying delimiter.csv": b"sep=|\nid;text\n1;my card is late\n", "other rows.csv": b"id,text\n1;a\n2;b\n",
    "10,000 columns.csv": f"{WIDE}\n{WIDE}\n".encode(), "all ids empty.csv": b"id,text\n,\n,\n",
    "bomb.xlsx": with_part(sheet(ROWS), "xl/worksheets/sheet1.xml", b"0" * 40_000_000),
    "entities.xlsx": with_part(sheet(ROWS), "xl/workbook.xml", b'<!DOCTYPE a [<!ENTITY b "c">]><a/>'),
    "no sheet.xlsx": b"PK\x03\x04", "cut.json": b'[{"text": "a"}, {"te', "binary.csv": bytes(range(256)) * 8,
}  # fmt: skip
ODD = "\n".join(
    [
        "id,text,department", "1,=1+2,Sales", "2,=HYPERLINK(0),Größe", "1,the same id again,Sales",
        "3," + ",".join(["wide"] * 10_000), "4,still here,Café", "5,,Sales",
    ]
)  # fmt: skip
CALLS: list[tuple[str, Any, int, str]] = [
    ("/embed/run", {"dataset_id": 9}, 404, "downstream_error"),
    ("/cluster/run", {"dataset_id": 9, "algorithm": "ward"}, 404, "downstream_error"),
    ("/analysis/run", {"dataset_id": 9, "question": "why?"}, 404, "downstream_error"),
    ("/search/nn?dataset_id=9&q=x", None, 404, "downstream_error"),
    ("/search/nn?dataset_id=2&q=x", None, 409, "downstream_error"),
    ("/cluster/run", {"dataset_id": 2, "algorithm": "hdbscan"}, 409, "downstream_error"),
    ("/cluster/run", {"dataset_id": 1, "algorithm": "ward", "params": {"n_clusters": 4}}, 400, "validation_error"),
    ("/cluster/run", {"dataset_id": 1, "algorithm": "kmeans", "params": {"n_clusters": 10**12}}, 400, "validation_error"),
    ("/cluster/run", {"dataset_id": 1, "algorithm": "hdbscan"}, 400, "validation_error"),
    ("/cluster/run", {"dataset_id": 1, "algorithm": "ward", "model_name": "nobody's"}, 400, "validation_error"),
    ("/embed/run", {"dataset_id": 1, "backend": "builtin", "model_name": "bert"}, 400, "validation_error"),
    ("/embed/run", {"dataset_id": 1, "model_name": "../../etc/passwd"}, 400, "validation_error"),
    ("/embed/run", {"dataset_id": 1, "model_name": "nobody/nothing"}, 422, "tool_unavailable"),
]  # fmt: skip


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doorway]:
    """Dataset 1 has three tickets that are alike in nothing, embedded; dataset 2 has one, not embedded."""
    opened = Doorway(tmp_path_factory.mktemp("bad") / "work")
    assert upload(opened, "three.csv", b"text\nmy card is late\nthe boiler leaks\nwhere is the invoice\n").is_success
    assert upload(opened, "bare.csv", b"text\nnever embedded\n").is_success
    assert opened.post("/embed/run", {"dataset_id": 1}).status_code == 200
    yield opened
    opened.close()


def upload(door: Doorway, name: str, data: bytes) -> Any:
    return door.request("POST", "/ingest/upload", files={"file": (name, data)})


def everything(door: Doorway) -> Any:
    """What the room holds: datasets, vectors, groupings, answers."""
    room: Any = door.gate.room("insight")
    store = room.store
    return [
        (one, store.count(one.dataset_id), store.vector_stamps(one.dataset_id), store.runs(one.dataset_id))
        for one in store.datasets()
    ], door.get("/history/analyses").json()


@pytest.mark.promise("insight.problems", "insight.hostile", "insight.whole")
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_read_says_why_and_leaves_nothing(door: Doorway, name: str) -> None:
    before = everything(door)
    assert problem(upload(door, name, FILES[name]), 400, "validation_error")["hint"]
    assert everything(door) == before


@pytest.mark.promise("insight.problems")
@pytest.mark.parametrize(("path", "body", "status", "category"), CALLS)
def test_a_call_that_cannot_be_made_says_why_and_leaves_nothing(
    door: Doorway, path: str, body: Any, status: int, category: str
) -> None:
    before = everything(door)
    answer = door.get(path) if body is None else door.post(path, body)
    assert problem(answer, status, category)["hint"]
    assert everything(door) == before


def test_more_may_be_asked_for_than_there_is(door: Doorway) -> None:
    found = door.get("/search/nn?dataset_id=1&q=card&k=1000&rerank=true").json()
    assert (found["k"], len(found["results"])) == (1_000, 3)


@pytest.mark.promise("insight.bad-rows", "insight.encodings")
def test_good_rows_among_bad_ones_are_kept_as_text(tmp_path_factory: pytest.TempPathFactory) -> None:
    odd = Doorway(tmp_path_factory.mktemp("odd") / "work")
    # The first half as one program wrote it, the second as another.
    head, tail = ODD.split("Sales\n2,", 1)
    taken = upload(odd, "odd.csv", head.encode() + b"Sales\n2," + tail.encode("cp1252"))
    assert (taken.status_code, taken.json()["row_count"]) == (200, 3)
    told = odd.get("/ingest/1").json()
    assert [(row["line"], row["reason"]) for row in told["bad_rows"]] == [
        (4, "duplicate_id"), (5, "too_many_columns"), (7, "no_text"),
    ]  # fmt: skip
    room: Any = odd.gate.room("insight")
    said = [(ticket.said.text, ticket.said.department) for ticket in room.store.tickets(1)]
    assert said == [("=1+2", "Sales"), ("=HYPERLINK(0)", "Größe"), ("still here", "Café")]
    odd.close()
