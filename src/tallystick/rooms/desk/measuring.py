"""The desk in numbers: verdicts, what people made of them, how long things wait."""

from typing import Any

from tallystick.rooms.desk.nouns import VERDICTS
from tallystick.rooms.desk.store import Transaction


def figures(tx: Transaction) -> dict[str, Any]:
    """All figures; a share is None while there is nothing to share.

    `defer` and `block` count what was decided on a message, on its evidence or on its draft; `proceed` on evidence.
    """
    counts = tx.counts()
    tally = tx.tally()
    verdicts = {name.lower(): counts.get(f"verdict.{name}", 0) for name in VERDICTS}
    for name in ("DEFER", "BLOCK"):
        verdicts[name.lower()] += counts.get(f"draft.{name}", 0)
    reviewed = sum(counts.get(f"reviews.{state}", 0) for state in ("approved", "rejected"))
    decided = counts.get("queue.decided", 0)
    _, total = tx.reviews(state="waiting", limit=1)
    mean, oldest = tx.waits()
    return {
        **verdicts,
        "tickets": sum(tally.values()),
        "waiting_for_workers": sum(many for (_, status), many in tally.items() if status == "pending"),
        "waiting_for_people": total,
        "mean_review_ms": mean if total else None,
        "oldest_review_ms": oldest if total else None,
        "mean_decision_ms": counts.get("queue.ms", 0) // decided if decided else None,
        "override_rate": _share(counts.get("overrides", 0), reviewed),
        "unsupported_sentence_rate": _share(counts.get("sentences.unsupported", 0), counts.get("sentences", 0)),
        "lost_leases": counts.get("lost_leases", 0),
        "dead_letters": counts.get("dead_letters", 0),
        "withheld": sum(many for name, many in counts.items() if name.startswith("withheld.")),
        "sent": counts.get("sent", 0),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
