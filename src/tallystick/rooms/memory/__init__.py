"""The memory room: agents propose, policy decides, everything replays.

    ledger ── events.py ──▶ Event ── fold.py ──▶ State ── book.py/store.py ──▶ SQLite or Postgres
                                        │
                          scoring.py  states.py  policy.py

`tools/` holds the nine proposals. Their handlers write nothing: what a call means is worked out by `fold` from the
receipt that the gate left, live as on rebuild. `checks.py` is the room's rule, which decides before anything is stored.
"""
