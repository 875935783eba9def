"""Every promise of the parts that are built: id → what is promised.

A test names the promises it shows with `@pytest.mark.promise("id", ...)`; `tests/test_promises.py` checks both
directions: no promise without a test, no test that names an unknown promise.
"""

PROMISES: dict[str, str] = {
    # -- admit --
    "admit.json-strict": "The whole message is one RFC 8259 value: no NaN, no trailing comma, no extra text",
    "admit.duplicate-key": "A duplicate key at any depth is refused, escaped ones too",
    "admit.depth": "Nesting over 64 is refused, with the limit in the reason; one level less is read",
    "admit.size": "A message over its size in bytes is refused before it is parsed",
    "admit.big-integer": "An integer beyond 2^53 that would not survive is refused, however it is written",
    "admit.unicode": "Half surrogates, invalid UTF-8 and a byte order mark are refused",
    "admit.python-values": "Arguments given as Python objects are held to the same rules as text",
    "admit.envelope": "The envelope of each step is admitted in its exact form and in no other",
    "admit.unknown-field": "An unknown, missing or mistyped top-level field is refused",
    "admit.two-objects": "Two objects in one message are refused as such",
    "admit.thinking": "Thinking blocks before the object are put aside and counted, or refused; inside it they are data",
    "admit.linear": "No text takes more than linear time",
    "admit.no-crash": "No text whatever raises; it gives an envelope or a rejection",
    "admit.tool-syntax": "Tool syntax in prose is recognised, prose is left alone",
    "admit.nonce-single-use": "A nonce is burnt on accept and on reject",
    "admit.nonce-bound": "A nonce of another session, turn or agent is refused",
    "admit.nonce-size": "A nonce has at least 128 bits and is made by the server",
    "admit.nonce-expiry": "A nonce expires with its turn, on the monotonic clock",
    "admit.nonce-race": "Of many tries at once with one nonce, exactly one wins",
    "admit.gold-calls": "A call that fits its schema is admitted",
    "admit.mutants": "Extra, missing, mistyped, doubled or unknown: refused",
    # -- decide --
    "decide.outcome-table": "Every way to fail has one row, and each dialect reads its own column of it",
    "decide.order": "Checks run in the stated order and the first failure decides",
    "decide.pure": "The same proposal, context and policy give the same decision",
    "decide.shadow": "Shadow records what policy would have stopped and lets it through; log-in, roles, budgets hold",
    "decide.defaults": "Reads and writes are allowed, external effects ask; what is said of a tool goes first",
    "decide.roles": "Roles × tools: 401 without a token, 403 without a role; policy narrows and never widens",
    "decide.budgets": "A spent budget refuses with one fixed code, however often it is asked",
    "decide.budget-of-task": "A budget belongs to the task the server made; new turns and sessions do not refill it",
    "decide.rate": "Calls a minute are counted per caller and tool on the monotonic clock, in bounded memory",
    "decide.argument-rules": "Argument rules bind by tool and role, deny or ask, and name the pointer",
    "decide.room-rule": "A room's rule runs last, its snapshot's digest is in the decision, a stale write is refused",
    "decide.policy-digest": "The policy's digest names its meaning: key order does not change it, any change of it does",
    "decide.policy-errors": "A policy that cannot be used is an error that names the place",
    "decide.replay": "A recorded call decided again by the same policy comes out the same",
    "decide.replay-undecidable": "A rule that needs a redacted value replays as undecidable",
    "decide.policy-test": "`tally policy test` cases say what a policy should decide, and are held to it",
    "decide.approval-bound": "A grant is bound to caller, tool, exact arguments and policy; any change is a new request",
    "decide.approval-states": "Requests move only as the table says, and an expired one moves no more",
    "decide.approval-once": "A grant is taken once, by one of any number of threads and processes",
    "decide.approval-found-again": "An identical waiting request is found again, not doubled",
    "decide.approval-edit": "An edited request is a grant for the edited call alone",
    "decide.migrations": "Processes that start at once on a new database all find it ready",
    # -- execute --
    # -- record --
    # -- reply --
    # -- doors --
    # -- durable --
    # -- telemetry --
    # -- house --
    "house.contracts-kept": "The source keeps every contract of the house, and so does a room built as the house asks",
    "house.contracts-break": "Each contract breaks on a forbidden import planted on purpose, and the report names it",
    "house.sizes": "Modules stay under 300 lines and functions under 40",
    "house.comments": "The gate explains itself: docstrings and comments in a sane proportion to the code",
    "house.names": "No module has a name that says nothing; every import is absolute",
    "house.environment": "Only the settings read the environment",
    "house.no-traces": "No file names the machine it was written on, a package registry, or work left over",
    "house.locks": "The locks pin and hash everything the project asks for, agree, and hold no address",
    "house.one-build": "The build and the commit hooks run what a person runs",
    "house.promises": "Every promise is shown by a test or benchmark, and nothing names an unknown promise",
    "house.readme": "The README is short, names the two commands, and all its examples are run",
    "house.docs": "Code, commands, targets and links in the documents hold",
    "house.examples": "Every example runs in an empty folder without a network",
}
