"""Step five: check what a reply claims.

`check.check_reply` runs these checks in order:

1. `leaks`: an abstention ends the check; thinking and tool syntax are not allowed in a reply.
2. `evidence`: parse the one Evidence line into items.
3. `citations`, `tool_results`, `absence`: check each item against its source.
4. `quotations`: every quotation in the body must occur in a source named on the line.
5. `roles`: at least one item must come from a source required for the agent's role.

Every quote is compared with what the agent wrote itself (`own_text`; `writings` reads that from the ledger).
`sentences` parses the alternative form, in which every sentence carries its own reference. `sources` defines the ports,
`findings` the result, and `diagnosis` explains why a quote was refused. The check proves that quoted text exists, not
that it supports the conclusion.
"""
