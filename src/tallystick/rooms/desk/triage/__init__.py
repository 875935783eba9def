"""Triage: whether a message is answered at all, and what must be known first."""
