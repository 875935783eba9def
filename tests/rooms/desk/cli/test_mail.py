"""The desk by mail, with real servers: mails become tickets, approved replies leave, and nothing goes twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally
from tests.rooms.desk.mail_servers import PASSWORD, USER, Post, flags, imap_server, put_mail, smtp_server

HOURS = "# Opening hours\n\nOur shop in Leeds is open from 9 to 17 on working days.\n"
ASKED = "When is the shop in Leeds open?"


@pytest.fixture
def post() -> Post:
    return Post()


@pytest.fixture
def imap() -> Iterator[int]:
    with imap_server() as port:
        yield port


@pytest.fixture
def smtp(post: Post) -> Iterator[int]:
    with smtp_server(post) as port:
        yield port


@pytest.fixture
def shop(workspace: Path, imap: int, smtp: int) -> Path:
    """A workspace whose desk has a mailbox."""
    (workspace / "kb").mkdir()
    (workspace / "kb" / "hours.md").write_text(HOURS, encoding="utf-8")
    (workspace / "tallystick.toml").write_text(settings(imap, smtp), encoding="utf-8")
    return workspace


def settings(imap: int, smtp: int, *, security: str = "none", host: str = "127.0.0.1", within_s: float = 20) -> str:
    return f"""
[rooms.desk]
send = "auto"
channel = "mail"
kb_meaning = false
verdict = {{ threshold = 0.3 }}
[rooms.desk.mail]
address = "help@shop.example"
user = "{USER}"
password = "{PASSWORD}"
smtp_host = "{host}"
smtp_port = {smtp}
smtp_security = "{security}"
imap_host = "{host}"
imap_port = {imap}
imap_security = "{security}"
within_s = {within_s}
"""


@pytest.mark.promise("desk.mail", "desk.mail-once")
def test_a_mail_becomes_a_ticket_once_and_its_answer_leaves_by_mail(
    tally: Tally, shop: Path, imap: int, post: Post
) -> None:
    put_mail(imap, ASKED, From="Ann <ann@home.example>", Message_ID="<one@home.example>", Subject="Hours")
    taken = tally("desk", "mail")
    assert (taken.code, taken.out.split(",")[0]) == (0, "1 mail taken"), taken.err
    assert flags(imap) == ["Seen"]
    assert tally("desk", "mail", "--json").json == {"queued": 0, "known": 0, "left": [], "failure": None}
    assert tally("desk", "work").code == 0
    (mail,) = post.mails
    assert (mail["From"], mail["To"], mail["In-Reply-To"]) == (
        "help@shop.example",
        "ann@home.example",
        "<one@home.example>",
    )
    assert mail["Auto-Submitted"] == "auto-replied"
    assert "open from 9 to 17" in mail.get_content()
    # The same mail, delivered to the folder again, asks nothing new.
    put_mail(imap, ASKED, From="ann@home.example", Message_ID="<one@home.example>", Subject="Hours")
    assert tally("desk", "mail", "--json").json["known"] == 1
    assert PASSWORD not in taken.out + taken.err


@pytest.mark.promise("desk.mail")
def test_mails_of_programs_are_answered_by_nobody_and_marked_for_a_person(tally: Tally, shop: Path, imap: int) -> None:
    put_mail(imap, "I am away.", From="ann@home.example", Message_ID="<1@x>", Auto_Submitted="auto-replied")
    put_mail(imap, "Undelivered.", From="MAILER-DAEMON@x.example", Message_ID="<2@x>")
    put_mail(imap, "Our own.", From="help@shop.example", Message_ID="<3@x>")
    assert tally("desk", "mail", "--json").json["left"] == ["mail_automatic"] * 3
    assert flags(imap) == ["Flagged Seen"] * 3
    assert tally("desk", "list", "--json").json["total"] == 0


@pytest.mark.promise("desk.mail-once")
@pytest.mark.parametrize(
    ("sender", "harm", "note"),
    [
        ("ann@home.example", "hangs up", "end_unclear"),
        ("ann@home.example", "refuses", "the server answered 554"),
        ("nobody@home.example", "", "the server answered 550"),
        ("no address", "", "the customer has no mail address"),
    ],
)
def test_a_reply_that_may_have_arrived_or_never_will_is_left_to_a_person(
    tally: Tally, shop: Path, post: Post, sender: str, harm: str, note: str
) -> None:
    post.hangs_up = harm == "hangs up"
    post.answer = "554 no" if harm == "refuses" else post.answer
    tally("desk", "add", ASKED, "--thread", "t", "--from", sender)
    for _ in range(2):
        tally("desk", "work")
    (message,) = tally("desk", "outbox", "--json").json["items"]
    assert (message["state"], message["note"]) == ("failed", note)
    assert len(post.mails) == (1 if harm else 0)


@pytest.mark.promise("desk.mail")
def test_nothing_is_sent_unencrypted_to_another_machine_and_a_bad_certificate_is_refused(
    tally: Tally, shop: Path, imap: int, smtp: int, post: Post
) -> None:
    toml = shop / "tallystick.toml"
    toml.write_text(settings(imap, smtp, host="mail.shop.example"), encoding="utf-8")
    assert tally("desk", "mail").error == "config_bad_value"
    # Neither server here speaks TLS, so nothing of the login reaches them.
    toml.write_text(settings(imap, smtp, security="tls", within_s=2), encoding="utf-8")
    refused = tally("desk", "mail")
    assert refused.error == "mailbox_failed"
    assert PASSWORD not in refused.err
    toml.write_text(settings(imap, smtp).replace(PASSWORD, "wrong"), encoding="utf-8")
    assert tally("desk", "mail").error == "mailbox_failed"
    tally("desk", "add", ASKED, "--thread", "t", "--from", "ann@home.example")
    tally("desk", "work")
    (message,) = tally("desk", "outbox", "--json").json["items"]
    assert (message["state"], post.mails) == ("queued", [])


def test_a_desk_without_a_mailbox_says_what_to_set(tally: Tally, workspace: Path) -> None:
    assert tally("desk", "mail").error == "mailbox_missing"
    (workspace / "tallystick.toml").write_text('[rooms.desk]\nchannel = "mail"\n', encoding="utf-8")
    assert tally("desk", "work").error == "config_bad_value"
