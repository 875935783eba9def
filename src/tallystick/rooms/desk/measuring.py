"""The desk in numbers: verdicts, what people made of them, how long things wait."""

from typing import Any

from tallystick.rooms.desk.nouns import VERDICTS
from tallystick.rooms.desk.store import Transaction


def figures(tx: Transaction) -> dict[str, Any]:
    """All figures; a share is None while there is nothing to share."""
    counts = tx.counts()
    tally = tx.tally()
    verdicts = {name.lower(): counts.get(f"verdict.{name}", 0) for name in VERDICTS}
    drafts = sum(counts.get(f"draft.{name}", 0) for name in VERDICTS)
    reviewed = sum(counts.get(f"reviews.{state}", 0) for state in ("approved", "rejected"))
    waiting, total = tx.reviews(state="waiting", limit=1)
    return {
        **verdicts,
        "tickets": sum(tally.values()),
        "waiting_for_workers": sum(many for (_, status), many in tally.items() if status == "pending"),
        "waiting_for_people": total,
        "oldest_review_ms": tx.clock() - waiting[0].created if waiting else None,
        "override_rate": _share(counts.get("overrides", 0), reviewed),
        "unsupported_sentence_rate": _share(counts.get("draft.DEFER", 0), drafts),
        "lost_leases": counts.get("lost_leases", 0),
        "dead_letters": counts.get("dead_letters", 0),
        "withheld": sum(many for name, many in counts.items() if name.startswith("withheld.")),
        "sent": counts.get("sent", 0),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
