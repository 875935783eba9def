"""Where a ticket can stand, and how it moves. This table is all there is: what is not in it does not happen.

pending ──► running ──► done
   ▲           ├──────► blocked
   │           ├──────► review ──► pending | done | blocked
   └── failed ◄┘
"""

from collections.abc import Mapping

MOVES: Mapping[str, frozenset[str]] = {
    "pending": frozenset({"running", "review", "done", "blocked", "failed"}),
    "running": frozenset({"pending", "done", "failed", "blocked", "review"}),
    "review": frozenset({"pending", "done", "blocked"}),
    "failed": frozenset({"pending"}),
    "done": frozenset(),
    "blocked": frozenset(),
}
"""`running → pending`: a lease that ended or was given back. `pending → done`: nothing had to be done."""
STATUSES = tuple(MOVES)
FINAL = frozenset({"done", "blocked"})
BACK_OFF_MS = (2_000, 10_000, 60_000, 300_000)
"""How long a ticket waits after each failure; after the last it stays failed, for a person to see."""


def may_move(now: str, then: str) -> bool:
    """Whether a ticket may go from one status to another; to stay is no move."""
    return then in MOVES.get(now, frozenset())


def wait_after(attempts: int) -> int | None:
    """Milliseconds until the next attempt; None: no more."""
    return BACK_OFF_MS[attempts - 1] if 0 < attempts <= len(BACK_OFF_MS) else None
