"""Files of tickets that are small on disk and large once they are read."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.import_limits import ImportLimits
from tallystick.rooms.insight.ingest.table import UnusableFile
from tallystick.rooms.insight.store import Store
from tallystick.rooms.insight.store.tables import DATASETS, TICKETS
from tallystick.settings import Settings
from tallystick.storage.database import open_engine, writing
from tests.attacks.bombs import long_names_csv, shared_string_bomb, wide_csv, wide_json, wide_sheet
from tests.databases import migrate_with
from tests.doors.http.doorway import Doorway, problem
from tests.rooms.insight.ingest.files import as_csv, sheet, take_bytes
from tests.sizes import size

SMALL = ImportLimits(free_bytes=1_000_000, expansion_factor=2, rows=5_000)
SHORT = ImportLimits(cell_chars=1_000, row_chars=5_000)


@pytest.fixture
def store(tmp_path: Path):
    engine = open_engine(Settings(), tmp_path)
    migrate_with(engine, "insight")
    yield Store(engine)
    engine.dispose()


def nothing_stored(store: Store) -> bool:
    with store.engine.connect() as connection:
        return not any(
            connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() for table in (DATASETS, TICKETS)
        )


@pytest.mark.promise("attacks.expanded")
@pytest.mark.parametrize(
    ("name", "data", "code", "setting"),
    [
        ("bomb.xlsx", shared_string_bomb(5_000, 900), "expands_too_much", "imports.free_bytes"),
        ("names.csv", long_names_csv(20), "expands_too_much", "imports.expansion_factor"),
        ("wide.xlsx", wide_sheet(16_000, 3), "too_many_columns", "imports.columns"),
        ("wide.csv", wide_csv(16_000, 3), "too_many_columns", "imports.columns"),
        ("wide.json", wide_json(16_000), "too_many_columns", "imports.columns"),
        ("rows.csv", b"text\n" + b"a\n" * 6_000, "too_many_rows", "imports.rows"),
    ],
)  # fmt: skip
def test_a_file_that_expands_beyond_a_limit_is_refused_and_names_it(
    store: Store, tmp_path: Path, name: str, data: bytes, code: str, setting: str
) -> None:
    with pytest.raises(UnusableFile) as caught:
        take_bytes(store, tmp_path, name, data, limits=SMALL)
    assert caught.value.code == code
    assert setting in (caught.value.hint or "")
    assert nothing_stored(store)


@pytest.mark.promise("attacks.expanded")
@pytest.mark.parametrize("form", ["csv", "xlsx", "json", "jsonl"])
def test_a_cell_or_row_beyond_its_limit_is_a_bad_row_and_the_rest_is_taken(
    store: Store, tmp_path: Path, form: str
) -> None:
    from tests.rooms.insight.ingest.files import FORMATS  # noqa: PLC0415 - shared with the readers' own tests

    wide = {f"c{place}": "x" * 900 for place in range(8)}
    rows = [
        {"text": "fine"} | dict.fromkeys(wide, ""),
        {"text": "y" * 1_001} | dict.fromkeys(wide, ""),
        {"text": "z"} | wide,
    ]
    taken = take_bytes(store, tmp_path, f"t.{form}", FORMATS[f"tickets.{form}"](rows), limits=SHORT)
    assert taken.inserted == 1
    assert [row.reason for row in taken.dataset.bad_rows] == ["cell_too_long", "row_too_long"]


@pytest.mark.promise("attacks.expanded")
def test_a_stray_cell_far_out_costs_its_row_alone(store: Store, tmp_path: Path) -> None:
    rows = [["text"], ["fine"], ["far", *[""] * 8, "out"], ["fine too"]]
    taken = take_bytes(store, tmp_path, "t.xlsx", sheet(rows), limits=ImportLimits(columns=5))
    assert (taken.inserted, [row.reason for row in taken.dataset.bad_rows]) == (2, ["too_many_columns"])


@pytest.mark.promise("attacks.expanded")
def test_the_bomb_over_http_is_a_400_at_once_and_leaves_no_database_behind(tmp_path: Path) -> None:
    """502 KB with one shared text in 99,998 rows came to 3 GB of database and locked everybody out."""
    door = Doorway(tmp_path / "work")
    data = shared_string_bomb(size(20_000, 99_998), 30_000)
    assert len(data) < 1_000_000
    try:
        before = time.process_time()
        answer = door.post("/ingest/upload", files={"file": ("t.xlsx", data)})
        spent = time.process_time() - before
        details = problem(answer, 400, "validation_error")
        assert "imports.free_bytes" in details["hint"]
        assert sum(path.stat().st_size for path in (tmp_path / "work").rglob("*") if path.is_file()) < 5_000_000
        assert spent < 20
    finally:
        door.close()


@pytest.mark.promise("attacks.expanded")
@pytest.mark.parametrize(
    ("name", "data"), [("w.xlsx", wide_sheet(16_000, size(4, 14))), ("w.csv", wide_csv(16_000, size(4, 40)))]
)
def test_a_sheet_of_sixteen_thousand_columns_is_refused_by_its_header(tmp_path: Path, name: str, data: bytes) -> None:
    door = Doorway(tmp_path / "work")
    try:
        before = time.process_time()
        details = problem(door.post("/ingest/upload", files={"file": (name, data)}), 400, "validation_error")
        assert "imports.columns" in details["hint"]
        assert time.process_time() - before < 4
    finally:
        door.close()


@pytest.mark.promise("attacks.write-turns")
def test_another_writer_gets_its_turn_while_a_large_file_is_stored(store: Store, tmp_path: Path) -> None:
    rows = [{"text": f"{number} " + "words " * 150} for number in range(size(12_000, 200_000))]
    waits: list[float] = []
    turns: list[int] = []
    done = threading.Event()

    def other() -> None:
        while not done.is_set():
            begun = time.monotonic()
            with writing(store.engine) as connection:
                waits.append(time.monotonic() - begun)
                connection.execute(sa.text("UPDATE tally_insight_prompts SET saved_at = 0 WHERE version = 'none'"))
                held: Any = connection.execute(sa.select(sa.func.count()).select_from(TICKETS)).scalar()
                turns.append(held)
            time.sleep(0.005)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        taken = take_bytes(store, tmp_path, "t.csv", as_csv(rows))
    finally:
        done.set()
        thread.join()
    assert taken.inserted == len(rows)
    # It wrote while the tickets were on their way, not only before and after.
    assert len([held for held in turns if 0 < held < len(rows)]) >= 3
    assert max(waits) < 10, "a waiter would soon give up"


@pytest.mark.promise("attacks.write-turns")
def test_a_dataset_on_its_way_is_seen_by_nobody_and_what_a_dead_process_left_is_removed(
    store: Store, tmp_path: Path
) -> None:
    from tallystick.rooms.insight.model import NewTicket  # noqa: PLC0415
    from tallystick.rooms.insight.store.dataset_writer import ABANDONED_S, DatasetWriter  # noqa: PLC0415

    left = DatasetWriter(store.engine, "t.csv", "a" * 64, {}, 1_700_000_000 - ABANDONED_S - 1)
    left.add([NewTicket(external_id=None, created_at=None, text="half")])
    assert store.datasets() == []
    assert (store.dataset(left.dataset_id), store.dataset_by_hash("a" * 64), store.ticket(1)) == (None, None, None)
    taken = take_bytes(store, tmp_path, "b.csv", as_csv([{"text": "whole"}]))
    assert [each.dataset_id for each in store.datasets()] == [taken.dataset.dataset_id]
    with store.engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(TICKETS)).scalar() == 1
