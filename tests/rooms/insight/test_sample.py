"""The sample tickets: made the same each time, believable, and shifted between the months on purpose."""

import csv
import io
from collections import Counter
from pathlib import Path

import orjson
import pytest

from tallystick.rooms.insight.ingest.dataset_import import ImportRequest, take
from tallystick.rooms.insight.pii import Placeholders
from tallystick.rooms.insight.sample.tickets import make, sample
from tallystick.rooms.insight.store import Store


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(sample().decode())))


@pytest.mark.promise("insight.sample")
def test_the_sample_is_what_its_script_makes() -> None:
    assert make() == sample()


@pytest.mark.promise("insight.sample")
def test_there_are_enough_tickets_of_two_months_and_they_do_not_repeat_each_other() -> None:
    tickets = rows()
    assert len(tickets) >= 600
    assert {ticket["created_at"][:7] for ticket in tickets} == {"2026-03", "2026-04"}
    assert len({ticket["department"] for ticket in tickets}) == 5
    assert len({ticket["description"] for ticket in tickets}) > 0.9 * len(tickets)
    assert len({ticket["customer_email"] for ticket in tickets}) < len(tickets)


@pytest.mark.promise("insight.sample")
def test_the_release_of_april_changed_what_customers_write_about() -> None:
    by_month: Counter[tuple[str, str]] = Counter()
    for ticket in rows():
        by_month[ticket["department"], ticket["created_at"][:7]] += 1
    assert by_month["Digital", "2026-04"] > 20 * by_month["Digital", "2026-03"]
    assert all("4.2" not in ticket["description"] for ticket in rows() if ticket["created_at"] < "2026-04-07")


@pytest.mark.promise("insight.sample", "insight.pii")
def test_nothing_personal_of_the_sample_reaches_the_database(store: Store, tmp_path: Path) -> None:
    (tmp_path / "tickets.csv").write_bytes(sample())
    asked = ImportRequest(workspace=tmp_path, file_path="tickets.csv")
    taken = take(asked, store, Placeholders(b"k" * 32), now=1)
    assert taken.inserted == len(rows())
    assert taken.dataset.bad_row_count == 0
    assert taken.dataset.mapping["text"] == "description"
    stored = [ticket.said for ticket in store.tickets(taken.dataset.dataset_id)]
    text = "\n".join(
        orjson.dumps([said.text, said.summary, said.customer, said.resolution]).decode() for said in stored
    )
    for planted in (
        "@example",
        "example.org",
        "07700 900",
        "7946 0",
        "4000 00",
        "400000",
        "TEST",
        "192.0.2.",
        "203.0.113.",
    ):
        assert planted not in text, planted
    # The same customer is still the same.
    assert len({said.customer for said in stored}) == len({ticket["customer_email"] for ticket in rows()})
