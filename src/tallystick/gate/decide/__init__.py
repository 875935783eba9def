"""Step two: Proposal → Decision.

`decide.py` reads as the list of checks; each check is one small function in the module named after it. A `Policy` is
resolved per tool into a `ToolRule`; `approvals.py` has the states of a call that waits for a person and the port its
store satisfies; `budgets.py` counts; `replay.py` decides recorded calls again.
"""
