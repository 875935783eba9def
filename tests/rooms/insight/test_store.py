import pytest

from tallystick.rooms.insight.model import BadRow, NewTicket, Where
from tallystick.rooms.insight.store import Store
from tallystick.rooms.insight.store.dataset_writer import ImportTotals

SUMS = ImportTotals(row_count=3, department_count=2, bad_row_count=1, bad_rows=(BadRow(line=4, reason="no_text"),))


def tickets() -> list[NewTicket]:
    return [
        NewTicket(
            external_id=f"T{at}", created_at=1_000 + at, text=f"text {at}", department="AB"[at % 2], extra={"x": "y"}
        )
        for at in range(3)
    ]


def filled(store: Store, file_hash: str = "f" * 64) -> int:
    with store.write_dataset("tickets.csv", file_hash, {"text": "Body"}, 99) as adding:
        adding.add(tickets())
        adding.finish(SUMS)
    return adding.dataset_id


def test_a_dataset_comes_back_as_it_was_written(store: Store) -> None:
    dataset_id = filled(store)
    dataset = store.dataset(dataset_id)
    assert dataset is not None
    assert (dataset.row_count, dataset.mapping, dataset.bad_rows) == (3, {"text": "Body"}, SUMS.bad_rows)
    assert store.dataset_by_hash("f" * 64) == dataset
    assert [ticket.said for ticket in store.tickets(dataset_id)] == tickets()
    assert store.count(dataset_id, Where(department=("A",))) == 2
    assert [t.said.text for t in store.tickets(dataset_id, Where(since=1_001, until=1_002))] == ["text 1"]


def test_a_file_that_is_not_finished_leaves_nothing(store: Store) -> None:
    with pytest.raises(RuntimeError), store.write_dataset("a", "a" * 64, {}, 1) as adding:  # noqa: PT012 - the error comes while it is being written
        adding.add(tickets())
        raise RuntimeError
    with store.write_dataset("b", "b" * 64, {}, 1) as adding:
        adding.add(tickets())
    assert store.datasets() == []
    assert store.count(1) == 0


def test_vectors_are_replaced_and_missing_ones_are_known(store: Store) -> None:
    dataset_id = filled(store)
    ids = store.ticket_ids(dataset_id)
    assert [t.ticket_id for t in store.without_vector(dataset_id, "m")] == ids
    store.put_vectors(dataset_id, "m", [(ids[0], b"1234"), (ids[1], b"abcd")])
    store.put_vectors(dataset_id, "m", [(ids[0], b"5678")])
    assert [list(chunk) for chunk in store.vectors(dataset_id, "m")] == [[(ids[0], b"5678"), (ids[1], b"abcd")]]
    assert [t.ticket_id for t in store.without_vector(dataset_id, "m")] == ids[2:]
    assert store.vector_stand(dataset_id) == {"m": (2, ids[1])}


def test_runs_analyses_prompts_and_mappings_come_back(store: Store) -> None:
    dataset_id = filled(store)
    ids = store.ticket_ids(dataset_id)
    run_id = store.add_run(dataset_id, "ward", "m", {"silhouette": 0.5}, [(one, 0) for one in ids], 5).run_id
    found = store.run(run_id)
    assert found is not None
    assert found.figures == {"silhouette": 0.5}
    assert store.assignments(run_id, limit=2) == [(ids[0], 0), (ids[1], 0)]
    assert store.count_assignments(run_id) == 3
    assert (store.members(run_id, 0, limit=2, offset=1), store.members(run_id, 1, limit=2)) == (ids[1:3], [])
    first = store.add_analysis(dataset_id, "v1", "How many?", 3, {"sentences": []}, 7)
    store.add_analysis(dataset_id, "v2", "Why?", 3, {}, 9)
    assert [one.analysis_id for one in store.analyses(prompt_version="v1")[0]] == [first]
    assert store.analyses(since=8)[1] == 1
    assert store.save_prompt("v1", "say {question}", {}, 1) == 1
    assert store.save_prompt("v1", "tell {question}", {"a": 1}, 2) == 2
    kept = store.prompt("v1")
    assert kept is not None
    assert (kept.template, kept.metadata, store.prompt_versions()) == ("tell {question}", {"a": 1}, ["v1"])
    store.put_mapping("zendesk", {"text": "description"})
    assert store.mapping("zendesk") == {"text": "description"}
    assert store.mapping("none") is None
