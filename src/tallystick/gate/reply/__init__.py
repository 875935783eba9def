"""Step five: what a reply may claim.

`check.check_reply` reads in this order:

1. `leaks`: an abstention ends the check; thinking and tool syntax do not belong in a reply.
2. `evidence`: the one Evidence line, taken apart into items.
3. `citations`, `tool_results`, `absence`: each item against its source.
4. `quotations`: what the body quotes must stand in a source named on the line.
5. `roles`: at least one item from where this agent has to look.

Whatever is quoted is held against what the agent wrote itself (`own_text`; the ledger knows it, `writings`).
`sentences` is the other form: every sentence carries its own reference. `sources` has the ports, `findings` the
result, `diagnosis` says why a quote was refused. Presence is what is proved, never that a source supports the
conclusion.
"""
