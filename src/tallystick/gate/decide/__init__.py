"""Step 2 of 5 (admit, decide, execute, record, reply): Proposal → Decision.

`decide.py` lists the checks in order; each check is one small function in the module named after it. A `Policy` is
resolved per tool into a `ToolRule`. `approvals.py` defines the states of an approval request and the port that its
store implements; `budgets.py` counts what turns and tasks spend; `replay.py` decides recorded calls again.
"""
