"""Check what a reply claims: the fifth stage of the gate, after admit, decide, execute and record.

`check.check_reply` runs these checks in order:

1. `leaks`: an abstention ends the check; thinking and tool syntax are not allowed in a reply.
2. `evidence`: parse the one Evidence line into items.
3. `citations`, `records`, `tool_results`, `absence`: check each item against its source.
4. `quotations`: every quotation in the body must occur in a source named on the line.
5. `roles`: at least one item must come from a source required for the agent's role.
6. `judgement`: every claim in the body must be supported by the verified items; `support` contains the rules.

A quote of text that the agent wrote itself is refused (`own_text`; `writings` reads what agents wrote from the ledger).
`sentences` parses the alternative form, in which every sentence carries its own reference. `sources` defines the ports,
`findings` the result, and `diagnosis` explains why a quote was refused. `transcripts` and `chat_transcripts`
compare what messages of other systems say was done with their calls.
"""
