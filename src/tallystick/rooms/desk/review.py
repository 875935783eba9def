"""The review queue: tickets for a person, each with its evidence, the deciding rule and the draft.

    waiting ──take──► taken ──approve──► approved    the message is queued, by the person's word
       ▲                │  ├──reject───► rejected    nothing goes out
       │                │  └──more─────► returned    the ticket is worked on once more
       └────expiry──────┘

A reviewer takes a ticket for a while, so that two do not answer at once. BLOCK is final and never comes here.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.quotes import fold
from tallystick.gate.session import Caller
from tallystick.records import record
from tallystick.rooms.desk.assistance.card import TicketCard
from tallystick.rooms.desk.assistance.content_gaps import ContentGap
from tallystick.rooms.desk.assistance.review_help import ReviewHelp
from tallystick.rooms.desk.derivation import parent_of
from tallystick.rooms.desk.gather.limits import widened
from tallystick.rooms.desk.model import BEFORE_SENDING, Review, Ticket
from tallystick.rooms.desk.reply.outbox import queue_reply
from tallystick.rooms.desk.service import DeskService
from tallystick.rooms.desk.store import Transaction
from tallystick.rooms.desk.tickets.fill import moved
from tallystick.rooms.desk.verdict.case import VerifiedEvidence
from tallystick.rooms.desk.verdict.draft_rules import Unsupported, evidence_texts, others_data, text_of, unsupported
from tallystick.rooms.desk.verdict.judge import ServerJudge

TAKEN_MS = 15 * 60 * 1000
"""How long a ticket is one person's."""
NO_REVIEW = Problem(code="review_unknown", message="Nobody is asked about such a ticket. GET /v1/reviews lists them.")
NOT_WAITING = Problem(code="review_over", message="Somebody has decided about this ticket already.")
NOT_YOURS = Problem(code="review_taken", message="Somebody else has this ticket in hand. Wait, or ask for it.")
NO_TEXT = Problem(code="draft_missing", message="There is no draft. Write one with edit.")
LEAKS = Problem(code="personal_data", message="The text holds somebody's data that the customer did not bring.")


@record
class ReviewItem:
    """A review with everything that a person needs to decide."""

    review: Review
    ticket: Ticket
    evidence: tuple[Mapping[str, Any], ...]
    """Pieces with `holds` (the quote was found), `author` and `counts`, all computed by the server."""
    card: TicketCard
    beside: Mapping[str, Any] | None = None
    """A question to ask, similar tickets and the conversation; None in lists."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        one = self.review
        return {
            "ticket_id": one.ticket_id,
            "state": one.state,
            "rule_id": one.rule_id,
            "reason": one.reason,
            "draft": one.draft,
            "person": one.person,
            **self.card.as_dict(),
            "taken_until": one.taken_until,
            "created": one.created,
            "updated": one.updated,
            "kind": self.ticket.kind,
            "event": dict(self.ticket.event),
            "evidence": [dict(piece) for piece in self.evidence],
            **(self.beside or {}),
        }


class ReviewQueue:
    """The review queue of one desk. Every decision is made by a person and recorded before it takes effect."""

    def __init__(self, service: DeskService, judge: ServerJudge, help_for_people: ReviewHelp | None = None) -> None:
        self._service = service
        self._judge = judge
        self.help = help_for_people or ReviewHelp(service.options.answer_hours)

    # -- looking -------------------------------------------------------------------------------------------------------

    def queue(
        self, *, state: str | None = "waiting", owner: str | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[list[ReviewItem], int]:
        """What waits, oldest first, and how much there is in all; of one owner, or of everybody."""
        self.expire()
        with self._service.store.reading() as tx:
            found, total = tx.reviews(state=state, owner=owner, limit=limit, offset=offset)
            return [self._before(tx, review) for review in found], total

    def show(self, ticket_id: str) -> ReviewItem | Problem:
        """One of them."""
        with self._service.store.reading() as tx:
            review = tx.review(ticket_id, lock=False)
            return NO_REVIEW if review is None else self._before(tx, review, whole=True)

    def gaps(self, *, days: int) -> list[ContentGap]:
        """What was asked in the last days that no document answers."""
        with self._service.store.reading() as tx:
            return self.help.gaps(tx, days=days)

    def undecided(self, ticket_id: str, *, caller: Caller) -> ReviewItem | Problem:
        """One of them that this person may still decide about; a problem where every decision would be refused."""
        with self._service.store.reading() as tx:
            review = tx.review(ticket_id, lock=False)
            open_to = _open_to(review, caller, tx.clock())
            return open_to if isinstance(open_to, Problem) else self._before(tx, open_to)

    def _before(self, tx: Transaction, review: Review, *, whole: bool = False) -> ReviewItem:
        ticket = tx.get(review.ticket_id, lock=False) or Ticket(body={"id": review.ticket_id})
        case = self._judge.case(_evidence_ticket(tx, ticket))
        shown: dict[tuple[Any, Any], VerifiedEvidence] = {(one.source, one.snippet): one for one in case.shown}
        pieces = [_checked(piece, shown.get((piece.get("source"), piece.get("snippet")))) for piece in case.claimed]
        return ReviewItem(
            review=review,
            ticket=ticket,
            evidence=tuple(pieces),
            card=self.help.card(tx, review, ticket),
            beside=self.help.beside(tx, ticket, case) if whole else None,
        )

    # -- deciding ------------------------------------------------------------------------------------------------------

    def take(self, ticket_id: str, *, caller: Caller) -> Review | Problem:
        """Assign a review to its caller for a while; again extends it."""
        return self._change(ticket_id, caller, "desk.take", lambda tx, review: self._taken(tx, review, caller))

    def reassign(self, ticket_id: str, to: str, *, caller: Caller) -> Review | Problem:
        """Give a review to somebody else: it is in their hands for a while, and stays theirs when they let it lie."""

        def how(tx: Transaction, review: Review) -> Review | Problem:
            return replace(review, state="taken", person=to, owner=to, taken_until=tx.clock() + TAKEN_MS)

        return self._change(ticket_id, caller, "desk.reassign", how)

    def approve(self, ticket_id: str, *, caller: Caller) -> Review | Problem:
        """Let the draft go out as it is."""
        return self._change(
            ticket_id, caller, "desk.approve", lambda tx, review: self._sent(tx, review, review.draft, caller)
        )

    def edit(self, ticket_id: str, text: str, *, caller: Caller, insist: bool = False) -> Review | Problem:
        """Let another text go out; it is checked again.

        Args:
            ticket_id: Which.
            text: With references behind its sentences, or without.
            caller: Who.
            insist: Send it although a sentence rests on nothing here: a person may know what no document says.
        """

        def how(tx: Transaction, review: Review) -> Review | Problem:
            wrong = self.unsupported(tx, review, text)
            if wrong and not insist:
                message = f"{wrong[0].why}: {wrong[0].sentence[:120]} Cite evidence, or insist."
                return Problem(code="unsupported_sentence", message=message)
            return self._sent(tx, review, text, caller)

        return self._change(ticket_id, caller, "desk.edit", how)

    def reject(self, ticket_id: str, *, caller: Caller, reason: str) -> Review | Problem:
        """Send nothing."""

        def how(tx: Transaction, review: Review) -> Review | Problem:
            ticket = tx.get(review.ticket_id)
            if ticket is not None and ticket.status == "review":
                tx.save(moved(ticket, "blocked"), was=ticket)
            return replace(review, state="rejected", person=caller.subject, reason=f"{review.reason} | {reason}"[:1000])

        return self._change(ticket_id, caller, "desk.reject", how)

    def more(self, ticket_id: str, *, caller: Caller) -> Review | Problem:
        """Let the ticket be worked on once more, with more room to search: the same search would find the same."""

        def how(tx: Transaction, review: Review) -> Review | Problem:
            ticket = tx.get(review.ticket_id)
            if ticket is not None and ticket.status == "review":
                again = replace(_fresh(moved(ticket, "pending")), attempts=ticket.attempts + 1, judged=None)
                tx.save(again, was=ticket)
            return replace(review, state="returned", person=caller.subject)

        after = self._change(ticket_id, caller, "desk.more_evidence", how)
        if isinstance(after, Review):
            self._service.around.wake([ticket_id])
        return after

    def expire(self) -> int:
        """Release assignments that have expired."""
        with self._service.store.transaction() as tx:
            taken, _ = tx.reviews(state="taken", limit=500)
            late = [review for review in taken if review.taken_until <= tx.clock()]
            for review in late:
                tx.put_review(replace(review, state="waiting", person=None, taken_until=0))
        return len(late)

    def unsupported(self, tx: Transaction, review: Review, text: str) -> tuple[Unsupported, ...]:
        """Sentences of a text that rest on no evidence of its ticket."""
        ticket = tx.get(review.ticket_id, lock=False)
        if ticket is None:
            return ()
        case = self._judge.case(_evidence_ticket(tx, ticket))
        own = self.help.own_sentences(case)
        wrong = unsupported(text, evidence_texts(case.counted))
        return tuple(one for one in wrong if fold(one.sentence) not in own)

    def _taken(self, tx: Transaction, review: Review, caller: Caller) -> Review:
        return replace(review, state="taken", person=caller.subject, taken_until=tx.clock() + TAKEN_MS)

    def _sent(self, tx: Transaction, review: Review, text: str, caller: Caller) -> Review | Problem:
        ticket = tx.get(review.ticket_id)
        plain = text_of(text)
        if ticket is None or ticket.status != "review":
            return NOT_WAITING
        if not plain:
            return NO_TEXT
        if others_data(plain, ticket.event, self._judge.policy) is not None:
            return LEAKS
        saved = tx.save(moved(ticket, "done"), was=ticket)
        queue_reply(tx, saved, plain, channel=self._service.options.channel, by=caller.subject)
        if review.rule_id != BEFORE_SENDING or text != review.draft:
            # A person's word against the machine's: how often that happens is worth knowing.
            tx.count("overrides")
        return replace(review, draft=text, state="approved", person=caller.subject)

    def _change(
        self, ticket_id: str, caller: Caller, action: str, how: Callable[[Transaction, Review], Review | Problem]
    ) -> Review | Problem:
        with self._service.store.transaction() as tx:
            review = _open_to(tx.review(ticket_id), caller, tx.clock())
            if isinstance(review, Problem):
                return review
            after = how(tx, review)
            if isinstance(after, Problem):
                return after
            tx.put_review(after)
            tx.count(f"reviews.{after.state}")
            if after.state != "taken":
                tx.count("queue.decided")
                tx.count("queue.ms", tx.clock() - review.created)
            self._service.around.note(caller, action, ticket_id, {"rule_id": review.rule_id, "state": after.state})
        return after


def _checked(piece: Mapping[str, Any], shown: VerifiedEvidence | None) -> dict[str, Any]:
    """A piece as it was claimed, with what the server knows of it: a worker's word on its author is not shown."""
    author = "tool" if shown is None else shown.author
    return {**piece, "holds": shown is not None, "author": author, "counts": shown is not None and shown.counts}


def _open_to(review: Review | None, caller: Caller, now: int) -> Review | Problem:
    """A review as this person finds it, if there is still something to decide."""
    if review is None:
        return NO_REVIEW
    if review.state == "taken" and review.taken_until <= now:
        review = replace(review, state="waiting", person=None)
    if review.state not in {"waiting", "taken"}:
        return NOT_WAITING
    return NOT_YOURS if review.state == "taken" and review.person != caller.subject else review


def _fresh(ticket: Ticket) -> Ticket:
    """The ticket reset for another attempt, with wider limits."""
    metadata = {name: value for name, value in ticket.metadata.items() if name != "final_outputs"}
    if ticket.kind == "TOOL":
        metadata["tool_input"] = {**ticket.tool_input, "tool_policy": widened(ticket)}
    return replace(ticket, body={**ticket.body, "metadata": metadata})


def _evidence_ticket(tx: Transaction, ticket: Ticket) -> Ticket:
    """The TOOL ticket that holds the evidence of a ticket; itself if it is one."""
    if ticket.kind != "REPLY":
        return ticket
    parent = parent_of(ticket)
    return (tx.get(parent, lock=False) if parent is not None else None) or ticket
