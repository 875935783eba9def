"""Calibration: what sending at once would have given on tickets that people have answered.

Each message is taken through the desk as if replies were sent. A reply counts as right where it gives every figure of
the person's answer, or, where that has none, most of its words.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.rooms.desk.language.overlap import numbers_in, relevance

MOST_WORDS = 0.6
"""The share of the words of an answer without figures that a reply must hold."""
BAD_FILE = Problem(
    code="tickets_unreadable",
    message="The file has no columns 'content' and 'answer'. Give a CSV file of answered tickets.",
)


@record
class AnsweredTicket:
    """A message and what a person answered."""

    content: str
    answer: str


@record
class Attempt:
    """What the desk would have done with a message."""

    category: str
    reply: str
    """As it would have been sent; empty if it goes to a person."""
    draft: str
    """What it would have shown a person."""


class Desk(Protocol):
    """Answers a message as it would be answered if replies were sent at once."""

    def __call__(self, content: str) -> Attempt:
        """Try one message."""
        ...


@record
class CategoryResult:
    """What sending at once would have given in one category."""

    tickets: int
    sent: int
    right: int
    drafts_right: int

    @property
    def share_right(self) -> float | None:
        """Of the replies that would have been sent; None: none would have been."""
        return round(self.right / self.sent, 4) if self.sent else None


def read_answered(data: bytes) -> list[AnsweredTicket] | Problem:
    """Return the tickets of a CSV file."""
    rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig", "replace")))
    if not {"content", "answer"} <= set(rows.fieldnames or ()):
        return BAD_FILE
    found = [AnsweredTicket(content=row["content"] or "", answer=row["answer"] or "") for row in rows]
    return [each for each in found if each.content.strip() and each.answer.strip()]


def calibrate(tickets: Sequence[AnsweredTicket], desk: Desk) -> Mapping[str, CategoryResult]:
    """Return the result of each category, by name."""
    counted: dict[str, list[tuple[bool, bool, bool]]] = {}
    for category, outcome in _outcomes(tickets, desk):
        counted.setdefault(category, []).append(outcome)
    return {
        name: CategoryResult(
            tickets=len(outcomes),
            sent=sum(sent for sent, _, _ in outcomes),
            right=sum(right for _, right, _ in outcomes),
            drafts_right=sum(draft for _, _, draft in outcomes),
        )
        for name, outcomes in sorted(counted.items())
    }


def _outcomes(tickets: Sequence[AnsweredTicket], desk: Desk) -> Iterator[tuple[str, tuple[bool, bool, bool]]]:
    for each in tickets:
        tried = desk(each.content)
        sent = bool(tried.reply)
        yield tried.category, (sent, sent and agrees(tried.reply, each.answer), agrees(tried.draft, each.answer))


def agrees(reply: str, answer: str) -> bool:
    """Whether a reply says what a person answered: every figure of it, or most of its words."""
    figures = numbers_in(answer)
    return figures <= numbers_in(reply) if figures else relevance(answer, reply) >= MOST_WORDS
