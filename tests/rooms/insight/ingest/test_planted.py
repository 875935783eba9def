"""Personal data in every column of every format: none of it may reach the database."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.insight.ingest.table import UnusableFile
from tallystick.rooms.insight.pii import PLACEHOLDER
from tallystick.rooms.insight.store import Store
from tests.rooms.insight.ingest.files import FORMATS, PLACEHOLDERS, as_csv, take_bytes, tickets

SECRETS = {
    "email": "anna.berg@example.org",
    "phone": "+49 171 5550199",
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
    "ip": "203.0.113.77",
    "ipv6": "2001:db8::7334",
}
TRACES = ("anna.berg", "5550199", "1111 1111", "41111111", "3704 0044", "37040044", "203.0.113", "2001:db8")
COLUMNS = (
    "Number",
    "Short description",
    "Description",
    "Assignment group",
    "Configuration item",
    "Category",
    "Priority",
    "State",
    "Caller",
    "Close notes",
    "Reassignment count",
    "Work notes",
    "Requester email",
    "Contact phone",
    "Colour",
)


def everything_in(store: Store) -> str:
    """All that any table holds, as text."""
    found = []
    meta = sa.MetaData()
    meta.reflect(store.engine)
    with store.engine.connect() as connection:
        for table in meta.sorted_tables:
            for row in connection.execute(sa.select(table)):
                found += [
                    bytes(value).decode("utf-8", "replace") if isinstance(value, bytes | memoryview) else str(value)
                    for value in row
                ]
    return "\n".join(found)


@pytest.mark.promise("insight.planted")
@pytest.mark.parametrize("name", FORMATS)
def test_nothing_personal_of_any_column_is_stored(store: Store, tmp_path: Path, name: str) -> None:
    rows = []
    for place, column in enumerate(COLUMNS):
        for kind, secret in SECRETS.items():
            row = {other: f"{other} {place}" for other in COLUMNS} | {"Number": f"N{place}{kind}"}
            rows.append(row | {column: f"{column} {secret}" if column != "Number" else f"{secret} {place}"})
            rows.append(row | {"Number": f"M{place}{kind}", column: secret})
    taken = take_bytes(store, tmp_path, name, FORMATS[name](rows))
    assert taken.inserted > len(COLUMNS) * len(SECRETS)
    stored = everything_in(store)
    assert [trace for trace in TRACES if trace in stored] == []
    assert PLACEHOLDER.search(stored)


@pytest.mark.promise("insight.planted")
def test_names_of_columns_files_and_datasets_are_cleaned_too(store: Store, tmp_path: Path) -> None:
    data = as_csv([{"text": "a", f"note {SECRETS['email']}": "b", f"{SECRETS['phone']}": "c"}])
    take_bytes(store, tmp_path, f"{SECRETS['email']}.csv", data)
    take_bytes(store, tmp_path, "b.csv", data + b"\n", name=f"of {SECRETS['email']}")
    take_bytes(store, tmp_path, "c.csv", data + b"\n\n", mapping={"summary": f"note {SECRETS['email']}"})
    assert [trace for trace in TRACES if trace in everything_in(store)] == []


@pytest.mark.promise("insight.planted")
def test_a_refusal_shows_nothing_personal(store: Store, tmp_path: Path) -> None:
    lines = [f"{SECRETS['email']};{SECRETS['phone']};x", f"1;{SECRETS['card']};y"]
    with pytest.raises(UnusableFile) as caught:
        take_bytes(store, tmp_path, "a.csv", "\n".join(lines).encode())
    told = f"{caught.value} {caught.value.hint}"
    assert caught.value.code == "no_text_column"
    assert [trace for trace in TRACES if trace in told] == []


@pytest.mark.promise("insight.planted")
def test_numbers_of_spreadsheets_and_json_are_looked_at_too(store: Store, tmp_path: Path) -> None:
    data = json.dumps([{"text": "a", "paid_with": 4111111111111111, "caller": {"phone": 4915155501990}}]).encode()
    (ticket,) = tickets(store, take_bytes(store, tmp_path, "a.json", data))
    assert ticket.extra is not None
    assert ticket.extra["paid_with"].startswith("[card:")
    assert ticket.extra["caller.phone"].startswith("[")
    assert "41111111" not in everything_in(store)


@pytest.mark.promise("insight.planted")
def test_the_same_customer_joins_across_columns_rows_and_files(store: Store, tmp_path: Path) -> None:
    mail = SECRETS["email"]
    first = take_bytes(store, tmp_path, "a.csv", as_csv([{"text": f"I am {mail}", "email": mail.upper()}]))
    second = take_bytes(store, tmp_path, "b.csv", as_csv([{"Description": "again", "Requester": f"  {mail} "}]))
    (one,), (two,) = tickets(store, first), tickets(store, second)
    assert one.customer == two.customer == PLACEHOLDERS.clean(mail)
    assert one.text == f"I am {one.customer}"


@pytest.mark.promise("insight.pii")
@given(st.sampled_from(sorted(SECRETS.values())), st.text(max_size=30), st.text(max_size=30))
def test_nothing_around_it_hides_a_secret(secret: str, before: str, after: str) -> None:
    assert secret not in PLACEHOLDERS.clean(f"{before} {secret} {after}")
    assert secret not in PLACEHOLDERS.identity(f"{before}{secret}{after}")
