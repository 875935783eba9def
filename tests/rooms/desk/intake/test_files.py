"""Files of messages: what they hold becomes events, what cannot be read is left and named."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.agents.problem import Problem
from tallystick.rooms.desk.intake.file_event import SkippedItem
from tallystick.rooms.desk.intake.files import FORMS, ImportResult, events_in, import_file
from tests.rooms.desk.desk_service import Desk
from tests.sizes import size

MBOX = b"""From ada@example.org Mon Jan  5 10:00:00 2026
From: Ada <ada@example.org>
Message-ID: <one@example.org>
Date: Mon, 05 Jan 2026 10:00:00 +0000
Subject: =?utf-8?q?Lieferung_f=C3=BCr_Leeds?=

Where is my parcel?
>From the shop I heard nothing.

From ada@example.org Mon Jan  5 11:00:00 2026
From: Ada <ada@example.org>
Message-ID: <three@example.org>
In-Reply-To: <two@shop.example>
References: <one@example.org> <two@shop.example>
Date: Mon, 05 Jan 2026 11:00:00 +0000
Subject: Re: parcel
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/html; charset=utf-8

<html><head><style>p {}</style></head><body><p>Still <b>nothing</b>.</p><script>x()</script><p>Ada</p></body></html>
--b--

From eve@example.org Mon Jan  5 12:00:00 2026
From: eve@example.org
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Fine now.

On Mon, 5 Jan 2026, the shop wrote:
> Is it fine now?
"""


def read(path: Path, form: str | None = None) -> list[Any]:
    found = events_in(path, form)
    assert not isinstance(found, Problem), found
    return [one if isinstance(one, SkippedItem) else one.event for one in found]


def code(path: Path, form: str | None = None) -> str:
    found = events_in(path, form)
    assert isinstance(found, Problem)
    return found.code


@pytest.mark.promise("desk.files")
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (
            'Ticket ID,Subject,Description,Email,Created At,id\n7,Parcel,"Where, oh where?\nHelp!",a@b.c,2026-01-05,1\n',
            "utf-8",
        ),
        (
            "id;e-mail;Email;description;subject;ticket_id;created_at\r\n1;x;a@b.c;Where, oh where?\nHelp!;Parcel;7;2026-01-05\r\n",
            "utf-8-sig",
        ),
        (
            'id\tThread-Id\tfrom\tbody\ttitle\tdate\n1\t7\ta@b.c\t"Where, oh where?\nHelp!"\tParcel\t2026-01-05\n\t\t\t\t\t\n',
            "utf-8",
        ),
    ],
)
def test_rows_of_csv_become_events_whatever_the_columns_are_called(tmp_path: Path, text: str, encoding: str) -> None:
    file = tmp_path / "rows.csv"
    quoted = text if '"' in text else text.replace("Where, oh where?\nHelp!", '"Where, oh where?\nHelp!"')
    file.write_bytes(quoted.encode(encoding))
    assert read(file) == [
        {
            "type": "csv_row",
            "content": "Parcel\n\nWhere, oh where?\nHelp!",
            "thread_id": "7",
            "event_id": "1",
            "actor": "a@b.c",
            "timestamp": "2026-01-05",
        }
    ]


@pytest.mark.promise("desk.files")
def test_bytes_of_another_encoding_and_rows_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    huge = b"x" * 200_000
    file.write_bytes(b"message,actor\ncaf\xe9,ada\n" + huge + b",eve\nshort\nna\xc3\xafve,grace\n")
    first, second, third, last = read(file)
    assert (first["content"], last["content"]) == ("café", "naïve")
    assert second == SkippedItem(place="row 3", reason="row_malformed")
    assert third == {"type": "csv_row", "content": "short"}
    assert code(_written(tmp_path / "none.csv", b"a,b\n1,2\n")) == "content_column_missing"
    assert code(_written(tmp_path / "empty.csv", b"")) == "content_column_missing"


@pytest.mark.promise("desk.files")
def test_mails_of_an_mbox_become_events_with_their_thread_and_without_what_they_quote(tmp_path: Path) -> None:
    first, second, third = read(_written(tmp_path / "mail.mbox", MBOX))
    assert first == {
        "type": "email",
        "event_id": "<one@example.org>",
        "thread_id": "<one@example.org>",
        "actor": "ada@example.org",
        "timestamp": "2026-01-05T10:00:00+00:00",
        "content": "Lieferung für Leeds\n\nWhere is my parcel?\nFrom the shop I heard nothing.",
    }
    assert (second["thread_id"], second["content"]) == ("<one@example.org>", "Re: parcel\n\nStill nothing.\nAda")
    assert third == {"type": "email", "content": "Fine now.", "actor": "eve@example.org"}


@pytest.mark.promise("desk.files")
def test_mails_nobody_can_read_are_left_and_the_next_one_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = b"From a\nContent-Type: text/plain; charset=no-such\nFrom: \xff\xfe\n\n\xff words\n\n"
    monkeypatch.setattr("tallystick.rooms.desk.intake.mbox_file.MAX_MAIL", 2_000)
    huge = b"From b\nSubject: big\n\n" + b"x" * 3_000 + b"\n\n"
    found = read(_written(tmp_path / "mail.mbox", odd + huge + MBOX))
    assert found[1] == SkippedItem(place="message 2", reason="mail_too_large")
    assert len(found) == 5
    assert found[2]["event_id"] == "<one@example.org>"
    assert read(_written(tmp_path / "other.mbox", b"no mail at all\n")) == []


def zendesk(number: Any, *comments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "subject": "Parcel",
        "description": "Where is it?",
        "status": "open",
        "requester_id": 1,
        "created_at": "2026-01-05T10:00:00Z",
        **({"comments": list(comments)} if comments else {}),
        **more,
    }


def comment(author: int, body: str, number: int, **more: Any) -> dict[str, Any]:
    return {"id": number, "author_id": author, "body": body, "created_at": f"2026-01-05T1{number}:00:00Z", **more}


@pytest.mark.promise("desk.files")
@pytest.mark.parametrize("form", ["export", "list", "lines", "one"])
def test_what_waits_for_us_in_zendesks_tickets_becomes_one_event_each(tmp_path: Path, form: str) -> None:
    tickets = [
        zendesk(35, requester={"email": "ada@example.org"}),
        zendesk(
            36,
            comment(1, "Where?", 1),
            comment(2, "On its way.", 2),
            comment(1, "Still not.", 3),
            comment(1, "Hello?", 4),
            comment(2, "internal", 5, public=False),
        ),
        zendesk(37, comment(1, "Where?", 1), comment(2, "Here.", 2)),
        zendesk(38, status="solved"),
        {"no": "ticket"},
    ]
    data = {
        "export": lambda: ("z.json", json.dumps({"tickets": tickets})),
        "list": lambda: ("z.json", json.dumps(tickets)),
        "lines": lambda: ("z.jsonl", "\n".join(map(json.dumps, tickets)) + "\n\n"),
        "one": lambda: ("z.json", json.dumps(tickets[0])),
    }[form]()
    found = read(_written(tmp_path / data[0], b"\xef\xbb\xbf" + data[1].encode()))
    assert found[0] == {
        "type": "zendesk_ticket",
        "content": "Parcel\n\nWhere is it?",
        "thread_id": "zendesk-35",
        "event_id": "zendesk-35-description",
        "actor": "ada@example.org",
        "timestamp": "2026-01-05T10:00:00Z",
    }
    if form == "one":
        return
    assert found[1]["content"] == "Parcel\n\nStill not.\n\nHello?"
    assert (found[1]["event_id"], found[1]["actor"]) == ("zendesk-36-4", "zendesk-user-1")
    assert found[2:] == [
        SkippedItem(place="ticket 37", reason="already_answered"),
        SkippedItem(place="ticket 38", reason="ticket_closed"),
        SkippedItem(place="ticket 5", reason="ticket_malformed"),
    ]


@pytest.mark.promise("desk.files")
def test_what_is_no_such_file_is_a_problem_with_a_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert code(tmp_path / "gone.csv") == "file_missing"
    assert code(tmp_path) == "form_unknown"
    assert code(_written(tmp_path / "x.doc", b"x")) == "form_unknown"
    assert code(_written(tmp_path / "x.json", b"{")) == "json_malformed"
    assert code(_written(tmp_path / "y.json", b"7")) == "tickets_missing"
    assert code(_written(tmp_path / "z.json", b'{"tickets": {}}')) == "tickets_missing"
    monkeypatch.setattr("tallystick.rooms.desk.intake.zendesk_file.MAX_BYTES", 3)
    assert code(_written(tmp_path / "big.json", b"[{}]")) == "file_too_large"


@pytest.mark.promise("desk.files")
def test_a_file_is_taken_once_however_often_it_is_brought(desk: Desk, tmp_path: Path) -> None:
    rows = "".join(f"{number},words number {number}\n" for number in range(250))
    file = _written(tmp_path / "rows.csv", f"id,message\n{rows},\n250,\n".encode())
    told: list[int] = []
    taken = import_file(desk.service.intake, file, told=told.append)
    assert isinstance(taken, ImportResult)
    assert taken.counts() == {"queued": 250, "skipped": 0, "rejected": 1, "left": 0}
    assert told == [100, 200, 251]
    again = import_file(desk.service.intake, file)
    assert isinstance(again, ImportResult)
    assert again.counts() == {"queued": 0, "skipped": 250, "rejected": 1, "left": 0}
    assert desk.service.tickets.list()[1] == 250
    assert desk.ticket(str(taken.taken[7].received.ticket_id)).event["source"] == "rows.csv"
    assert import_file(desk.service.intake, tmp_path / "gone.csv").code == "file_missing"  # type: ignore[union-attr]


@pytest.mark.promise("desk.files")
def test_what_is_not_taken_is_named_by_row_and_line(desk: Desk, tmp_path: Path) -> None:
    file = _written(tmp_path / "rows.csv", b'id,message\n1,\n2,"two\nlines"\n3,\n')
    done = import_file(desk.service.intake, file)
    assert isinstance(done, ImportResult)
    assert [(one.place, one.received.reason) for one in done.rejected()] == [
        ("row 2", "content_missing"),
        ("row 4, line 5", "content_missing"),
    ]


@pytest.mark.promise("desk.files")
@pytest.mark.parametrize("form", sorted(FORMS))
@settings(max_examples=size(60, 3_000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                b"message,id\n",
                b"\n",
                b"From a\n",
                b"Subject: x\n",
                b'"',
                b",",
                b"\xff",
                b"\0",
                b"Date: yesterday\n",
                b"Content-Type: multipart/mixed; boundary=b\n",
                b"--b\n",
                b'{"tickets":[',
                b'{"id":1}',
                b"]}",
                b"words",
                b"Content-Type: text/html; charset=utf-7\n",
                b"<p",
                b"=?utf-8?b?x?=",
                b"Message-ID: <<>\n",
                b"From: @@ <\n",
            ]
        ),
        max_size=30,
    ).map(b"".join)
)
def test_no_file_whatever_makes_reading_fail(tmp_path: Path, form: str, data: bytes) -> None:
    found = events_in(_written(tmp_path / f"any.{form}", data), form)
    for one in [] if isinstance(found, Problem) else found:
        if not isinstance(one, SkippedItem):
            json.dumps(one.event).encode()
            one.event["content"].encode("utf-8")


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
