"""Content gaps: what customers asked that no document answers, together where it is about the same."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tallystick.reading.embedder import Embedder
from tallystick.records import record
from tallystick.rooms.desk.language.overlap import stems_of
from tallystick.rooms.desk.store import Transaction
from tallystick.rooms.desk.triage.message import essence
from tallystick.text.stems import stem_all
from tallystick.text.words import content_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DAY_MS = 86_400_000
UNANSWERED = frozenset({"defer.no-evidence", "defer.need-uncovered"})
"""Rules that say that no document answers a message."""
LOOKED_AT = 2_000
SAME_WORDS, SAME_MEANING = 0.3, 0.5
NAMED = 4
"""Words that say what a gap is about."""


@record
class ContentGap:
    """Messages about the same that no document answers."""

    tickets: int
    about: tuple[str, ...]
    """The words that most of them share."""
    example: str
    ticket_ids: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "tickets": self.tickets,
            "about": list(self.about),
            "example": self.example,
            "ticket_ids": list(self.ticket_ids),
        }


@record
class _Asked:
    ticket_id: str
    text: str


def content_gaps(tx: Transaction, *, days: int, embedder: Embedder | None) -> list[ContentGap]:
    """Return the gaps of the last days, the most asked first.

    Args:
        tx: Reads.
        days: How far back.
        embedder: The model that says what is about the same; None: words say it.
    """
    reviews = tx.reviews_since(tx.clock() - days * DAY_MS, limit=LOOKED_AT)
    asked = []
    for review in reviews:
        ticket = tx.get(review.ticket_id, lock=False) if review.rule_id in UNANSWERED else None
        if ticket is not None and ticket.content.strip():
            asked.append(_Asked(ticket_id=ticket.ticket_id, text=essence(ticket.content) or ticket.content))
    groups = _by_words(asked) if embedder is None else _by_meaning(asked, embedder)
    return sorted(map(_gap, groups), key=lambda gap: -gap.tickets)


def _by_words(asked: Sequence[_Asked]) -> list[list[_Asked]]:
    groups: list[list[_Asked]] = []
    for one in asked:
        mine = stems_of(one.text)
        found = next((group for group in groups if _shared(mine, stems_of(group[0].text)) >= SAME_WORDS), None)
        groups.append([one]) if found is None else found.append(one)
    return groups


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / (len(one | other) or 1)


def _by_meaning(asked: Sequence[_Asked], embedder: Embedder) -> list[list[_Asked]]:
    """Each message joins the group whose mean is nearest, or begins one."""
    groups: list[list[_Asked]] = []
    sums: list[NDArray[np.float32]] = []
    for one, vector in zip(asked, embedder.embed([one.text for one in asked]), strict=True):
        likeness = [float(vector @ each) / (float(each @ each) ** 0.5 or 1.0) for each in sums]
        place = max(range(len(groups)), key=likeness.__getitem__, default=None)
        if place is None or likeness[place] < SAME_MEANING:
            groups.append([one])
            sums.append(vector.copy())
        else:
            groups[place].append(one)
            sums[place] += vector
    return groups


def _gap(group: Sequence[_Asked]) -> ContentGap:
    said = [dict(zip(stem_all(found), found, strict=True)) for one in group if (found := list(content_words(one.text)))]
    counted = Counter(stem for words in said for stem in words)
    shown = {stem: word for words in reversed(said) for stem, word in words.items()}
    about = tuple(shown[stem] for stem, _ in counted.most_common(NAMED))
    return ContentGap(
        tickets=len(group),
        about=about,
        example=min((one.text for one in group), key=len),
        ticket_ids=tuple(one.ticket_id for one in group),
    )
