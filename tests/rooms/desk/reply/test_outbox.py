"""The outbox: asked again at the last moment, never twice, and nothing in between is lost."""

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.errors import ConfigError
from tallystick.rooms.desk.model import Outgoing, Review
from tallystick.rooms.desk.ports import Undelivered
from tallystick.rooms.desk.reply.channels import Channel
from tallystick.rooms.desk.reply.outbox import STUCK_MS, OutboxSender, SendResult, queue_reply
from tallystick.rooms.desk.store.tables import OUTBOX
from tests.rooms.desk.desk_service import APPROVED, DRAFT, NOW, PROCEED, Desk, caller, event


class Taking:
    """A receiver in this process: takes a key once, or fails as often as it is told to."""

    repeatable = True

    def __init__(self, *, fails: int = 0, repeatable: bool = True) -> None:
        self.repeatable = repeatable
        self.fails = fails
        self.seen: list[str] = []
        self.taken: dict[str, Any] = {}

    def deliver(self, message: Outgoing) -> None:
        self.seen.append(message.key)
        if len(self.seen) <= self.fails:
            raise Undelivered("status 503")
        self.taken.setdefault(message.key, message.payload)


def sending(desk: Desk, channel: Channel, attempts: int = 3) -> OutboxSender:
    return OutboxSender(desk.service.store, {"file": channel}, desk.service.around.note, attempts=attempts)


def drafted(desk: Desk, **more: Any) -> tuple[str, str, str]:
    """Bring an event as far as a message in the outbox."""
    ids = desk.to_reply(**more)
    assert desk.fill(ids[-1], DRAFT).queued
    return ids


def outbox_folder(desk: Desk) -> Path:
    return desk.workspace / ".control-room" / "desk" / "outbox"


@pytest.mark.promise("desk.send-once")
def test_a_reply_goes_out_once_as_a_file_and_a_mail(desk: Desk) -> None:
    drafted(desk, content="How long?", actor="Ada <ada@example.org>")
    assert desk.service.sending.send_due() == SendResult(sent=1)
    assert desk.service.sending.send_due() == SendResult()
    (message,) = desk.messages("sent")
    files = sorted(path.name for path in outbox_folder(desk).iterdir())
    assert files == [f"{message.key}.eml", f"{message.key}.json"]
    said = json.loads((outbox_folder(desk) / files[1]).read_text(encoding="utf-8"))
    assert (said["key"], said["text"], said["by"]) == (message.key, DRAFT["draft"], "verdict")
    mail = message_from_bytes((outbox_folder(desk) / files[0]).read_bytes(), policy=default)
    assert (mail["To"], mail.get_content().strip()) == ("ada@example.org", DRAFT["draft"])
    states = [one.header["audit"]["metadata"]["state"] for one in desk.notes("desk.send")]
    assert states == ["sending", "sent"]


@pytest.mark.promise("desk.send-once")
@pytest.mark.parametrize("actor", ["x\r\nBcc: eve@example.org", "", None, "ada", "a@b@c", "ünï@example.org", 7])
def test_what_is_no_address_becomes_no_header(desk: Desk, actor: Any) -> None:
    drafted(desk, content="How long?", actor=actor)
    assert desk.service.sending.send_due() == SendResult(sent=1)
    (file,) = outbox_folder(desk).glob("*.eml")
    mail = message_from_bytes(file.read_bytes(), policy=default)
    assert mail["Bcc"] is None
    assert "example.org" not in str(mail["To"])


@pytest.mark.promise("desk.send-once")
def test_several_workers_that_send_at_once_send_each_message_once(desk: Desk) -> None:
    for number in range(6):
        drafted(desk, content=f"number {number}")
    channel = Taking()
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: sending(desk, channel).send_due(), range(4)))
    assert sum(one.sent for one in done) == 6
    assert len(channel.seen) == len(set(channel.seen)) == 6


@pytest.mark.promise("desk.send-again")
def test_what_was_not_taken_is_tried_again_with_the_same_key_and_in_the_end_has_failed(desk: Desk) -> None:
    drafted(desk)
    channel = Taking(fails=2)
    assert sending(desk, channel).send_due() == SendResult(again=1)
    assert sending(desk, channel).send_due() == SendResult()  # not yet due
    due(desk)
    assert sending(desk, channel).send_due() == SendResult(again=1)
    due(desk)
    assert sending(desk, channel).send_due() == SendResult(sent=1)
    assert len(set(channel.seen)) == 1
    drafted(desk, content="another")
    never = Taking(fails=99)
    for _ in range(5):
        due(desk)
        sending(desk, never).send_due()
    assert len(never.seen) == 3
    (failed,) = desk.messages("failed")
    assert (failed.attempts, failed.note) == (3, "status 503")


def due(desk: Desk) -> None:
    with desk.service.store.transaction() as tx:
        tx.connection.execute(sa.update(OUTBOX).values(not_before=0))


@pytest.mark.promise("desk.send-again")
@pytest.mark.parametrize(("repeatable", "state", "note"), [(True, "sent", ""), (False, "failed", "end_unclear")])
def test_a_message_whose_end_nobody_saw_is_repeated_only_where_that_is_safe(
    desk: Desk, state: str, note: str, *, repeatable: bool
) -> None:
    drafted(desk)
    (message,) = desk.messages()
    with desk.service.store.transaction() as tx:
        # What a worker leaves that is killed after its mark.
        assert tx.change_outgoing(replace(message, state="sending", attempts=1), was="queued")
    channel = Taking(repeatable=repeatable)
    assert sending(desk, channel).send_due() == SendResult()
    assert desk.messages()[0].state == "sending"
    with desk.service.store.transaction() as tx:
        tx.connection.execute(sa.update(OUTBOX).values(updated=tx.clock() - STUCK_MS))
    sending(desk, channel).send_due()
    assert (desk.messages()[0].state, desk.messages()[0].note) == (state, note)
    assert len(channel.taken) == int(repeatable)


@pytest.mark.promise("desk.send-again")
def test_a_file_that_was_written_before_a_crash_is_not_written_again(desk: Desk) -> None:
    drafted(desk)
    desk.service.sending.send_due()
    (message,) = desk.messages()
    whole = outbox_folder(desk) / f"{message.key}.json"
    whole.write_text("picked up", encoding="utf-8")
    with desk.service.store.transaction() as tx:
        assert tx.change_outgoing(replace(message, state="queued"), was="sent")
    assert desk.service.sending.send_due() == SendResult(sent=1)
    assert whole.read_text(encoding="utf-8") == "picked up"


@pytest.mark.promise("desk.send-check")
@pytest.mark.parametrize("words", ["And what does it cost?", "x" * 200_000], ids=["more", "too long to be taken"])
def test_nothing_goes_out_when_the_customer_has_written_since(desk: Desk, words: str) -> None:
    triage, *_ = drafted(desk)
    thread = desk.ticket(triage).thread_id
    desk.service.intake.take(event(words, thread_id=thread))
    withheld(desk, "customer_wrote_again")


@pytest.mark.promise("desk.send-check")
def test_a_repeat_of_the_same_event_or_words_elsewhere_hold_nothing_up(desk: Desk) -> None:
    triage, *_ = drafted(desk)
    desk.service.intake.take(desk.ticket(triage).event)
    desk.event("elsewhere")
    assert desk.service.sending.send_due() == SendResult(sent=1)


@pytest.mark.promise("desk.send-check")
@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("state", ["taken", "waiting", "rejected"])
def test_nothing_goes_out_when_a_person_took_over_any_ticket_of_it(desk: Desk, which: int, state: str) -> None:
    name = drafted(desk)[which]
    with desk.service.store.transaction() as tx:
        tx.put_review(Review(ticket_id=name, state=state, rule_id="r", reason="", draft="", person="grace"))
    withheld(desk, "person_took_over")


@pytest.mark.promise("desk.send-check")
def test_nothing_goes_out_when_the_verdict_was_withdrawn(desk: Desk) -> None:
    _, tool, reply = drafted(desk)
    taken = desk.service.tickets.withdraw(tool, caller=caller("grace"), reason="wrong document")
    assert isinstance(taken, dict)
    assert (taken["tool_verdict"]["rule_id"], taken["message"]) == ("defer.withdrawn", "withheld")
    again = desk.service.tickets.withdraw(tool, caller=caller("grace"), reason="wrong document")
    assert again == taken
    assert len(desk.notes("desk.withdraw")) == 1
    assert desk.service.sending.send_due() == SendResult()
    (message,) = desk.messages()
    assert (message.state, message.note) == ("withheld", "verdict_withdrawn")
    for name in (reply, "nobody"):
        refused = desk.service.tickets.withdraw(name, caller=caller(), reason="")
        assert refused.code in {"verdict_not_proceed", "ticket_unknown"}  # type: ignore[union-attr]


@pytest.mark.promise("desk.send-check")
def test_a_verdict_withdrawn_before_the_draft_leaves_the_draft_to_a_person(desk: Desk) -> None:
    _, tool, reply = desk.to_reply()
    desk.service.tickets.withdraw(tool, caller=caller("grace"), reason="wrong document")
    filled = desk.fill(reply, DRAFT)
    assert (filled.ticket.status, desk.messages()) == ("review", [])


@pytest.mark.promise("desk.send-check")
def test_a_message_without_a_proceed_or_a_person_behind_it_does_not_go_out(desk: Desk) -> None:
    triage = desk.event()
    (tool,) = desk.fill(triage, APPROVED).derived
    desk.judge.status = "DEFER"
    desk.fill(tool, PROCEED)
    with desk.service.store.transaction() as tx:
        review = tx.review(tool)
        ticket = tx.get(tool)
        assert review is not None
        assert ticket is not None
        queue_reply(tx, ticket, "By hand.", channel="file", by="nobody")
    withheld(desk, "person_took_over")
    with desk.service.store.transaction() as tx:
        # A person approves: the withheld message is queued again, with his words.
        tx.put_review(replace(review, state="approved", person="grace"))
        queue_reply(tx, ticket, "By a person.", channel="file", by="grace")
    assert desk.service.sending.send_due() == SendResult(sent=1)
    (message,) = desk.messages()
    assert message.payload["text"] == "By a person."
    with desk.service.store.transaction() as tx:
        there = queue_reply(tx, ticket, "Once more.", channel="file", by="grace")
    assert (there.state, desk.service.sending.send_due()) == ("sent", SendResult())


@pytest.mark.promise("desk.send-check")
def test_a_message_of_a_ticket_nobody_knows_or_of_no_channel_stays(desk: Desk) -> None:
    with desk.service.store.transaction() as tx:
        lost = Outgoing(key="k", ticket_id="nobody", thread_id=None, channel="file", payload={}, state="queued")
        tx.put_outgoing(lost)
    withheld(desk, "ticket_gone")
    *_, reply = drafted(desk)
    with desk.service.store.transaction() as tx:
        tx.connection.execute(sa.update(OUTBOX).where(OUTBOX.c.ticket_id == reply).values(channel="pigeon"))
    assert desk.service.sending.send_due() == SendResult(failed=1)


def withheld(desk: Desk, why: str) -> None:
    assert desk.service.sending.send_due() == SendResult(withheld=1)
    (message,) = desk.messages("withheld")
    assert message.note == why
    assert not outbox_folder(desk).exists() or not list(outbox_folder(desk).iterdir())
    assert desk.service.sending.send_due() == SendResult()


# -- the webhook -------------------------------------------------------------------------------------------------------


class Receiver(HTTPServer):
    """A webhook on this machine: takes each key once, and answers as it is told."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[int] = []
        self.requests: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?for=desk"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((dict(self.headers), body))
        self.send_response(self.server.answers.pop(0) if self.server.answers else 204)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.promise("desk.webhook")
def test_a_webhook_gets_a_signed_message_and_again_with_the_same_key_until_it_takes_it(
    receiver: Receiver, open_other: Callable[..., Desk]
) -> None:
    desk = open_other(channel="webhook", webhook_url=receiver.url, webhook_secret="s3cret")
    drafted(desk, content="How long?", actor="ada@example.org")
    receiver.answers = [500, 302]
    for state in ("queued", "queued", "sent"):
        due(desk)
        desk.service.sending.send_due()
        assert desk.messages()[0].state == state
    keys = {headers["Idempotency-Key"] for headers, _ in receiver.requests}
    bodies = {body for _, body in receiver.requests}
    assert (len(receiver.requests), len(keys), len(bodies)) == (3, 1, 1)
    (key,), (body,) = keys, bodies
    for headers, _ in receiver.requests:
        stamp = headers["X-Tally-Timestamp"]
        assert datetime.fromtimestamp(int(stamp), UTC) == datetime.fromisoformat(NOW)
        signed = hmac.new(b"s3cret", stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        assert headers["X-Tally-Signature"] == f"sha256={signed}"
    assert json.loads(body)["text"] == DRAFT["draft"]
    assert json.loads(body)["key"] == key


@pytest.mark.promise("desk.webhook")
@pytest.mark.parametrize(
    "options",
    [
        {"channel": "webhook"},
        {"webhook_url": "https://example.org/hook"},
        {"webhook_url": "http://example.org/hook", "webhook_secret": "s"},
        {"webhook_url": "http://169.254.169.254/latest", "webhook_secret": "s"},
        {"webhook_url": "file:///etc/passwd", "webhook_secret": "s"},
        {"webhook_url": "https://exa mple.org/", "webhook_secret": "s"},
    ],
)
def test_a_webhook_that_is_not_safe_is_refused_with_the_key_that_is_wrong(
    open_other: Callable[..., Desk], options: dict[str, Any]
) -> None:
    desk = open_other(**options)
    with pytest.raises(ConfigError) as refused:
        _ = desk.service.sending
    assert refused.value.code == "config_bad_value"
    assert "rooms.desk.webhook" in str(refused.value)
