"""Tickets: leases, fills, reads and verdicts."""
