"""Step 1 of 5 (admit, decide, execute, record, reply): text → Proposal | Rejection.

    text ──open_envelope──► Envelope ──NonceSlot.take──► ──admit_call──► Proposal
                │                           │                   │
                └───────────────────────────┴───────────────────┴──► Rejection

Model text enters at `open_envelope`; calls that are already structured (HTTP, MCP, Python) enter at `admit_call`.

    envelope            parses model text: one strict JSON object or a rejection; leading thinking blocks are stripped
    strictjson          the JSON parser of every interface, and the same checks for Python objects
    toolsyntax          detects tool calls written as prose, which a final answer must not contain
    nonces              one per step, single use, bound to session, turn and agent
    names               the catalogue: registered tools, their names and aliases
    schema              compiled at registration, which rejects unsafe schemas; validates every call
    misfits             finds where a value violates its schema, and which rule, without listing every error
    references          rejects schemas with external references, endless cycles or too many branches
    subschemas          traversal of a schema
    cleaned_arguments   removes data that must not be stored
    arguments           checks argument names, forbidden fields, the source that a durable write must name, and schema;
                        returns the call as the tool will receive it
    turn_schema         the JSON Schema of a turn's next message, for providers that support structured output
    proposal            the result types

This step neither decides whether a call may run nor runs it. A rejection is a value with a fixed code and a fixed
reason; it contains locations (JSON pointers) and rule names, never values. Registration errors are raised as
exceptions, since no call is involved.
"""
