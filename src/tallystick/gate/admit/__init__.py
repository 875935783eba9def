"""Step 1 of 5: text → Proposal | Rejection.

    text ──open_envelope──► Envelope ──NonceSlot.take──► ──admit_call──► Proposal
                │                           │                   │
                └───────────────────────────┴───────────────────┴──► Rejection

Model text enters at `open_envelope`; calls that are structured already (HTTP, MCP, Python) enter at `admit_call`.

    envelope      one strict JSON object, or a refusal; thinking blocks in front are put aside
    strictjson    the parser behind every door, and the same strictness for Python objects
    toolsyntax    tool calls written into prose, which a final answer may not hold
    nonces        one per step, single use, bound to session, turn and agent
    names         the catalogue: which tools there are, which names mean them
    schema        compiled once, asked at every call; what could hurt is refused at registration
    misfits       where a value does not fit, and by which rule, found without listing every error
    references    no reference leaves its schema, no circle, no explosion
    subschemas    ways through a schema
    arguments     keys, guards, schema: the call as the tool will receive it
    turn_schema   the JSON Schema of a turn's next message, for providers that can hold a model to one
    proposal      what comes out

Nothing here decides whether a call may run, and nothing here runs it. A refusal is a value with a fixed code and a
fixed reason; it names places (JSON pointers) and rules, never values. Registration raises, since no call is involved.
"""
