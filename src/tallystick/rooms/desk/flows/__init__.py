"""The desk's long work: tickets, sending, and what the clock does."""
