"""Step 3, project: the ledger's receipts folded into a state, and that state kept in tables."""
