"""What people get beside a ticket: clock, owner, why no draft, similar tickets, a question, ready replies, gaps."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError
from tallystick.gate.role_names import OWNER_ROLE
from tallystick.gate.session import Caller
from tallystick.rooms.desk.assistance.canned_replies import read_replies
from tallystick.rooms.desk.assistance.card import span_in_words
from tallystick.rooms.desk.model import Review
from tallystick.rooms.desk.review import ReviewItem
from tallystick.rooms.desk.store.tables import REVIEWS, TICKETS
from tallystick.rooms.desk.trial import DeskRunner
from tests.rooms.desk.desk_yard import ANSWERED, DEFERRED, UNKNOWN, Yard

ADA = Caller(subject="ada", roles=frozenset({OWNER_ROLE}), channel="terminal")
HOUR_MS = 3_600_000


def worked(yard: Yard, content: str, thread: str, **more: str) -> str:
    """A message that was worked on; gives the id of its last ticket."""
    ticket_id = yard.event(content, thread, **more)
    return list(DeskRunner(yard.gate).work([ticket_id], run=f"run-{thread}"))[-1].ticket_id


def shown(yard: Yard, ticket_id: str) -> ReviewItem:
    found = yard.room.reviews.show(ticket_id)
    assert isinstance(found, ReviewItem), found
    return found


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path, send="review")


@pytest.mark.promise("desk.queue-card")
def test_a_card_names_customer_age_owner_and_when_an_answer_is_due(yard: Yard) -> None:
    ticket_id = worked(yard, ANSWERED, "t1", actor="ines@example.org")
    card = shown(yard, ticket_id).card
    assert (card.customer, card.owner, card.overdue, card.no_draft) == ("ines@example.org", None, False, None)
    assert card.due == card.received + 24 * HOUR_MS
    with yard.service.store.transaction() as tx:
        late = tx.clock() - 25 * HOUR_MS
        tx.connection.execute(sa.update(TICKETS).values(created=late))
        tx.connection.execute(sa.update(REVIEWS).values(created=late))
    card = shown(yard, ticket_id).card
    assert card.overdue
    assert card.age_ms >= 25 * HOUR_MS
    assert yard.service.figures()["late_for_people"] == 1
    assert isinstance(yard.room.reviews.approve(ticket_id, caller=ADA), Review)
    assert not shown(yard, ticket_id).card.overdue
    assert yard.service.figures()["late_for_people"] == 0
    yard.close()


@pytest.mark.promise("desk.queue-draft")
@pytest.mark.parametrize(
    "message",
    [ANSWERED, DEFERRED, UNKNOWN, f"I want to talk to a human being. {ANSWERED}", "I want to speak to a person."],
)
def test_every_ticket_before_people_has_a_draft_or_says_why_there_is_none(yard: Yard, message: str) -> None:
    one = shown(yard, worked(yard, message, "t1"))
    assert bool(one.review.draft.strip()) != bool(one.card.no_draft)
    if ANSWERED in message:
        assert "9 to 17" in one.review.draft
        assert [piece["holds"] for piece in one.evidence[:1]] == [True]
    yard.close()


@pytest.mark.promise("desk.queue-assign")
def test_what_was_given_to_somebody_stays_theirs_when_they_let_it_lie(yard: Yard) -> None:
    mine, other = worked(yard, ANSWERED, "t1"), worked(yard, DEFERRED, "t2")
    given = yard.room.reviews.reassign(mine, "maria", caller=ADA)
    assert isinstance(given, Review)
    with yard.service.store.transaction() as tx:
        tx.connection.execute(sa.update(REVIEWS).values(taken_until=1))
    found, total = yard.room.reviews.queue(owner="maria")
    assert ([one.review.ticket_id for one in found], total) == ([mine], 1)
    assert (found[0].card.owner, found[0].review.person, found[0].review.state) == ("maria", None, "waiting")
    assert {one.review.ticket_id for one in yard.room.reviews.queue()[0]} == {mine, other}
    # It is hers, and still anybody may answer: nobody is locked out by an absence.
    assert isinstance(yard.room.reviews.approve(mine, caller=ADA), Review)
    yard.close()


@pytest.mark.promise("desk.queue-similar")
def test_an_answered_ticket_like_this_one_is_shown_with_its_answer(yard: Yard) -> None:
    first = worked(yard, ANSWERED, "t1")
    assert shown(yard, first).as_dict()["similar"] == []
    yard.room.reviews.edit(first, "From 9 to 17, and we are glad to see you.", caller=ADA, insist=True)
    again = shown(yard, worked(yard, "Hello, when is your shop in Leeds open on Monday?", "t2")).as_dict()
    assert [(one["ticket_id"], one["by"]) for one in again["similar"]] == [(first, "ada")]
    assert "glad to see you" in again["similar"][0]["answer"]
    assert shown(yard, worked(yard, UNKNOWN, "t3")).as_dict()["similar"] == []
    yard.close()


@pytest.mark.promise("desk.queue-conversation")
def test_what_was_written_before_in_the_conversation_is_shown(yard: Yard) -> None:
    first = worked(yard, ANSWERED, "t1", id="m1")
    yard.room.reviews.edit(first, "From 9 to 17.", caller=ADA, insist=True)
    yard.service.sending.send_due()
    second = worked(yard, "And on Saturday?", "t1", id="m2")
    told = shown(yard, second).as_dict()["conversation"]
    assert [(one["by"], one["text"]) for one in told] == [("customer", ANSWERED), ("ada", "From 9 to 17.")]
    assert shown(yard, first).as_dict()["conversation"] == []
    yard.close()


@pytest.mark.promise("desk.queue-question")
def test_where_the_answer_depends_on_which_of_two_is_meant_the_customer_can_be_asked(yard: Yard) -> None:
    for name, minutes in (("two", "20"), ("three", "45")):
        text = f"# Brisa {name} manual\n\nThe filter of the device is dried for {minutes} minutes after a wash.\n"
        (yard.workspace / "kb" / f"brisa-{name}.md").write_text(text, encoding="utf-8")
    which = shown(yard, worked(yard, "For how many minutes is the filter dried after a wash?", "t1"))
    question = which.as_dict()["question"]
    assert question is not None
    assert "Brisa two manual" in question
    assert "Brisa three manual" in question
    # The desk's own question needs no evidence.
    assert isinstance(yard.room.reviews.edit(which.review.ticket_id, question, caller=ADA), Review)
    said = worked(yard, "For how many minutes is the filter of the Brisa three dried after a wash?", "t2")
    assert shown(yard, said).as_dict()["question"] is None
    yard.close()


@pytest.mark.promise("desk.canned-replies")
def test_the_owner_s_ready_replies_are_sent_without_other_evidence(yard: Yard) -> None:
    ticket_id = worked(yard, UNKNOWN, "t1")
    folder = yard.workspace / "desk"
    folder.mkdir()
    (folder / "replies.toml").write_text('sorry = "We do not sell instruments. Thank you for asking."\n')
    assert dict(yard.room.reviews.help.replies())["sorry"].startswith("We do not sell")
    wrong = yard.room.reviews.edit(ticket_id, "We sell nothing at all.", caller=ADA)
    assert isinstance(wrong, Problem)
    assert wrong.code == "unsupported_sentence"
    sent = yard.room.reviews.edit(ticket_id, yard.room.reviews.help.replies()["sorry"], caller=ADA)
    assert isinstance(sent, Review)
    yard.close()


@pytest.mark.promise("desk.canned-replies")
@pytest.mark.parametrize("text", ["x = 1", "x = ''", "not toml at all", "[a]\nb = 'c'"])
def test_a_file_of_ready_replies_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "replies.toml"
    assert read_replies(file) == {}
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_replies(file)
    assert refused.value.code == "config_bad_value"
    assert "replies.toml" in str(refused.value)


@pytest.mark.promise("desk.gaps")
def test_what_no_document_answers_is_reported_together_the_most_asked_first(yard: Yard) -> None:
    asked = ["Do you repair trombones?", "Can you repair my trombones, please?", "Is there parking for a giraffe?"]
    ids = [worked(yard, text, f"t{number}") for number, text in enumerate(asked)]
    worked(yard, ANSWERED, "t9")
    found = yard.room.reviews.gaps(days=7)
    assert [gap.tickets for gap in found] == [2, 1]
    assert set(found[0].ticket_ids) == set(ids[:2])
    assert "trombones" in found[0].about
    with yard.service.store.transaction() as tx:
        tx.connection.execute(sa.update(REVIEWS).values(created=1))
    assert yard.room.reviews.gaps(days=7) == []
    yard.close()


@pytest.mark.promise("desk.queue-card")
@pytest.mark.parametrize(
    ("minutes", "told"), [(0, "0 min"), (119, "119 min"), (120, "2 h"), (2_879, "47 h"), (2_880, "2 d"), (-5, "0 min")]
)
def test_ages_are_told_as_people_tell_them(minutes: int, told: str) -> None:
    assert span_in_words(minutes * 60_000) == told
