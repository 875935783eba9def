"""Schema migrations of the journal's tables."""
