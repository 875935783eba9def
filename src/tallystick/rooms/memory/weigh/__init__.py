"""Step 2, weigh: what a proposal must be, what its evidence comes to, and which status that makes."""
